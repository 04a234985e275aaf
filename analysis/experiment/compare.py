# SPDX-License-Identifier: GPL-2.0-only
"""Is one group better than another, size by size? Pairs are of the same size and the same repeat, so that a drift of the
machine meets both. Beside the ratio's interval at each size, a van Elteren test (Mann-Whitney, stratified by size) over all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from ..measures import Measure, chosen, measure, x_text
from .noise import MANY, interval, middles
from .outcome import Outcome, UNDECIDED, of_cells
from ..model import Floats, Point
from ..series import as_number, plain, said
from ..stats.distributions import mid_ranks, normal_tail
from ..tables import Table
from ..units import TIME_OPTIONS

MARGIN = 0.03  # below this, runs on a quiet machine are not told apart
ALPHA = 0.05
PICKS = {"best": "the best", "quartile": "the better quartile"}  # of a group of repeats
MARKS = {"better": "better", "worse": "worse", "same": "no difference", "unclear": "unclear"}


@dataclass(frozen=True)
class Compared:
    x: Floats
    a: List[Floats]
    b: List[Floats]
    ratio: Floats  # how many times as good a is as b
    lo: Floats
    hi: Floats
    mark: List[str]
    p: Optional[float]


Groups = Mapping[str, str]
ALONE: Groups = MappingProxyType({})


def groups(points: Sequence[Point], unit: str, n: int) -> Groups:
    """Repeat -> which of n groups it is in: those that follow one another are together.
    Empty where there are no more repeats than groups: each is alone."""
    repeats = sorted({plain(p.value(unit)) for p in points}, key=lambda r: (as_number(r) or 0.0, r))
    if not 0 < n < len(repeats):
        return ALONE
    return {r: str(i * n // len(repeats)) for i, r in enumerate(repeats)}


def cells(points: Sequence[Point], by: str, m: Measure, unit: str = "repeat",
          group: Groups = ALONE, pick: str = "best") -> Dict[float, Dict[str, float]]:
    """x -> repeat, or group of repeats -> figure: a group's best, or its better quartile.
    Where chance is drawn from a seed, the seed is what differs between repeats."""
    found: Dict[float, Dict[str, List[float]]] = {}
    for p in points:
        x, v = as_number(p.value(by)), m.get(p)
        if x is not None and v is not None and v > 0:
            repeat = plain(p.value(unit))
            found.setdefault(x, {}).setdefault(group.get(repeat, repeat), []).append(v)
    return {x: {key: _picked(v, m, pick) for key, v in cell.items()} for x, cell in found.items()}


def _picked(values: Sequence[float], m: Measure, pick: str) -> float:
    return sorted(values, reverse=m.more_is_better)[(len(values) - 1) // 4 if pick == "quartile" else 0]


def compare(a: Sequence[Point], b: Sequence[Point], by: str, m: Measure, margin: float = MARGIN,
            unit: str = "repeat", group: Groups = ALONE, pick: str = "best") -> Optional[Compared]:
    ca, cb = cells(a, by, m, unit, group, pick), cells(b, by, m, unit, group, pick)
    xs = sorted(x for x in ca if x in cb and set(ca[x]) & set(cb[x]))
    if not xs:
        return None
    va, vb = zip(*[_pairs(ca[x], cb[x]) for x in xs])
    sign = 1.0 if m.more_is_better else -1.0
    logs = [sign * (np.log(p) - np.log(q)) for p, q in zip(va, vb)]
    mean, se, dof = middles(logs)
    lo, hi = interval(mean, se, dof, ALPHA, len(xs))
    mark = [_mark(lo[i], hi[i], np.log1p(margin)) for i in range(len(xs))]
    return Compared(np.asarray(xs), list(va), list(vb), np.exp(mean), np.exp(lo), np.exp(hi), mark, van_elteren(va, vb, sign))


def _pairs(a: Mapping[str, float], b: Mapping[str, float]) -> Tuple[Floats, Floats]:
    both = sorted(set(a) & set(b))
    return np.asarray([a[r] for r in both]), np.asarray([b[r] for r in both])


def _mark(lo: float, hi: float, margin: float) -> str:
    if not np.isfinite(lo):
        return "unclear"
    if -margin < lo and hi < margin:
        return "same"
    if lo > 0:
        return "better" if hi > margin else "same"
    if hi < 0:
        return "worse"
    return "unclear"


def _mark_same(lo: float, hi: float, margin: float) -> str:
    """A difference that may be smaller than the margin does not speak against sameness."""
    if lo > 1.0 + margin:
        return "better"
    if hi < 1.0 / (1.0 + margin):
        return "worse"
    return "same" if 1.0 / (1.0 + margin) < lo and hi < 1.0 + margin else "unclear"


def van_elteren(a: Sequence[Floats], b: Sequence[Floats], sign: float) -> Optional[float]:
    """Two-sided p that neither group tends to be better, over strata."""
    total, variance = 0.0, 0.0
    for x, y in zip(a, b):
        n, k = len(x) + len(y), len(x)
        both = np.concatenate([x, y]) * sign
        ranks = mid_ranks(both)
        weight = 1.0 / (n + 1.0)
        total += weight * (ranks[:k].sum() - k * (n + 1) / 2.0)
        variance += weight**2 * k * (n - k) / (n * (n - 1.0)) * ((ranks - (n + 1) / 2.0) ** 2).sum()
    return 2.0 * normal_tail(abs(total) / float(np.sqrt(variance))) if variance > 0 else None


def names(claim: Mapping[str, Any]) -> Tuple[str, str]:
    def say(group: Mapping[str, Any]) -> str:
        return ", ".join(str(v) if isinstance(v, str) else said(k, v) if k in TIME_OPTIONS and isinstance(v, (int, float)) else f"{k}={v}" for k, v in group.items())

    return say(claim.get("of", {})), say(claim.get("than", {}))


def judge(points: Sequence[Point], claim: Mapping[str, Any], wanted: str) -> Outcome:
    m = measure(claim, str(claim.get("says")))
    by = str(claim.get("by", "size"))
    where = chosen(points, claim.get("where"))
    margin = float(claim.get("margin", MARGIN))
    of, than, unit = chosen(where, claim.get("of")), chosen(where, claim.get("than")), str(claim.get("unit", "repeat"))
    group = groups([*of, *than], unit, int(claim.get("units", 0)))
    pick = str(claim.get("pick", "best"))
    found = compare(of, than, by, m, margin, unit, group, pick)
    what = f"{PICKS.get(pick, pick)} of each of {len(set(group.values()))} groups of repeats" if group else "repeats"
    method = (f"moderated t interval (95 % for all {by}s at once) of the paired log ratio, {what} as units; differences under {margin:.0%} "
              "count as none; van Elteren's rank test over all")
    if found is None:
        return Outcome(UNDECIDED, "no two points can be compared.", method)
    if max(len(v) for v in found.a) >= MANY:
        method += f"; of {MANY} repeats or more, a fifth at each end is left out of the interval"
    if wanted == "same":
        found = replace(found, mark=[_mark_same(lo, hi, margin) for lo, hi in zip(found.lo, found.hi)])
    a, b = names(claim)
    word = "times as fast" if m.name != "share" else "times as good"
    rows = [[x_text(by, found.x[i]), m.text(float(np.median(found.a[i]))), m.text(float(np.median(found.b[i]))), f"{found.ratio[i]:.2f}",
             f"{found.lo[i]:.2f} to {found.hi[i]:.2f}", MARKS[found.mark[i]]] for i in range(len(found.x))]
    table = Table(f"{m.words}: {a} against {b}", [by, a, b, word, "interval", "test"], rows,
                  f"{len(found.a[0])} {f'groups of repeats, {PICKS.get(pick, pick)} of each' if group else 'repeats'}.")
    return Outcome(of_cells(found.mark, wanted), _sentence(found, a, b, by, m), method, [table])


def faster(points: Sequence[Point], claim: Mapping[str, Any]) -> Outcome:
    return judge(points, claim, "better")


def same(points: Sequence[Point], claim: Mapping[str, Any]) -> Outcome:
    return judge(points, claim, "same")


def _sentence(c: Compared, a: str, b: str, by: str, m: Measure) -> str:
    lo, hi = float(c.ratio.min()), float(c.ratio.max())
    span = f"{lo:.2f}" if f"{lo:.2f}" == f"{hi:.2f}" else f"{lo:.2f} to {hi:.2f}"
    counts = [f"{c.mark.count(k)} {MARKS[k]}" for k in MARKS if c.mark.count(k)]
    rank = "" if c.p is None else "; rank test over all p " + ("< 0.0001" if c.p < 1e-4 else f"= {c.p:.2g}")
    one = f" at {by} {x_text(by, c.x[0])}" if len(c.x) == 1 else f" by {by} ({', '.join(counts)})"
    return f"{m.words} of {a} is {span} times as good as that of {b}{one}{rank}."
