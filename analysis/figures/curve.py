# SPDX-License-Identifier: GPL-2.0-only
"""Any figure of a point against any variable, a curve for each combination of the others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Sequence, Tuple

import numpy as np

from .. import style, units
from ..errors import usage
from ..measures import MEASURES, Measure
from . import axes
from .request import Request
from ..model import Floats, Point
from ..series import Series, all_points, of_all, spread

MOST_CURVES = 6
FEW = 12  # points of a curve, each of which can be seen
OF_TIMES, OF_RATES = ("latency", "oneway", "connect", "throughput"), ("throughput", "latency", "oneway", "connect")


def draw(request: Request) -> Any:
    from matplotlib import pyplot as plt

    every_point, x = all_points(request.documents), request.x or "size"
    m = _measure(request.y or _measured(every_point))
    points = [p for p in every_point if m.get(p) is not None]
    points = request.tested(points, *(OF_TIMES if m.name in ("latency", "least", "mean") else OF_RATES))
    if request.over:
        points = [replace(p, vars={k: v for k, v in p.vars.items() if k != request.over}) for p in points]
    every = [s for s in request.curves(points, x) if len(s.xs()) > 1]
    if not every:
        raise usage(f"{request.names()}: no curve has two points with a {m.words} against {x}; vary {x}, or choose another --x and --y")
    series = spread(every, MOST_CURVES)
    drawn = [_drawn(s, m) for s in series]
    figure, ax = plt.subplots(figsize=(style.WIDTH, style.HEIGHT))
    scale = _y_axis(ax, m, [c[1] for c in drawn])
    for i, (s, (at, y, lo, hi)) in enumerate(zip(series, drawn)):
        _one(ax, i, s, at, y / scale, lo / scale, hi / scale)
    if ax.get_yscale() == "linear":
        ax.set_ylim(bottom=0)
    if request.marks:
        _marks(ax, request.marks, drawn)
    _x_axis(ax, x, np.concatenate([c[0] for c in drawn]))
    if len(series) > 1:
        style.legend_above(ax)
    style.title(ax, request.title or f"{m.words[0].upper()}{m.words[1:]} against {_name(x)}{of_all(len(series), len(every))}")
    return figure


def _drawn(s: Series, m: Measure) -> Tuple[Floats, Floats, Floats, Floats]:
    """The median of the repeats with their range; of the least, the least of all."""
    x, middle, lo, hi = s.curve(m.get)
    return (x, lo, lo, lo) if m.name == "least" else (x, middle, lo, hi)


def _measured(points: Sequence[Point]) -> str:
    """What is drawn if nobody chose: latency where there is one, else throughput."""
    return "latency" if any(MEASURES["latency"].get(p) is not None for p in points) else "throughput"


def _measure(name: str) -> Measure:
    if name not in MEASURES:
        raise usage(f"--y {name}: is none of {', '.join(MEASURES)}; choose one")
    return MEASURES[name]


def _name(x: str) -> str:
    return "message size" if x == "size" else x


def _y_axis(ax: Any, m: Measure, ys: Sequence[Floats]) -> float:
    every = np.concatenate(ys)
    log = bool(every.min() > 0 and every.max() > 30 * every.min())
    if m.text is units.rate_text:
        scale = axes.rate_axis(ax, float(every.max()), log)
    elif m.text is units.time_text:
        scale = axes.time_axis(ax, float(every.max()), m.words, log)
    else:
        ax.set_ylabel(m.words)
        scale = 1.0
    return scale


def _x_axis(ax: Any, x: str, at: Floats) -> None:
    if x.endswith(units.BYTES_ENDINGS):
        axes.size_axis(ax, at.tolist(), "message size (bytes)" if x == "size" else f"{x} (bytes)")
        return
    axes.value_axis(ax, at.tolist(), "packets dropped (%)" if x == "drop" else x, lambda v: units.value_text(x, v), few=12)


def _marks(ax: Any, step: float, drawn: Sequence[Any]) -> None:
    last = max(float(c[0].max()) for c in drawn)
    for i, at in enumerate(np.arange(step, last, step)):
        ax.axvline(at, color=style.GREY, linewidth=0.5, linestyle=(0, (1, 3)), zorder=1, label=f"multiples of {step:.0f} B" if i == 0 else None)


def _one(ax: Any, i: int, s: Series, x: Floats, y: Floats, lo: Floats, hi: Floats) -> None:
    look = style.curve(i)
    if axes.dense(len(x)):
        look["markersize"] = 2.0
    elif len(x) <= FEW:
        look["markersize"] = 5.0
    ax.plot(x, y, label=s.label, zorder=3, **look)
    if (hi > lo).any():
        ax.fill_between(x, lo, hi, color=look["color"], alpha=0.18, linewidth=0, zorder=2)
