# SPDX-License-Identifier: GPL-2.0-only
"""Normalised stall over throughput (NIST Figure 3), and stall against excess time with its correlation."""

from __future__ import annotations

from typing import Any, List, Optional

import numpy as np

from .. import style, units
from ..errors import usage
from . import axes
from .request import Request
from .throughput import curves, rate
from ..model import Point
from ..series import Pair, of_all, pair_up, parse_fix, spread
from ..stats.dips import bands
from ..stats.explain import Explanation, explain

MOST_ROWS = 3


def normalised(p: Point) -> Optional[float]:
    return p.normalised_stall


def draw(request: Request) -> Any:
    from matplotlib import pyplot as plt

    every = [p for p in pair_up(curves(request), parse_fix(request.fix)) if len(p.base.curve(normalised)[0])]
    pairs = spread(every, MOST_ROWS)
    if not pairs:
        raise usage(f"{request.names()}: no point has a ledger, so no stall is known; run where ipcstall check allows tracing")
    figure, grid = plt.subplots(len(pairs), 2, figsize=(style.WIDTH, 0.5 + 2.9 * len(pairs)), squeeze=False,
                                gridspec_kw={"width_ratios": [1.9, 1.0]})
    for row, pair in zip(grid, pairs):
        explained = explain(pair)
        _over_throughput(row[0], pair, explained)
        _against_excess(row[1], explained)
        if len(pairs) > 1:
            row[0].set_ylabel(f"{pair.label}\n{row[0].get_ylabel()}")
    only = f", {pairs[0].label}" if len(pairs) == 1 and pairs[0].base.key else ""
    style.title(grid[0, 0], request.title or f"Stall and throughput against message size{only}{of_all(len(pairs), len(every))}")
    return figure


def _over_throughput(ax: Any, pair: Pair, e: Optional[Explanation]) -> None:
    x, y, _, _ = pair.base.curve(rate)
    scale = axes.rate_axis(ax, float(y.max()))
    sx, stall, _, _ = pair.base.curve(normalised)
    _dip_bands(ax, e)
    look = style.curve(1)
    ax.plot(x, y / scale, label="throughput", zorder=3, **{**look, "linestyle": "-"})
    ax.set_ylim(bottom=0)
    right = ax.twinx()
    right.plot(sx, stall, label="time in stall", zorder=4, **{**style.curve(0), "linestyle": "--"})
    right.set_ylim(0, max(1.0, float(stall.max())) * 1.02)
    right.set_ylabel("share of time in stall")
    right.spines["right"].set_visible(True)
    right.grid(False)
    axes.size_axis(ax, x.tolist())
    _legend(ax, right)


def _dip_bands(ax: Any, e: Optional[Explanation]) -> None:
    if e is None:
        return
    for k, (lo, hi, _) in enumerate(bands(e.size, e.dip)):
        ax.axvspan(lo, hi, color=style.BAND, linewidth=0, zorder=0, label="sizes in a dip" if k == 0 else None)


def _legend(ax: Any, right: Any) -> None:
    first, second = ax.get_legend_handles_labels(), right.get_legend_handles_labels()
    style.legend_above(ax, 3, room=250, handles=first[0] + second[0], labels=first[1] + second[1])


def _against_excess(ax: Any, e: Optional[Explanation]) -> None:
    """One dot a size; on the diagonal, stall is the whole of the excess."""
    if e is None or not e.observed:
        ax.set_axis_off()
        return
    keep = np.isfinite(e.stall)
    scale, unit = units.best_unit(float(max(np.abs(e.excess[keep]).max(), e.stall[keep].max(), 1.0)), units.TIMES)
    for flag, i, name in ((True, 0, "in a dip"), (False, 1, "outside")):
        pick = keep & (e.dip == flag)
        if pick.any():
            look = {**style.curve(i), "linestyle": "none", "markersize": 4.0}
            ax.plot(e.excess[pick] / scale, e.stall[pick] / scale, label=name, zorder=3, **look)
    low = min(0.0, float(min(e.excess[keep].min(), e.stall[keep].min())) / scale)
    high = (float(max(e.excess[keep].max(), e.stall[keep].max())) / scale or 1.0) * 1.06
    ax.plot([low, high], [low, high], color=style.GREY, linewidth=0.7, zorder=1)
    ax.set(xlim=(low - 0.03 * high, high), ylim=(low - 0.03 * high, high),
           xlabel=f"excess time per message ({unit})", ylabel=f"stall per message ({unit})")
    ax.annotate("\n".join(_words(e)), (0.97, 0.05), xycoords="axes fraction", ha="right", va="bottom", fontsize=7)
    style.legend_above(ax, 2, room=140)


def _words(e: Explanation) -> List[str]:
    out = []
    c = e.pearson
    if c.r is not None:
        out.append(f"r = {c.r:.3f}" + (f"\n95 % [{c.lo:.3f}, {c.hi:.3f}]" if c.lo is not None and c.hi is not None else ""))
    share = e.overall_share()
    if share is not None:
        out.append(f"stall explains\n{units.percent_text(share)} of the dips")
    return out
