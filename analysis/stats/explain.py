# SPDX-License-Identifier: GPL-2.0-only
"""What a curve's dips cost and how much of that stall explains."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import List, Optional, Sequence

import numpy as np

from ..model import Floats, Point
from ..series import Pair, Series
from .correlate import Correlation, pearson, spearman
from .dips import ALPHA, Bools, Dips, with_fix, without_fix


@dataclass(frozen=True)
class Explanation:
    """Per size, in step: time per message (ns), expected time, excess, stall per message, dip or not."""

    label: str
    fix: str
    size: Floats
    t: Floats
    expected: Floats  # the fixed run's, or the healthy line's
    dips: Dips
    stall: Floats  # beyond the stall of the fixed run, where there is one; NaN where it was not observed
    pearson: Correlation
    spearman: Correlation

    @property
    def excess(self) -> Floats:
        return self.t - self.expected

    @property
    def dip(self) -> Bools:
        return self.dips.dip

    @property
    def depth(self) -> Floats:
        """Share of the throughput that is lost."""
        depth: Floats = 1.0 - self.expected / self.t
        return depth

    @property
    def share(self) -> Floats:
        """Stall over excess: 1 when stall explains the dip whole. NaN outside dips."""
        with np.errstate(divide="ignore", invalid="ignore"):
            share: Floats = np.where(self.dip, self.stall / self.excess, np.nan)
        return share

    @property
    def observed(self) -> bool:
        return bool(np.isfinite(self.stall).any())

    def overall_share(self) -> Optional[float]:
        keep = self.dip & np.isfinite(self.stall)
        return float(self.stall[keep].sum() / self.excess[keep].sum()) if keep.any() else None


def _stall(p: Point) -> Optional[float]:
    return p.stall_per_message_ns


def _time(p: Point) -> Optional[float]:
    return p.ns_per_message


def _medians(cells: List[Floats]) -> Floats:
    return np.asarray([np.median(c) if len(c) else np.nan for c in cells], dtype=np.float64)


def _middle(points: List[Point]) -> List[Point]:
    """Of the repeats that have a time, the one in the middle by it, or the two."""
    rated = sorted((p for p in points if _time(p) is not None), key=lambda p: p.ns_per_message or 0.0)
    return rated[(len(rated) - 1) // 2: len(rated) // 2 + 1]


def _stall_in_the_middle(points: List[Point]) -> float:
    stalls = [s for p in _middle(points) if (s := _stall(p)) is not None]
    return float(np.mean(stalls)) if stalls else float("nan")


def own_noise(series: Sequence[Series], xs: Sequence[float]) -> Floats:
    """What the runs said of their own noise: SD of log time per size, from the intervals of their throughput; 0 where they said nothing."""
    variance = np.zeros(len(xs))
    for s in series:
        for i, x in enumerate(xs):
            known = [v for p in s.cells[x] if (v := _interval_sd(p)) is not None]
            if known:
                variance[i] += float(np.mean(known)) ** 2 / len(known)
    return np.sqrt(variance)


def _interval_sd(p: Point) -> Optional[float]:
    t = p.throughput
    if t is None or not t.lo or not t.hi or t.hi < t.lo or t.confidence is None or not 0.0 < t.confidence < 1.0:
        return None
    return float(np.log(t.hi / t.lo)) / (2.0 * NormalDist().inv_cdf(0.5 + t.confidence / 2.0))


def explain(pair: Pair, alpha: float = ALPHA) -> Optional[Explanation]:
    """None when no size has both a time and, where a fix was measured, its counterpart."""
    base, fixed = pair.base, pair.fixed
    xs = [x for x in base.xs() if len(base.repeats(x, _time)) and (fixed is None or len(fixed.repeats(x, _time)))]
    if not xs:
        return None
    size = np.asarray(xs, dtype=np.float64)
    cells = [base.repeats(x, _time) for x in xs]
    # The test works on every repeat; what is shown is the median time and the stall of the same messages, so that one strays as the other does.
    t = _medians(cells)
    if fixed is None:
        dips = without_fix(size, t, cells, own_noise([base], xs), alpha)
        expected = dips.expected
    else:
        cured = [fixed.repeats(x, _time) for x in xs]
        dips, expected = with_fix(size, cells, cured, own_noise([base, fixed], xs), alpha), _medians(cured)
    stall = np.asarray([_stall_in_the_middle(base.cells[x]) for x in xs], dtype=np.float64)
    if fixed is not None:
        rest = _medians([fixed.repeats(x, _stall) for x in xs])
        stall = stall - np.where(np.isfinite(rest), rest, 0.0)
    return Explanation(base.label, pair.fix, size, t, expected, dips, stall, pearson(stall, t - expected), spearman(stall, t - expected))
