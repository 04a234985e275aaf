# SPDX-License-Identifier: GPL-2.0-only
"""Which sizes are in a dip, decided by a test and not by a threshold.

With the fix measured beside it, a size is in a dip when its time per message exceeds that of the fixed run:
a one-sided t test of the log ratio, its noise pooled over the repeats and over how the fixed run itself
scatters about its own trend. The ratio is the smaller of that of the means and that of the medians: one repeat that strays
far moves the mean beyond the pooled noise, while the others lose nothing. Without it, a healthy line (time = a + b * size) is grown from the fastest
coherent sizes outwards: the next size joins while its studentised residual is not significant (a forward search);
what never joins and lies above the line is in a dip. Both correct for the number of sizes by Holm's method.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from ..model import Floats
from .distributions import normal_density, normal_quantile, t_tail

ALPHA = 0.01
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Dips:
    """Per size: what was expected (ns per message), p (Holm-adjusted), and the verdict."""

    expected: Floats
    p: Floats
    dip: Bools
    method: str
    alpha: float = ALPHA


def holm(p: Floats) -> Floats:
    """Holm's step-down adjusted p values."""
    order = np.argsort(p, kind="stable")
    scaled = np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p))))
    out = np.empty(len(p))
    out[order] = np.minimum(scaled, 1.0)
    return out


def pooled_sd(cells: Sequence[Floats]) -> Tuple[Optional[float], int]:
    """Standard deviation within cells of repeats, and its degrees of freedom."""
    dof = sum(len(c) - 1 for c in cells)
    if dof <= 0:
        return None, 0
    return float(np.sqrt(sum(((c - c.mean()) ** 2).sum() for c in cells) / dof)), dof


def _design(size: Floats) -> Floats:
    return np.column_stack([np.ones_like(size), size / size.max()])


def _quickest_line(size: Floats, t: Floats) -> Floats:
    """A line through two sizes under which few lie: the pair that minimises the 20 % quantile loss of the log residuals.

    Quantile loss bounds the pull of what lies above, so that even if most sizes stall the line stays with those that do not."""
    i, j = np.triu_indices(len(size), 1)
    if len(i) > 4000:
        keep = np.linspace(0, len(i) - 1, 4000).astype(int)
        i, j = i[keep], j[keep]
    slope = (t[j] - t[i]) / (size[j] - size[i])
    start = t[i] - slope * size[i]
    line = start[:, None] + slope[:, None] * size[None, :]
    usable = (slope >= 0) & (line > 0).all(axis=1)
    if not usable.any():
        return np.full_like(t, float(np.quantile(t, 0.2)))
    line = line[usable]
    r = np.log(t)[None, :] - np.log(line)
    loss = np.where(r > 0, 0.2 * r, -0.8 * r).sum(axis=1)
    best: Floats = line[int(np.argmin(loss))]
    return best


def _fit(size: Floats, t: Floats, members: Bools) -> Tuple[Floats, Floats, float, int]:
    """Relative least squares on the members: line, leverage of every size, relative residual SD, degrees of freedom."""
    x = _design(size) / t[:, None]
    inverse = np.linalg.pinv(x[members].T @ x[members])
    beta = inverse @ x[members].T @ np.ones(int(members.sum()))
    line = np.maximum(_design(size) @ beta, t.min() * 1e-3)
    xe = _design(size) / line[:, None]
    lever = np.einsum("ij,jk,ik->i", xe, inverse, xe)
    dof = int(members.sum()) - 2
    residual = np.log(t[members] / line[members])
    return line, lever, float(np.sqrt((residual**2).sum() / max(dof, 1))), dof


