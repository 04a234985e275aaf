# SPDX-License-Identifier: GPL-2.0-only
"""Throughput against message size, without and with the fix (NIST Figures 1 and 2)."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from .. import style
from ..errors import usage
from . import axes
from .request import Request
from ..model import Point
from ..series import Series, all_points, of_test, pair_up, parse_fix
from ..stats.dips import bands
from ..stats.explain import explain


def rate(p: Point) -> Optional[float]:
    return p.bytes_per_s


def curves(request: Request) -> Sequence[Series]:
    points = [p for p in of_test(all_points(request.documents), "throughput", "latency") if rate(p) is not None]
    series = request.curves(points)
    if not series:
        raise usage(f"{request.names()}: no point has a throughput; run --test throughput, for longer if it was over too soon")
    return series


def draw(request: Request) -> Any:
    from matplotlib import pyplot as plt

    series = curves(request)
    figure, ax = plt.subplots(figsize=(style.WIDTH, style.HEIGHT))
    drawn = [s.curve(rate) for s in series]
    scale, log = _scale(ax, drawn)
    looks = _looks(series, request)
    for s, look, (x, y, lo, hi) in zip(series, looks, drawn):
        _curve(ax, look, s.label, x, y / scale, lo / scale, hi / scale)
    axes.size_axis(ax, np.concatenate([x for x, *_ in drawn]).tolist())
    if not log:
        ax.set_ylim(bottom=0)
    mark_dips(ax, series, request)
    style.legend_above(ax)
    style.title(ax, request.title or "Throughput against message size")
    return figure


def _scale(ax: Any, drawn: Sequence[Tuple[Any, ...]]) -> Tuple[float, bool]:
    """Linear shows dips best; sizes over decades give rates over decades, which only a log axis shows."""
    y = np.concatenate([c[1] for c in drawn])
    x = np.concatenate([c[0] for c in drawn])
    log = axes.spreads_wide(np.unique(x)) and y.max() / max(y.min(), 1e-9) > 50
    return axes.rate_axis(ax, float(y.max()), log), log


def _looks(series: Sequence[Series], request: Request) -> List[Dict[str, Any]]:
    """With several pairs, a pair shares its colour and marker: the curve without the fix is drawn through, that with it dashed and hollow."""
    pairs = pair_up(series, parse_fix(request.fix))
    if sum(p.fixed is not None for p in pairs) < 2:
        return [style.curve(i) for i in range(len(series))]
    looks: Dict[int, Dict[str, Any]] = {}
    for i, pair in enumerate(pairs):
        looks[id(pair.base)] = {**style.curve(i), "linestyle": "-"}
        if pair.fixed is not None:
            colour = style.curve(i)["color"]
            looks[id(pair.fixed)] = {**style.curve(i), "linestyle": "--", "markerfacecolor": "white", "markeredgecolor": colour, "markeredgewidth": 0.7}
    return [looks.get(id(s)) or style.curve(i) for i, s in enumerate(series)]


def _curve(ax: Any, look: Dict[str, Any], label: str, x: Any, y: Any, lo: Any, hi: Any) -> None:
    if axes.dense(len(x)):
        look["markersize"] = 2.0
    ax.plot(x, y, label=label, zorder=3, **look)
    if (hi > lo).any():
        ax.fill_between(x, lo, hi, color=look["color"], alpha=0.18, linewidth=0, zorder=2)


def mark_dips(ax: Any, series: Sequence[Series], request: Request) -> None:
    """Bands behind the dips of the first curve; the test that found them stands in the report. Transports side by side
    have dips of their own, and bands would not say whose: those figures have none."""
    pairs = pair_up(series, parse_fix(request.fix))
    e = explain(pairs[0]) if len(pairs) == 1 or pairs[0].fixed is not None else None
    if e is None:
        return
    whose = f" of {e.label}" if len(pairs) > 1 else ""
    for k, (lo, hi, _) in enumerate(bands(e.size, e.dip)):
        ax.axvspan(lo, hi, color=style.BAND, linewidth=0, zorder=0,
                   label=f"dip{whose} (p < {e.dips.alpha:g}, Holm)" if k == 0 else None)
