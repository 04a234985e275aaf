# SPDX-License-Identifier: GPL-2.0-only
"""What changed between two samples: the ratio of their middles with its interval, and a test.

Where both were repeated (three runs or more each) the runs are the units: the ratio of the medians of runs, a percentile
bootstrap of it, and Welch's t on their logarithms. Of single runs the units are what each holds, the trials of a throughput or the buckets
of a latency histogram: the interval then says how sure the two runs are of their own middles, and not how two runs of
one thing differ, which the caller has to say beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence

import numpy as np

from ..model import Floats, Histogram
from .dips import ALPHA
from .distributions import moments, t_tail, welch_t
from .hist import mann_whitney, middles

ROUNDS = 2000
RUNS_LEAST = 3
SEED = 1
MARGIN = 0.03  # below it two runs on a quiet machine are not told apart


@dataclass(frozen=True)
class Change:
    """b over a; p is two-sided."""

    a: float
    b: float
    ratio: float
    low: Optional[float]
    high: Optional[float]
    p: Optional[float]
    by_runs: bool

    def is_certain(self, tests: int, alpha: float = ALPHA) -> bool:
        """Beyond the margin, and not by chance in one of so many tests (Bonferroni)."""
        if self.p is None or self.low is None or self.high is None or self.p * tests >= alpha:
            return False
        return self.low > 1 + MARGIN or self.high < 1 - MARGIN


def _rng() -> np.random.Generator:
    return np.random.default_rng(SEED)


def _interval(a: Floats, b: Floats, alpha: float) -> "tuple[float, float]":
    low, high = np.quantile(b / a, [alpha / 2, 1 - alpha / 2])
    return float(low), float(high)


def _resampled(values: Floats, rng: np.random.Generator) -> Floats:
    return np.asarray(np.median(rng.choice(values, size=(ROUNDS, len(values))), axis=1))


def welch(a: Floats, b: Floats) -> Optional[float]:
    """Two-sided p of Welch's t on logarithms; None where neither varies."""
    x, y = np.log(a), np.log(b)
    if x.var() == 0 and y.var() == 0:
        return None if np.isclose(x[0], y[0]) else 0.0
    t, dof = welch_t(moments(x), moments(y))
    return 2.0 * float(t_tail(abs(t), dof))


def of_values(a: Sequence[float], b: Sequence[float], by_runs: bool, alpha: float = ALPHA) -> Optional[Change]:
    x, y = np.asarray([v for v in a if v > 0]), np.asarray([v for v in b if v > 0])
    if not len(x) or not len(y):
        return None
    middle_a, middle_b = float(np.median(x)), float(np.median(y))
    if min(len(x), len(y)) < RUNS_LEAST:
        return Change(middle_a, middle_b, middle_b / middle_a, None, None, None, by_runs)
    rng = _rng()
    low, high = _interval(_resampled(x, rng), _resampled(y, rng), alpha)
    return Change(middle_a, middle_b, middle_b / middle_a, low, high, welch(x, y), by_runs)


def _resampled_medians(h: Histogram, rng: np.random.Generator) -> Floats:
    """The median of n resampled values is the k-th of n uniforms through the histogram's own quantiles."""
    n = h.total
    share = np.cumsum(h.count) / n
    at = rng.beta((n + 1) / 2, (n + 1) / 2, ROUNDS)
    edges = np.concatenate([[0.0], share])
    bucket = np.minimum(np.searchsorted(share, at), len(share) - 1)
    part = (at - edges[bucket]) / np.maximum(share[bucket] - edges[bucket], 1e-300)
    return np.asarray(h.low[bucket] + np.clip(part, 0, 1) * (h.high[bucket] - h.low[bucket]))


def of_histograms(a: Histogram, b: Histogram, alpha: float = ALPHA) -> Optional[Change]:
    if min(a.total, b.total) < 2:
        return None
    rng = _rng()
    x, y = _resampled_medians(a, rng), _resampled_medians(b, rng)
    middle_a, middle_b = float(np.median(x)), float(np.median(y))
    if not middle_a > 0 or not middle_b > 0:
        return None
    low, high = _interval(np.maximum(x, middles(a)[0]), y, alpha)
    p = 2 * min(mann_whitney(a, b), mann_whitney(b, a))
    return Change(middle_a, middle_b, middle_b / middle_a, low, high, min(1.0, p), False)