def healthy_line(size: Floats, t: Floats, alpha: float = ALPHA, floor: float = 0.0) -> Tuple[Floats, Bools, Floats, float, int]:
    """Forward search: (line, members, leverage, SD, degrees of freedom)."""
    line = _quickest_line(size, t)
    count = max(4, len(size) // 5)
    order = np.argsort(np.abs(np.log(t / line)), kind="stable")
    members = np.zeros(len(size), dtype=bool)
    members[order[:count]] = True
    while True:
        line, lever, sd, dof = _fit(size, t, members)
        outside = np.flatnonzero(~members)
        if not len(outside):
            break
        r = np.log(t / line)
        nearest = outside[int(np.argmin(np.abs(r[outside])))]
        spread = max(sd, floor, 1e-9) * np.sqrt(1.0 + lever[nearest])
        # The sizes already in are the closest ones, so their scatter is too small: correct for the truncation.
        spread *= _truncation(int(members.sum()) / len(size))
        if 2.0 * t_tail(np.asarray([abs(r[nearest]) / spread]), max(dof, 1))[0] < alpha:
            break
        members[nearest] = True
    return line, members, lever, max(sd, floor, 1e-9), max(dof, 1)


def _truncation(share: float) -> float:
    """1 / SD of a standard normal cut to its central `share`: what makes the scatter of the innermost few comparable."""
    if share >= 0.999:
        return 1.0
    c = normal_quantile(0.5 + share / 2.0)
    variance = 1.0 - 2.0 * c * normal_density(c) / share
    return float(min(1.0 / np.sqrt(max(variance, 1e-9)), 4.0))


def without_fix(size: Floats, t: Floats, cells: Sequence[Floats], own: Optional[Floats] = None, alpha: float = ALPHA) -> Dips:
    """`own`: the standard deviation of each log time as its run itself stated it."""
    method = f"forward search from the quickest line, one-sided t test, Holm at {alpha:g}"
    if len(size) < 6:
        return Dips(t.copy(), np.ones(len(size)), np.zeros(len(size), dtype=bool), "too few sizes (under 6) to tell a dip", alpha)
    within, _ = pooled_sd([np.log(c) for c in cells])
    line, members, lever, sd, dof = healthy_line(size, t, alpha, floor=within or 0.0)
    # The members were chosen for lying close: judged by their bare scatter, the next one would always stand out.
    sd *= _truncation(float(members.mean()))
    spread = np.sqrt(sd**2 * (1.0 + lever) + (0.0 if own is None else own**2))
    p = holm(t_tail(np.log(t / line) / spread, dof))
    return Dips(line, p, p < alpha, method, alpha)


def with_fix(size: Floats, base: Sequence[Floats], fixed: Sequence[Floats], own: Optional[Floats] = None, alpha: float = ALPHA) -> Dips:
    """`base` and `fixed`: the repeats of time per message at each size; `own`: as above, of the log ratio."""
    method = f"one-sided t test of the log ratio to the fixed run, Holm at {alpha:g}"
    logs_base, logs_fixed = [np.log(c) for c in base], [np.log(c) for c in fixed]
    means = np.asarray([[np.mean(c) for c in logs] for logs in (logs_base, logs_fixed)])
    medians = np.asarray([[np.median(c) for c in logs] for logs in (logs_base, logs_fixed)])
    middle = means[1]
    ratio = np.minimum(means[0] - means[1], medians[0] - medians[1])
    within, dof = pooled_sd(logs_base + logs_fixed)
    between, between_dof = _scatter(size, np.exp(middle), alpha)
    variance = np.asarray([(within or 0.0) ** 2 * (1.0 / len(a) + 1.0 / len(b)) for a, b in zip(base, fixed)])
    variance = variance + between**2 * (1.0 if within is not None else 2.0)
    if own is not None:
        variance = variance + own**2
    dof = max(dof, between_dof, 1) if within is not None else max(between_dof, 1)
    p = holm(t_tail(ratio / np.sqrt(np.maximum(variance, 1e-12)), dof))
    return Dips(np.exp(middle), p, p < alpha, method, alpha)


def _scatter(size: Floats, t: Floats, alpha: float) -> Tuple[float, int]:
    """How the fixed run scatters about its own trend: size-to-size differences that no repeat shows."""
    if len(size) < 6:
        return 0.02, 4  # too few sizes to see a trend: the spread of quiet runs (64 B TCP, 10 runs: 1.6-2.1 %)
    _, _, _, sd, dof = healthy_line(size, t, alpha)
    return sd, dof


def bands(size: Floats, dip: Bools) -> List[Tuple[float, float, List[int]]]:
    """Runs of neighbouring sizes in a dip: (from, to, indexes), the edges half way to the healthy neighbours."""
    out: List[Tuple[float, float, List[int]]] = []
    run: List[int] = []
    for i in range(len(size) + 1):
        if i < len(size) and dip[i]:
            run.append(i)
        elif run:
            out.append((_edge(size, run[0], -1), _edge(size, run[-1], 1), run))
            run = []
    return out


def _edge(size: Floats, i: int, step: int) -> float:
    j = i + step
    if 0 <= j < len(size):
        return float((size[i] + size[j]) / 2.0)
    back = i - step
    return float(size[i] + (size[i] - size[back]) / 2.0) if 0 <= back < len(size) else float(size[i])
