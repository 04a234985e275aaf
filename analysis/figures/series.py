# SPDX-License-Identifier: GPL-2.0-only
"""Throughput and stall against time, and their correlation when one is shifted against the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import style, units
from ..errors import usage
from . import axes
from .request import Request
from ..model import Floats
from ..stats.lag import Lagged, binned, lagged


def draw(request: Request) -> Any:
    from matplotlib import pyplot as plt

    line = request.timeline
    if line is None:
        raise usage("figure series: a timeline file is needed; record one with --timeline")
    if line.end <= line.start:
        raise usage(f"{line.path}: all that it holds happened at one instant; record for longer")
    edges, rate, stall = binned(line)
    if not np.isfinite(rate).any():
        raise usage(f"{line.path}: no messages or segments with bytes, so no throughput; record it with them")
    figure, grid = plt.subplots(3, 1, figsize=(style.WIDTH, 4.8), gridspec_kw={"height_ratios": [1.0, 0.8, 0.9]})
    scale, unit = units.best_unit(edges[-1] - edges[0], units.TIMES)
    _against_time(grid, (edges - edges[0]) / scale, rate, stall, unit)
    _correlogram(grid[2], lagged(stall, rate), float(edges[1] - edges[0]))
    style.title(grid[0], request.title or "Throughput and stall against time")
    return figure


def _against_time(grid: Any, at: Floats, rate: Floats, stall: Floats, unit: str) -> None:
    scale = axes.rate_axis(grid[0], float(np.nanmax(rate)))
    grid[0].stairs(rate / scale, at, color=style.BLUE, fill=False, linewidth=1.0)
    grid[0].set_ylim(bottom=0)
    grid[0].tick_params(labelbottom=False)
    grid[1].stairs(stall, at, color=style.VERMILLION, fill=True, alpha=0.8)
    grid[1].set(ylim=(0, 1.02), ylabel="stalled share", xlabel=f"time ({unit})")
    for ax in grid[:2]:
        ax.set_xlim(at[0], at[-1])


def minus(v: float) -> str:
    return f"{v:.2f}".replace("-", "−")


def _correlogram(ax: Any, c: Lagged, bin_ns: float) -> None:
    scale, unit = units.best_unit(abs(float(c.lags[0])) * bin_ns or 1.0, units.TIMES)
    at = c.lags * bin_ns / scale
    if np.isfinite(c.r).any():
        ax.axhspan(-c.noise, c.noise, color=style.PALE, linewidth=0, zorder=0)
        ax.vlines(at, 0, c.r, color=style.BLUE, linewidth=1.2)
        ax.plot(at, c.r, linestyle="none", marker="o", color=style.BLUE, markersize=2.6)
    ax.axhline(0, color=style.GREY, linewidth=0.7)
    ax.set(ylim=(-1.05, 1.05), ylabel="correlation", xlabel=f"throughput later than stall by ({unit}); grey: what noise alone gives (95 %, all lags)")
    best = c.strongest()
    if best is not None and abs(best[1]) <= c.noise:
        words = "no correlation beyond noise"
    elif best is not None:
        words = f"strongest: r = {minus(best[1])} at {units.time_text(best[0] * bin_ns) if best[0] else 'no lag'}"
    else:
        words = "no correlation: one of the two does not vary"
    ax.annotate(words, (0.99, 0.95 if best is None or best[1] < 0 else 0.06), xycoords="axes fraction", ha="right",
                va="top" if best is None or best[1] < 0 else "bottom", fontsize=7.5)
