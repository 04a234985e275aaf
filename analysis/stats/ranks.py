# SPDX-License-Identifier: GPL-2.0-only
"""Ranks with ties judged by a test.

Two contestants tie unless a one-sided test says that the slower is worse by more than the margin (3 %, below which
runs on a quiet machine are not told apart). Where both were repeated the runs are the units: Welch's t on the logarithms of their
medians or rates, for what two runs of one thing differ by is no sample of either. Of single runs, which then speak for themselves alone:
Mann-Whitney on the latency histograms, Welch's t on the logarithms of a throughput run's trials, each counting as long as it
lasted; where only intervals were stored, intervals that do not overlap. Each is compared with the first of the rank above it; p
values are multiplied by the number of comparisons in a row (Bonferroni).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional, Sequence, Tuple

import numpy as np

from ..model import Floats, Histogram, Point, Throughput
from .dips import ALPHA
from .distributions import moments, t_tail, welch_t
from .hist import mann_whitney, merge

MARGIN = 0.03


@dataclass(frozen=True)
class Contestant:
    """`value`: median latency (ns) or bytes per second; the rest is what the test can use of it."""

    name: str
    value: float
    sample: Optional[Histogram] = None
    trials: Tuple[float, ...] = ()
    weights: Tuple[float, ...] = ()  # of the trials; empty: all alike
    interval: Optional[Tuple[float, float]] = None
    runs: Tuple[float, ...] = ()  # `value` of each


@dataclass(frozen=True)
class Place:
    rank: int
    tied: bool
    name: str
    value: float
    p: Optional[float]


def latency_contestant(name: str, points: Sequence[Point]) -> Optional[Contestant]:
    medians = [p.latency.median for p in points if p.latency is not None and p.latency.median is not None]
    if not medians:
        return None
    merged = merge([p.histogram for p in points if p.histogram is not None])
    return Contestant(name, float(np.median(medians)), merged, runs=tuple(medians))


def throughput_contestant(name: str, points: Sequence[Point]) -> Optional[Contestant]:
    rates = [r for p in points if (r := p.bytes_per_s) is not None]
    if not rates:
        return None
    trials, weights = _trials([p.throughput for p in points if p.throughput is not None])
    spans = [(p.throughput.lo, p.throughput.hi) for p in points if p.throughput is not None]
    known = [(lo, hi) for lo, hi in spans if lo is not None and hi is not None]
    interval = (min(lo for lo, _ in known), max(hi for _, hi in known)) if known else None
    return Contestant(name, float(np.median(rates)), None, trials or tuple(r for r in rates if r > 0), weights, interval, tuple(rates))


def _trials(runs: Sequence[Throughput]) -> Tuple[Tuple[float, ...], Tuple[float, ...]]:
    """Those of all runs that moved something, with how long they lasted if every run says so."""
    timed = all(len(r.trial_ns) == len(r.trials) for r in runs)
    found = [(t, ns) for r in runs for t, ns in zip(r.trials, r.trial_ns if timed else [1.0] * len(r.trials)) if t > 0 and ns > 0]
    return tuple(t for t, _ in found), tuple(ns for _, ns in found) if timed else ()


def _moments(x: Floats, weights: Sequence[float]) -> Tuple[float, float, float]:
    """Mean, standard deviation and count; of unequal weights, the count of equal ones that would say as much (Kish)."""
    w = np.asarray(weights) if weights else np.ones(len(x))
    n = float(w.sum() ** 2 / (w * w).sum())
    mean = float(np.average(x, weights=w))
    variance = float(np.average((x - mean) ** 2, weights=w)) * n / max(n - 1.0, 1e-9)
    return mean, float(np.sqrt(variance)), n


def _welch(good: Contestant, bad: Contestant, margin: float) -> float:
    a, b = np.log(good.trials), np.log(bad.trials) + np.log1p(margin)
    if np.ptp(a) == 0 and np.ptp(b) == 0:
        return 0.0 if a[0] > b[0] else 1.0
    x, y = _moments(a, good.weights), _moments(b, bad.weights)
    if min(x[2], y[2]) < 1.5:
        return 1.0  # one slice is nearly all of the run: of its scatter nothing is known
    return float(t_tail(*welch_t(x, y)))


def _by_runs(leader: Contestant, other: Contestant, larger_is_better: bool, margin: float) -> float:
    lead, behind = np.log(leader.runs), np.log(other.runs)
    more, less = (lead, behind) if larger_is_better else (behind, lead)
    less = less + np.log1p(margin)
    if np.ptp(more) == 0 and np.ptp(less) == 0:
        return 0.0 if more[0] > less[0] else 1.0
    return float(t_tail(*welch_t(moments(more), moments(less))))


def _worse(leader: Contestant, other: Contestant, larger_is_better: bool, margin: float) -> Optional[float]:
    """p of 'other is not worse than the leader by more than the margin'; None when nothing can be tested."""
    if all(len(c.runs) > 1 and min(c.runs) > 0 for c in (leader, other)):
        return _by_runs(leader, other, larger_is_better, margin)
    if leader.sample is not None and other.sample is not None:
        return mann_whitney(leader.sample, other.sample, 1.0 + margin)
    if len(leader.trials) > 1 and len(other.trials) > 1:
        return _welch(leader, other, margin)
    if leader.interval is not None and other.interval is not None:
        return 0.0 if leader.interval[0] > other.interval[1] * (1.0 + margin) else 1.0
    return None


def rank(field: Sequence[Contestant], larger_is_better: bool, alpha: float = ALPHA, margin: float = MARGIN) -> List[Place]:
    order = sorted(field, key=lambda c: (-c.value if larger_is_better else c.value, c.name))
    starts = _group_starts(order, larger_is_better, alpha, margin)
    places = []
    for i, c in enumerate(order):
        start = max(s for s, _ in starts if s <= i)
        size = sum(1 for j in range(len(order)) if max(s for s, _ in starts if s <= j) == start)
        places.append(Place(start + 1, size > 1, c.name, c.value, dict(starts).get(i)))
    return places


def _group_starts(order: Sequence[Contestant], larger_is_better: bool, alpha: float, margin: float) -> List[Tuple[int, Optional[float]]]:
    """Indexes at which a new rank begins, with the p value that made it so."""
    starts: List[Tuple[int, Optional[float]]] = [(0, None)] if order else []
    for i in range(1, len(order)):
        p = _worse(order[starts[-1][0]], order[i], larger_is_better, margin)
        # As many comparisons as there are contestants less one: Bonferroni.
        adjusted = None if p is None else min(1.0, p * (len(order) - 1))
        if adjusted is not None and adjusted < alpha:
            starts.append((i, adjusted))
    return starts


