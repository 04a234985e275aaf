# SPDX-License-Identifier: GPL-2.0-only
"""Histograms as distributions: cumulative shares, quantiles, and the Mann-Whitney test on counts."""

from __future__ import annotations

from typing import Optional, Tuple

import numpy as np

from ..model import Floats, Histogram


def middles(h: Histogram) -> Floats:
    """Geometric middle of a bucket, since the buckets widen with the value."""
    return np.where(h.low > 0, np.sqrt(np.maximum(h.low, 1e-12) * np.maximum(h.high, 1e-12)), (h.low + h.high) / 2.0)


def cumulative(h: Histogram) -> Tuple[Floats, Floats]:
    """(value, share at or below it): the upper edge of each bucket, so the share is never overstated."""
    keep = h.count > 0
    share = np.cumsum(h.count[keep]) / h.total
    return h.high[keep], share


def merge(parts: "list[Histogram]") -> Optional[Histogram]:
    """The repeats of one cell as one distribution; buckets need not agree."""
    if not parts:
        return None
    low = np.concatenate([p.low for p in parts])
    high = np.concatenate([p.high for p in parts])
    count = np.concatenate([p.count for p in parts])
    order = np.lexsort((high, low))
    low, high, count = low[order], high[order], count[order]
    first = np.concatenate([[True], (np.diff(low) > 0) | (np.diff(high) > 0)])
    group = np.cumsum(first) - 1
    return Histogram(low[first], high[first], np.bincount(group, weights=count).astype(np.float64))


def quantile(h: Histogram, q: float) -> float:
    share = np.cumsum(h.count) / h.total
    return float(middles(h)[int(np.searchsorted(share, q - 1e-12))])


def mean_of_quickest(h: Histogram, share: float) -> float:
    """Mean of the smallest `share` of the values."""
    below = np.cumsum(h.count)
    taken = np.clip(share * h.total - (below - h.count), 0.0, h.count)
    return float((taken * middles(h)).sum() / taken.sum())


def mann_whitney(a: Histogram, b: Histogram, factor: float = 1.0) -> float:
    """One-sided p: values of b, divided by `factor`, are not stochastically larger than those of a.

    On counts, by the normal approximation with the tie correction, since buckets are full of ties."""
    xa, xb = middles(a), middles(b) / factor
    values = np.unique(np.concatenate([xa, xb]))
    ca = np.bincount(np.searchsorted(values, xa), weights=a.count, minlength=len(values))
    cb = np.bincount(np.searchsorted(values, xb), weights=b.count, minlength=len(values))
    na, nb, both = ca.sum(), cb.sum(), ca + cb
    below = np.cumsum(ca) - ca
    u = float((cb * (below + ca / 2.0)).sum())
    n = na + nb
    tie = float((both**3 - both).sum()) / (n * (n - 1.0)) if n > 1 else 0.0
    variance = na * nb / 12.0 * (n + 1.0 - tie)
    if variance <= 0:
        return 1.0
    z = (u - na * nb / 2.0) / np.sqrt(variance)
    return _normal_tail(float(z))


def _normal_tail(z: float) -> float:
    from math import erfc, sqrt

    return 0.5 * erfc(z / sqrt(2.0))
