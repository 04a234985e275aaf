# SPDX-License-Identifier: GPL-2.0-only
"""Does a figure, or one figure over another of the same point, lie within stated bounds at every value of a variable?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from ..measures import Measure, chosen, measure, x_text
from ..model import Point
from ..series import as_number, plain
from ..tables import Table
from .noise import interval, spread
from .outcome import Outcome, UNDECIDED, of_cells

ALPHA = 0.05
WORDS = {"better": "within", "worse": "outside", "unclear": "unclear"}


def _ratio(m: Measure, beside: Measure) -> Measure:
    def get(p: Point) -> Optional[float]:
        a, b = m.get(p), beside.get(p)
        return a / b if a is not None and b else None

    return replace(m, words=f"{m.words} over {beside.words}", get=get, text=lambda v: "-" if v is None else f"{v:.2f}")


def _mark(lo: float, hi: float, low: float, high: float) -> str:
    if not np.isfinite(lo):
        return "unclear"
    return "better" if low <= lo and hi <= high else "worse" if hi < low or lo > high else "unclear"


def level(points: Sequence[Point], claim: Mapping[str, Any]) -> Outcome:
    m, by = measure(claim, str(claim["says"])), str(claim.get("by", "size"))
    low, high = (float(v) for v in claim["between"])
    if "beside" in claim:
        m = _ratio(m, measure({"metric": claim["beside"]}, str(claim["says"])))
    method = (f"moderated t interval (95 % for all {by}s at once) of the mean logarithm, repeats as units; it must lie within {m.text(low)} to {m.text(high)}")
    found = _cells(chosen(points, claim.get("where")), by, m, str(claim.get("unit", "repeat")))
    if not found:
        return Outcome(UNDECIDED, "there are too few points to test.", method)
    names, values = list(found), [np.log(list(v.values())) for v in found.values()]
    mean = np.asarray([v.mean() for v in values])
    se, dof = spread(values)
    lo, hi = (np.exp(v) for v in interval(mean, se, dof, ALPHA, len(names)))
    marks = [_mark(lo[i], hi[i], low, high) for i in range(len(names))]
    rows = [[names[i], m.text(float(np.exp(mean[i]))), f"{m.text(float(lo[i]))} to {m.text(float(hi[i]))}", WORDS[marks[i]]] for i in range(len(names))]
    table = Table(m.words, [by, "mean", "interval", "test"], rows, f"{len(values[0])} repeats; foretold: {m.text(low)} to {m.text(high)}.")
    span = " to ".join(dict.fromkeys((m.text(float(np.exp(mean.min()))), m.text(float(np.exp(mean.max()))))))
    counts = ", ".join(f"{marks.count(k)} {w}" for k, w in WORDS.items() if marks.count(k))
    return Outcome(of_cells(marks, "better"), f"{m.words} is {span} by {by} ({counts} {m.text(low)} to {m.text(high)}).", method, [table])


def _cells(points: Sequence[Point], by: str, m: Measure, unit: str) -> "dict[str, dict[str, float]]":
    """Of numbers in their order, of words as they come."""
    out: "dict[str, dict[str, float]]" = {}
    for p in points:
        value, v = p.value(by), m.get(p)
        if value is None or v is None or v <= 0:
            continue
        x = as_number(value)
        out.setdefault(x_text(by, x) if x is not None else plain(value), {})[plain(p.value(unit))] = v
    return out
