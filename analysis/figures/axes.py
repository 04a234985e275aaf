# SPDX-License-Identifier: GPL-2.0-only
"""Axes that several figures share: sizes, times and rates, with ticks that do not crowd."""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence

import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

from .. import units
from ..model import Floats

MOST_TICKS = 11


def spreads_wide(values: Floats) -> bool:
    """Whether a logarithmic axis shows these better: more than a factor of 32 between ends, and not evenly spaced."""
    if len(values) < 3 or values.min() <= 0 or values.max() / values.min() < 32:
        return False
    gaps = np.diff(np.unique(values))
    return bool(gaps.max() > 8 * gaps.min())


def size_axis(ax: Any, sizes: Sequence[float], name: str = "message size (bytes)") -> None:
    value_axis(ax, sizes, name, units.bytes_text, lambda v: f"{v:.0f}")


def value_axis(ax: Any, values: Sequence[float], name: str, text: Callable[[float], str], between: Optional[Callable[[float], str]] = None,
               few: int = 8) -> None:
    """Up to `few` values each have a tick; `between`: how ticks are written that are none of those measured."""
    xs = np.unique(np.asarray(values, dtype=np.float64))
    ax.set_xlabel(name)
    # Setting the scale resets locator and formatter, so it comes first.
    wide = spreads_wide(xs)
    if wide:
        ax.set_xscale("log", base=2)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: text(v)))
    if wide:
        ax.xaxis.set_major_locator(FixedLocator(thin(xs, log=True)))
        ax.xaxis.set_minor_locator(NullLocator())
        return
    if len(xs) <= few:
        ax.xaxis.set_major_locator(FixedLocator(thin(xs, log=False)))
    else:
        ax.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 2.5, 5, 10]))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: (between or text)(v)))


def thin(xs: Floats, log: bool, most: int = MOST_TICKS) -> Sequence[float]:
    """Ticks at measured sizes, leaving out those too near the one before to be labelled."""
    at = np.log(xs) if log else xs
    room = (at[-1] - at[0]) / most
    kept = [0]
    for i in range(1, len(xs)):
        if at[i] - at[kept[-1]] >= room * 0.999:
            kept.append(i)
    if kept[-1] != len(xs) - 1:  # the largest size is worth more than the one before it
        kept = kept[:-1] + [len(xs) - 1] if len(kept) > 1 else kept + [len(xs) - 1]
    return [float(xs[i]) for i in kept]


def rate_axis(ax: Any, largest: float, log: bool = False) -> float:
    """Labels the y axis; returns what to divide bytes per second by."""
    if log:
        ax.set_yscale("log")
        _decades(ax.yaxis, units.rate_text)
        ax.set_ylabel("throughput")
        return 1.0
    scale, unit = units.best_unit(largest, units.RATES)
    ax.set_ylabel(f"throughput ({unit})")
    return scale


def time_axis(ax: Any, largest: float, what: str, log: bool = False) -> float:
    if log:
        ax.set_yscale("log")
        _decades(ax.yaxis, units.time_text)
        ax.set_ylabel(what)
        return 1.0
    scale, unit = units.best_unit(largest, units.TIMES)
    ax.set_ylabel(f"{what} ({unit})")
    return scale


class FewDecades(LogLocator):  # type: ignore[misc]
    """Decades; where those are few, steps between them too."""

    def tick_values(self, vmin: float, vmax: float) -> Any:
        wide = vmax / vmin if vmin > 0 else 1e9
        if wide < 4:
            return MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]).tick_values(vmin, vmax)
        fine = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0] if wide < 15 else [1.0, 2.0, 5.0]
        self.set_params(subs=[1.0] if wide > 3000 else [1.0, 3.0] if wide > 300 else fine)
        return super().tick_values(vmin, vmax)


def _decades(one: Any, text: Callable[[float], str]) -> None:
    one.set_major_locator(FewDecades(numticks=30))
    one.set_minor_locator(NullLocator())
    one.set_major_formatter(FuncFormatter(lambda v, _: text(v)))


def log_times(ax: Any, axis: str) -> None:
    (ax.set_yscale if axis == "y" else ax.set_xscale)("log")
    _decades(ax.yaxis if axis == "y" else ax.xaxis, units.time_text)


def dense(n: int) -> bool:
    """Whether markers would run into each other."""
    return n > 60
