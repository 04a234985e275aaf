# SPDX-License-Identifier: GPL-2.0-only
"""Cumulative distribution of latency from the histogram, with p95 and p99."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Optional, Tuple

import numpy as np

from .. import style, units
from ..errors import usage
from . import axes
from .request import Request
from ..model import Histogram
from ..series import Series, all_points, of_all, spread
from ..stats.hist import cumulative, merge

MOST_CURVES = 6


@dataclass(frozen=True)
class Shown:
    curves: List[Tuple[str, Histogram]]
    title: str
    what: str = "messages"


def distributions(request: Request) -> Shown:
    """Several transports are compared at one size, one transport over its sizes."""
    points = request.tested([p for p in all_points(request.documents) if p.histogram], "latency", "connect", "oneway")
    series = request.curves(points) if any(p.size is not None for p in points) else []
    of = points[0].test if points else ""
    title, what = {"connect": ("Handshake latency", "connections"), "oneway": ("One-way latency", "messages")}.get(of, ("Latency", "messages"))
    title = f"{title}: share of {what} at or below"
    if not series:
        found = [(p.mode, p.histogram) for p in points if p.histogram is not None and p.histogram.total > 0]
        return Shown(found[:MOST_CURVES], title, what)
    if len(series) == 1:
        s = series[0]
        found = [(units.size_text(x) if x else s.first.mode, h) for x in s.xs() if (h := _cell(s, x))]
        return Shown(spread(found, MOST_CURVES), title + of_all(MOST_CURVES, len(found)), what)
    at = _common_size(series)
    found = [(s.label, h) for s in series if (h := _cell(s, at))]
    size = f", {units.size_text(at)}" if at else ""
    return Shown(spread(found, MOST_CURVES), f"{title}{size}{of_all(MOST_CURVES, len(found))}", what)


def _cell(s: Series, x: float) -> Optional[Histogram]:
    merged = merge([p.histogram for p in s.cells.get(x, []) if p.histogram is not None])
    return merged if merged is not None and merged.total > 0 else None


def _common_size(series: List[Series]) -> float:
    """The size most curves have; of several, the one nearest 64 B, where a message is all overhead."""
    sizes = [x for s in series for x in s.xs()]
    most = max(sizes.count(x) for x in sizes)
    return min((x for x in set(sizes) if sizes.count(x) == most), key=lambda x: (abs(x - 64), x))


def draw(request: Request) -> Any:
    from matplotlib import pyplot as plt

    shown = distributions(request)
    if not shown.curves:
        raise usage(f"{request.names()}: no point has a histogram; run --test latency or --test connect")
    figure, ax = plt.subplots(figsize=(style.WIDTH, style.HEIGHT))
    for i, (name, h) in enumerate(shown.curves):
        value, share = cumulative(h)
        look = {**style.curve(i), "marker": None}
        ax.step(np.concatenate([value[:1], value]), np.concatenate([[0.0], share]), where="post", label=name, **look)
    for q in (0.5, 0.95, 0.99):
        ax.axhline(q, color=style.GREY, linewidth=0.5, linestyle=(0, (2, 3)), zorder=1)
    _axes(ax, [h for _, h in shown.curves], shown.what)
    style.legend_above(ax)
    style.title(ax, request.title or shown.title)
    return figure


def _axes(ax: Any, hs: List[Histogram], what: str) -> None:
    low = min(float(h.low[h.count > 0][0]) for h in hs)
    # The slowest few say more in numbers (the table) than as an axis stretched to them.
    high = max(float(cumulative(h)[0][min(int(np.searchsorted(cumulative(h)[1], 0.995)), int((h.count > 0).sum()) - 1)]) for h in hs)
    axes.log_times(ax, "x")
    ax.set_xlim(max(low, 1.0) * 0.93, max(high, low * 1.2) * 1.05)
    ax.set(ylim=(0, 1.005), xlabel="latency", ylabel=f"share of {what}")
    ax.set_yticks([0, 0.25, 0.5, 0.75, 0.95])
    ax.yaxis.set_major_formatter(lambda v, _: f"{100 * v:.0f} %")
    ax.annotate("99 %", (1.0, 0.99), xycoords=("axes fraction", "data"), xytext=(3, 0), textcoords="offset points",
                va="center", fontsize=7, color=style.GREY, annotation_clip=False)
