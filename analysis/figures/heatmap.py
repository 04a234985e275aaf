# SPDX-License-Identifier: GPL-2.0-only
"""Throughput over two variables, such as pipe size and write size."""

from __future__ import annotations

from typing import Any, List, Tuple

import numpy as np

from .. import style, units
from ..errors import usage
from .request import Request
from .throughput import rate
from ..model import Floats, Point
from ..series import FACTORS, all_points, as_number, of_test, variables, varying

NAMES = {"size": "write size (bytes)", "pipe-size": "pipe size (bytes)", "pipe_size": "pipe size (bytes)"}


def draw(request: Request) -> Any:
    from matplotlib import pyplot as plt

    points = [p for p in of_test(all_points(request.documents), "throughput") if rate(p) is not None]
    x, y = _choose(points, request)
    xs, ys, table = _table(points, x, y)
    figure, ax = plt.subplots(figsize=(style.WIDTH, min(1.3 + 0.36 * len(ys), 8.0)))
    scale, unit = units.best_unit(float(np.nanmax(table)), units.RATES)
    image = ax.pcolormesh(np.arange(len(xs) + 1), np.arange(len(ys) + 1), table / scale,
                          cmap="cividis", edgecolors="white", linewidth=0.6, vmin=0)
    ax.grid(False)
    for which, values, name in ((ax.xaxis, xs, x), (ax.yaxis, ys, y)):
        step = max(1, int(np.ceil(len(values) / (12 if which is ax.xaxis else 20))))
        which.set_ticks([i + 0.5 for i in range(0, len(values), step)], [units.value_text(name, v) for v in values[::step]])
        which.set_tick_params(length=0)
        which.set_label_text(NAMES.get(name, name))
    if len(xs) <= 12 and len(ys) <= 16:
        _numbers(ax, table / scale)
    bar = figure.colorbar(image, ax=ax, pad=0.015, aspect=30)
    bar.set_label(f"throughput ({unit})")
    bar.outline.set_visible(False)
    style.title(ax, request.title or f"Throughput by {NAMES.get(x, x).split(' (')[0]} and {NAMES.get(y, y).split(' (')[0]}{_over(points, x, y)}")
    return figure


def _over(points: List[Point], x: str, y: str) -> str:
    """For the title: what else differs within a cell."""
    rest = [n for n in varying(points, dict.fromkeys([*FACTORS, *variables(points)])) if n not in (x, y, "source")]
    return f", median over {', '.join(rest[:3])}{' ...' if len(rest) > 3 else ''}" if rest else ""


def _choose(points: List[Point], request: Request) -> Tuple[str, str]:
    usable = varying(points, ["size", *variables(points)])
    usable = [n for n in dict.fromkeys(usable) if all(as_number(p.value(n)) is not None for p in points)]
    x = request.x or (usable[0] if usable else "size")
    rest = [n for n in usable if n != x]
    y = request.y or next((n for n in rest if "size" in n), rest[0] if rest else None)
    if y is None or x == y or x not in usable or y not in usable:
        raise usage(f"{request.names()}: a heat map needs two varied numbers, here there are: {', '.join(usable) or 'none'}; "
                    "sweep with two --vary, or name others with --x and --y")
    return x, y


def _table(points: List[Point], x: str, y: str) -> Tuple[List[float], List[float], Floats]:
    def at(p: Point, name: str) -> float:
        return as_number(p.value(name)) or 0.0

    xs, ys = sorted({at(p, x) for p in points}), sorted({at(p, y) for p in points})
    column, line = {v: i for i, v in enumerate(xs)}, {v: i for i, v in enumerate(ys)}
    cells: dict[Tuple[int, int], List[float]] = {}
    for p in points:
        cells.setdefault((line[at(p, y)], column[at(p, x)]), []).append(rate(p) or 0.0)
    table = np.full((len(ys), len(xs)), np.nan)
    for where, values in cells.items():
        table[where] = np.median(values)
    return xs, ys, table


def _numbers(ax: Any, table: Floats) -> None:
    top = float(np.nanmax(table))
    best = int(np.nanargmax(table))
    for (i, j), v in np.ndenumerate(table):
        if np.isfinite(v):
            dark = v < 0.5 * top
            text = f"{v:.0f}" if v >= 99.5 else f"{v:.1f}" if v >= 9.95 else f"{v:.2f}"
            ax.text(j + 0.5, i + 0.5, text, ha="center", va="center", fontsize=6.3,
                    color="white" if dark else "black", fontweight="bold" if i * table.shape[1] + j == best else "normal")
