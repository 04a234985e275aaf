# SPDX-License-Identifier: GPL-2.0-only
"""Latency by size as box plots from the stored quartiles."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

import numpy as np

from .. import style, units
from ..errors import usage
from . import axes
from .request import Request
from ..model import Point
from ..series import Series, all_points, of_all, spread

NEED = ("min", "q1", "median", "q3", "max")
MOST_CURVES = 5


def box(points: List[Point]) -> Optional[Dict[str, float]]:
    """One box for a cell: the medians of its repeats' quartiles, the least minimum, the greatest maximum."""
    rows = [[p.latency.get(k) for k in NEED] for p in points if p.latency is not None]
    known = np.asarray([r for r in rows if None not in r], dtype=np.float64)
    if not len(known):
        return None
    q1, med, q3 = np.median(known[:, 1:4], axis=0)
    whole = {"q1": float(q1), "med": float(med), "q3": float(q3)}
    return {**whole, "whislo": float(known[:, 0].min()), "whishi": float(known[:, 4].max())}


def draw(request: Request) -> Any:
    from matplotlib import pyplot as plt

    points = request.tested([p for p in all_points(request.documents) if p.latency], "latency", "oneway", "connect")
    every = request.curves(points)
    series = spread(every, MOST_CURVES)
    xs = sorted({x for s in series for x in s.xs() if box(s.cells[x])})
    if not xs:
        raise usage(f"{request.names()}: no point has latency quartiles; run --test latency")
    figure, ax = plt.subplots(figsize=(style.WIDTH, style.HEIGHT))
    for i, s in enumerate(series):
        _boxes(ax, s, xs, i, len(series))
    _labels(ax, xs)
    if len(series) > 1:
        style.legend_above(ax, handles=[_key(i) for i in range(len(series))], labels=[s.label for s in series])
    style.title(ax, request.title or _title(points) + of_all(len(series), len(every)))
    return figure


def _title(points: List[Point]) -> str:
    names = {"latency": "Latency (half the round trip)", "oneway": "One-way latency", "connect": "Handshake latency"}
    return f"{names.get(points[0].test, 'Latency')}: minimum, quartiles, maximum"


def _boxes(ax: Any, s: Series, xs: List[float], i: int, n: int) -> None:
    width = 0.72 / n
    stats: List[Dict[str, Any]] = []
    at: List[float] = []
    for k, x in enumerate(xs):
        found = box(s.cells.get(x, []))
        if found is not None:
            stats.append({**found, "fliers": []})
            at.append(k + (i - (n - 1) / 2.0) * width)
    colour = style.CURVES[i % len(style.CURVES)][0]
    line = {"color": colour, "linewidth": 0.9}
    ax.bxp(stats, positions=at, widths=width * 0.8, showfliers=False, manage_ticks=False, patch_artist=True,
           boxprops={"facecolor": colour, "alpha": 0.35, "edgecolor": colour, "linewidth": 0.9}, whiskerprops=line, capprops=line,
           medianprops={"color": style.BLACK, "linewidth": 0.9})


def _key(i: int) -> Any:
    from matplotlib.patches import Patch

    colour = style.CURVES[i % len(style.CURVES)][0]
    return Patch(facecolor=colour, edgecolor=colour, alpha=0.5)


def _labels(ax: Any, xs: List[float]) -> None:
    axes.log_times(ax, "y")
    ax.set_ylabel("latency")
    step = max(1, int(np.ceil(len(xs) * (max(len(units.bytes_text(x)) for x in xs) + 1) / 62.0)))
    ax.set_xticks(range(0, len(xs), step))
    ax.set_xticklabels([units.bytes_text(x) for x in xs[::step]])
    ax.set(xlim=(-0.6, len(xs) - 0.4), xlabel="message size (bytes)")
    if not any(xs):  # connects
        ax.set(xticks=[], xlabel="")
