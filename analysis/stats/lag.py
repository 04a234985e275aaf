# SPDX-License-Identifier: GPL-2.0-only
"""Two quantities against time, and how they correlate when one is shifted against the other."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Optional, Sequence, Tuple

import numpy as np

from ..model import Floats, Mark, STALL_STATES, Span, Timeline


@dataclass(frozen=True)
class Lagged:
    """r at each lag (in bins; positive: stall comes first), and the band that noise alone stays within at all lags together (95 %)."""

    lags: Floats
    r: Floats
    noise: float

    def strongest(self) -> Optional[Tuple[int, float]]:
        if not np.isfinite(self.r).any():
            return None
        # A periodic pair correlates at every period: of lags that do as well, the shortest is meant.
        size = np.abs(np.nan_to_num(self.r))
        near = np.flatnonzero(size >= 0.95 * size.max())
        i = int(near[np.argmin(np.abs(self.lags[near]))])
        return int(self.lags[i]), float(self.r[i])


def _overlap(start: Floats, end: Floats, edges: Floats) -> Floats:
    """Time covered in each bin by spans that do not overlap one another: exact, by the cumulative measure at each edge."""
    order = np.argsort(start)
    start, end = start[order], end[order]
    done = np.concatenate([[0.0], np.cumsum(end - start)])
    at = np.searchsorted(start, edges, side="right")
    last = np.maximum(at - 1, 0)
    beyond = np.where(at > 0, np.maximum(end[last] - edges, 0.0), 0.0) if len(start) else np.zeros(len(edges))
    covered: Floats = np.diff(done[at] - beyond)
    return covered


def bin_stall(spans: Sequence[Span], edges: Floats) -> Floats:
    """Stalled share of each bin, of the endpoint that stalls most."""
    totals: "dict[str, list[Span]]" = {}
    for s in spans:
        if s.ledger == "tx" and s.state in STALL_STATES:
            totals.setdefault(s.ep, []).append(s)
    if not totals:
        return np.zeros(len(edges) - 1)
    worst = max(totals.values(), key=lambda ss: sum(s.end - s.start for s in ss))
    covered = _overlap(np.asarray([s.start for s in worst]), np.asarray([s.end for s in worst]), edges)
    share: Floats = covered / np.diff(edges)
    return share


def bin_bytes(marks: Sequence[Mark], edges: Floats) -> Floats:
    """Bytes per second in each bin, from the messages (or, lacking those, the segments)."""
    for event in ("message", "segment"):
        chosen = [m for m in marks if m.event == event and m.bytes > 0]
        if chosen:
            total, _ = np.histogram([m.t for m in chosen], edges, weights=[m.bytes for m in chosen])
            rate: Floats = total * 1e9 / np.diff(edges)
            return rate
    return np.full(len(edges) - 1, np.nan)


def binned(line: Timeline, most: int = 200) -> Tuple[Floats, Floats, Floats]:
    """(edges, bytes per second, stalled share); bins wide enough for about five messages each."""
    moved = sum(1 for m in line.marks if m.bytes > 0)
    bins = int(min(max(moved / 5, 20), most))
    edges = np.linspace(line.start, line.end, bins + 1)
    return edges, bin_bytes(line.marks, edges), bin_stall(line.spans, edges)


def lagged(stall: Floats, rate: Floats, most: int = 20) -> Lagged:
    most = min(most, max(len(stall) // 4, 0))
    lags = np.arange(-most, most + 1, dtype=np.float64)
    r = np.asarray([_at(stall, rate, int(k)) for k in lags])
    reach = NormalDist().inv_cdf(1.0 - 0.025 / len(lags))  # Bonferroni
    return Lagged(lags, r, reach / np.sqrt(_effective(stall, rate)))


def _effective(a: Floats, b: Floats) -> float:
    """Independent bins there are: neighbouring bins resemble each other, so fewer than counted (Bartlett, first order)."""
    product = _at(a, a, 1) * _at(b, b, 1)
    product = min(max(product, 0.0), 0.99) if np.isfinite(product) else 0.0
    return max(len(a) * (1.0 - product) / (1.0 + product), 3.0)


def _at(stall: Floats, rate: Floats, lag: int) -> float:
    a, b = (stall[: len(stall) - lag], rate[lag:]) if lag >= 0 else (stall[-lag:], rate[:lag])
    if len(a) < 3 or np.std(a) == 0 or np.std(b) == 0 or not np.isfinite(a).all() or not np.isfinite(b).all():
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])
