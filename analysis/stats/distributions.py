# SPDX-License-Identifier: GPL-2.0-only
"""Tails and quantiles of the distributions that the tests need, and Welch's t.

scipy.stats has them all too, and takes half a second to load.
"""

from __future__ import annotations

from typing import Any, Tuple

import numpy as np

from ..model import Floats

Moments = Tuple[float, float, float]  # mean, standard deviation, count


def _special() -> Any:
    from scipy import special  # imported here: only what tests anything needs it

    return special


def _floats(x: Any) -> Floats:
    return np.asarray(x, dtype=np.float64)


def t_tail(t: Any, dof: Any) -> Floats:
    """How likely Student's t is above `t`."""
    return _floats(_special().stdtr(dof, -_floats(t)))


def t_above(p: Any, dof: Any) -> Floats:
    """What Student's t is above with probability `p`."""
    return -_floats(_special().stdtrit(dof, p))


def normal_tail(z: float) -> float:
    return float(_special().ndtr(-z))


def normal_quantile(p: float) -> float:
    return float(_special().ndtri(p))


def normal_density(z: float) -> float:
    return float(np.exp(-z * z / 2.0) / np.sqrt(2.0 * np.pi))


def f_tail(x: float, dof: int, rest: int) -> float:
    """How likely Fisher's F is above `x`."""
    return float(_special().fdtrc(dof, rest, x))


def f_above(p: float, dof: int, rest: int) -> float:
    return float(_special().fdtri(dof, rest, 1.0 - p))


def chi2_above(p: float, dof: float) -> float:
    """What chi-square is above with probability `p`."""
    return float(_special().chdtri(dof, p))


def moments(x: Floats) -> Moments:
    return float(x.mean()), float(x.std(ddof=1)), float(len(x))


def welch_t(a: Moments, b: Moments) -> Tuple[float, float]:
    """Welch's t of two means that vary unequally, and its degrees of freedom."""
    (mean, sd, n), (other, other_sd, m) = a, b
    own, others = sd**2 / n, other_sd**2 / m
    dof = (own + others) ** 2 / (own**2 / (n - 1.0) + others**2 / (m - 1.0))
    return (mean - other) / float(np.sqrt(own + others)), dof


def mid_ranks(x: Floats) -> Floats:
    """From 1; equal values have the mean of their ranks."""
    _, which, count = np.unique(x, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return _floats(last - (count - 1) / 2.0)[which]
