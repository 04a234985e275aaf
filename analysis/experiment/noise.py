# SPDX-License-Identifier: GPL-2.0-only
"""The scatter of a few repeats. Alone, three repeats know their own spread badly; each cell's variance is therefore drawn
towards that of all cells, as if that were worth PRIOR repeats (Smyth's moderated t)."""

from __future__ import annotations

from typing import List, Sequence, Tuple

import numpy as np

from ..model import Floats
from ..stats.distributions import chi2_above, t_above

PRIOR = 4.0
CUT, MANY = 0.2, 10
LEAST = 2e-3  # no run repeats itself better than this; identical figures must not pass for certainty


def spread(cells: Sequence[Floats]) -> Tuple[Floats, Floats]:
    """(standard error of each cell's mean, degrees of freedom)."""
    own = np.asarray([c.var(ddof=1) if len(c) > 1 else np.nan for c in cells])
    return _moderated(own, np.asarray([len(c) for c in cells], dtype=np.float64))


def middles(cells: Sequence[Floats]) -> Tuple[Floats, Floats, Floats]:
    """(middle, its standard error, degrees of freedom) of each cell, by Yuen: of many repeats a fifth at each end is left out, so
    that what disturbed some of them moves neither."""
    cuts = [int(CUT * len(c)) if len(c) >= MANY else 0 for c in cells]
    ordered = [np.sort(c) for c in cells]
    kept = [c[k : len(c) - k] for c, k in zip(ordered, cuts)]
    drawn_in = [np.clip(c, k[0], k[-1]) for c, k in zip(ordered, kept)]
    counts = np.asarray([len(k) for k in kept], dtype=np.float64)
    own = np.asarray([d.var(ddof=1) * (len(d) - 1.0) / (len(k) - 1.0) if len(k) > 1 else np.nan for d, k in zip(drawn_in, kept)])
    return (np.asarray([k.mean() for k in kept]), *_moderated(own, counts))


def _moderated(own: Floats, counts: Floats) -> Tuple[Floats, Floats]:
    common = _common(own, counts)
    dof = np.maximum(counts - 1.0, 0.0)
    variance = (PRIOR * common + dof * np.nan_to_num(own)) / (PRIOR + dof)
    return np.sqrt(np.maximum(variance, LEAST**2) / counts), PRIOR + dof


def _common(own: Floats, counts: Floats) -> float:
    """The middle variance of the cells. A variance of few repeats is mostly below the true one, so its median is brought up to it."""
    known = np.isfinite(own)
    if not known.any():
        return float("nan")
    dof = float(np.median(counts[known])) - 1.0
    return float(np.median(own[known]) / (chi2_above(0.5, dof) / dof))


def interval(mean: Floats, se: Floats, dof: Floats, alpha: float, tests: int) -> Tuple[Floats, Floats]:
    """Two-sided, for all `tests` at once (Bonferroni)."""
    reach = t_above(alpha / (2.0 * max(tests, 1)), dof) * se
    return mean - reach, mean + reach


def draws(cells: Sequence[Floats], n: int, seed: int) -> Floats:
    """n plausible sets of cell means: each mean plus t-distributed noise of its own standard error."""
    se, dof = spread(cells)
    mean = np.asarray([c.mean() for c in cells])
    rng = np.random.default_rng(seed)
    noise: List[Floats] = [rng.standard_t(d, n) * s for s, d in zip(se, dof)]
    return np.asarray(mean[None, :] + np.stack(noise, axis=1), dtype=np.float64)
