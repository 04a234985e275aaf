# SPDX-License-Identifier: GPL-2.0-only
"""Outliers beyond median ± k·MAD, and whether MAD/√n is the uncertainty it is given out for."""

from __future__ import annotations

from typing import Any, List, Mapping, Sequence, Tuple

import numpy as np

from .. import units
from ..measures import chosen
from .outcome import Outcome, REFUTED, SUPPORTED, UNDECIDED
from ..model import Histogram, Point
from ..stats.distributions import chi2_above
from ..stats.hist import merge, middles
from ..tables import Table

NORMAL = 1.858  # standard error of a normal sample's median over MAD/√n: 1.2533 * 1.4826
KS = (3.0, 5.0, 10.0, 20.0, 50.0)


def of_histogram(h: Histogram) -> Tuple[float, float]:
    """Median and MAD of binned values."""
    v = middles(h)

    def median(values: "np.ndarray[Any, np.dtype[np.float64]]", counts: "np.ndarray[Any, np.dtype[np.float64]]") -> float:
        order = np.argsort(values)
        share = np.cumsum(counts[order]) / counts.sum()
        return float(values[order][int(np.searchsorted(share, 0.5 - 1e-12))])

    m = median(v, h.count)
    return m, median(np.abs(v - m), h.count)


def counts(h: Histogram, k: float) -> Tuple[float, float]:
    """(below, above) median ± k·MAD."""
    m, mad = of_histogram(h)
    v = middles(h)
    return float(h.count[v < m - k * mad].sum()), float(h.count[v > m + k * mad].sum())


def wilson(hits: float, n: float, z: float = 1.96) -> Tuple[float, float]:
    p = hits / n
    middle, reach = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return float(max((middle - reach) / (1 + z * z / n), 0.0)), float(min((middle + reach) / (1 + z * z / n), 1.0))


def _merged(points: Sequence[Point], claim: Mapping[str, Any]) -> Tuple[Histogram, Table]:
    """The repeats as one sample, each brought to a common median: a drift of the machine is no outlier."""
    parts = [p.histogram for p in chosen(points, claim.get("where")) if p.histogram is not None and p.histogram.total > 0]
    mids = [of_histogram(h)[0] for h in parts]
    common = float(np.median(mids)) if mids else 1.0
    scaled = [Histogram(h.low * common / m, h.high * common / m, h.count) for h, m in zip(parts, mids)]
    whole = merge(scaled) if scaled else None
    if whole is None:
        return Histogram(np.zeros(0), np.zeros(0), np.zeros(0)), Table("", [], [], "")
    rows = []
    for k in KS:
        below, above = counts(whole, k)
        rows.append([f"{k:g}", f"{below:.0f}", f"{above:.0f}", units.percent_text((below + above) / whole.total)])
    m, mad = of_histogram(whole)
    note = f"{whole.total:.0f} samples, median {units.time_text(m)}, MAD {units.time_text(mad)}; each repeat is brought to the common median."
    return whole, Table("Outliers beyond median ± k·MAD", ["k", "below", "above", "share"], rows, note)


def rare(points: Sequence[Point], claim: Mapping[str, Any]) -> Outcome:
    k, most = float(claim["k"]), float(claim["most"])
    method = f"share beyond median ± {k:g}·MAD with Wilson's 95 % interval, against {most:.0%}"
    h, table = _merged(points, claim)
    if not h.total:
        return Outcome(UNDECIDED, "there is no histogram.", method)
    hits = sum(counts(h, k))
    lo, hi = wilson(hits, h.total)
    text = f"{hits:.0f} of {h.total:.0f} samples are outliers: {hits / h.total:.2%} [{lo:.2%}, {hi:.2%}]."
    return Outcome(SUPPORTED if hi < most else REFUTED if lo > most else UNDECIDED, text, method, [table])


def one_sided(points: Sequence[Point], claim: Mapping[str, Any]) -> Outcome:
    k, least = float(claim["k"]), float(claim.get("least", 0.5))
    method = f"share of the outliers (k = {k:g}) that lie above the median, Wilson's 95 % interval, against {least:.0%}"
    h, table = _merged(points, claim)
    below, above = counts(h, k) if h.total else (0.0, 0.0)
    if below + above < 5:
        return Outcome(UNDECIDED, f"there are only {below + above:.0f} outliers.", method)
    lo, hi = wilson(above, below + above)
    text = f"{above:.0f} outliers lie above the median and {below:.0f} below: {above / (below + above):.1%} [{lo:.1%}, {hi:.1%}] above."
    return Outcome(SUPPORTED if lo > least else REFUTED if hi < least else UNDECIDED, text, method, [])


def uncertainty(points: Sequence[Point], claim: Mapping[str, Any]) -> Outcome:
    """Does the median of one run stray from run to run as MAD/√n says? The scatter between runs over it; the interval is chi-square's."""
    method = f"standard deviation of the repeats' medians over {NORMAL:.2f}·MAD/√n, which is the standard error of a normal sample's median; chi-square 95 % interval; honest: at most 2"
    stated: List[float] = []
    medians: List[float] = []
    for p in chosen(points, claim.get("where")):
        found = p.latency
        if found is not None and found.median is not None and found.get("uncertainty"):
            medians.append(found.median)
            stated.append(float(found.get("uncertainty") or 0.0))
    if len(medians) < 4:
        return Outcome(UNDECIDED, f"{len(medians)} repeats; at least 4 are needed.", method)
    sd, dof = float(np.std(medians, ddof=1)), len(medians) - 1
    claimed = NORMAL * float(np.sqrt(np.mean(np.square(stated))))
    lo, hi = (sd * np.sqrt(dof / chi2_above(p, dof)) / claimed for p in (0.025, 0.975))
    text = (f"{len(medians)} runs state a standard error of {units.time_text(claimed)} and their medians scatter by {units.time_text(sd)}: "
            f"{sd / claimed:.3g} times as much [{lo:.2g}, {hi:.2g}].")
    rows = [[str(i), units.time_text(m), units.time_text(s)] for i, (m, s) in enumerate(zip(medians, stated))]
    table = Table("Runs", ["repeat", "median", "MAD/√n"], rows, "")
    return Outcome(SUPPORTED if hi < 2 else REFUTED if lo > 2 else UNDECIDED, text, method, [table])
