# SPDX-License-Identifier: GPL-2.0-only
"""Correlation with an interval: Pearson and Spearman, each with a bootstrap interval over the pairs.

Dips come in two clusters (stalled, not stalled), which is far from the bivariate normal that Fisher's
interval assumes; the bootstrap assumes nothing but exchangeable pairs, so it is what is printed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

from ..model import Floats

DRAWS = 2000
SEED = 20040419  # any fixed number: the same data must give the same interval


@dataclass(frozen=True)
class Correlation:
    n: int
    r: Optional[float]
    lo: Optional[float]
    hi: Optional[float]
    confidence: float = 0.95

    def text(self, symbol: str = "r") -> str:
        if self.r is None:
            return f"{symbol} unknown (n = {self.n})"
        if self.lo is None or self.hi is None:
            return f"{symbol} = {self.r:.3f} (n = {self.n})"
        return f"{symbol} = {self.r:.3f} [{self.lo:.3f}, {self.hi:.3f}], n = {self.n}"


def _rows_pearson(x: Floats, y: Floats) -> Floats:
    """Pearson's r of each row; NaN where either side of a row does not vary."""
    dx = x - x.mean(axis=-1, keepdims=True)
    dy = y - y.mean(axis=-1, keepdims=True)
    norm = np.sqrt((dx * dx).sum(axis=-1) * (dy * dy).sum(axis=-1))
    scale = np.abs(x).max(axis=-1) * np.abs(y).max(axis=-1) * x.shape[-1]
    flat = norm <= 1e-12 * scale
    out: Floats = np.where(flat, np.nan, (dx * dy).sum(axis=-1) / np.where(flat, 1.0, norm))
    return out


def _ranks(x: Floats) -> Floats:
    """Ranks from 1 along the last axis, ties sharing the mean of theirs."""
    order = np.argsort(x, axis=-1, kind="stable")
    ordered = np.take_along_axis(x, order, axis=-1)
    place = np.arange(1, x.shape[-1] + 1)
    differs = ordered[..., 1:] != ordered[..., :-1]
    edge = np.ones((*x.shape[:-1], 1), dtype=bool)
    first = np.maximum.accumulate(np.where(np.concatenate([edge, differs], axis=-1), place, 0), axis=-1)
    ends = np.where(np.concatenate([differs, edge], axis=-1), place, x.shape[-1])
    last = np.minimum.accumulate(ends[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty(x.shape)
    np.put_along_axis(ranks, order, (first + last) / 2.0, axis=-1)
    return ranks


def _interval(x: Floats, y: Floats, prepare: Callable[[Floats], Floats], confidence: float) -> Tuple[Optional[float], Optional[float]]:
    if len(x) < 4:
        return None, None
    pick: NDArray[np.int64] = np.random.default_rng(SEED).integers(0, len(x), (DRAWS, len(x)))
    rs = _rows_pearson(prepare(x[pick]), prepare(y[pick]))
    rs = rs[np.isfinite(rs)]
    if len(rs) < DRAWS // 2:
        return None, None
    tail = 50.0 * (1.0 - confidence)
    lo, hi = np.percentile(rs, [tail, 100.0 - tail])
    return float(lo), float(hi)


def _same(x: Floats) -> Floats:
    return x


def _correlate(x: Floats, y: Floats, prepare: Callable[[Floats], Floats], confidence: float) -> Correlation:
    keep = np.isfinite(x) & np.isfinite(y)
    x, y = x[keep], y[keep]
    if len(x) < 3:
        return Correlation(len(x), None, None, None, confidence)
    r = float(_rows_pearson(prepare(x)[None, :], prepare(y)[None, :])[0])
    if not np.isfinite(r):
        return Correlation(len(x), None, None, None, confidence)
    lo, hi = _interval(x, y, prepare, confidence)
    return Correlation(len(x), r, lo, hi, confidence)


def pearson(x: Floats, y: Floats, confidence: float = 0.95) -> Correlation:
    return _correlate(x, y, _same, confidence)


def spearman(x: Floats, y: Floats, confidence: float = 0.95) -> Correlation:
    return _correlate(x, y, _ranks, confidence)
