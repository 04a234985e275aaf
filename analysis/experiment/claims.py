# SPDX-License-Identifier: GPL-2.0-only
"""Kinds of claims: a row each. A claim is what part of a hypothesis foretells; its test takes the points and says."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Sequence

from ..errors import data
from . import comb, compare, curve_tests, outliers
from .measures import calm
from .outcome import Outcome
from .plan import Plan
from ..model import Document, Point

Judge = Callable[[Sequence[Point], Mapping[str, Any]], Outcome]

KINDS: Dict[str, Judge] = {
    "faster": compare.faster,
    "same": compare.same,
    "peak": curve_tests.peak,
    "peak-moves": curve_tests.peak_moves,
    "steps": curve_tests.steps,
    "line": curve_tests.line,
    "trend": curve_tests.trend,
    "comb": comb.comb,
    "rare": outliers.rare,
    "one-sided": outliers.one_sided,
    "uncertainty": outliers.uncertainty,
}


def judge_all(plan: Plan, documents: Mapping[str, Document]) -> List[Outcome]:
    out = []
    for i, claim in enumerate(plan.claims):
        wanted = claim.get("run")
        if wanted is not None and wanted not in documents:
            raise data(f"{plan.path}: claims[{i}]", f"there is no run {wanted!r}")
        points = [p for name, d in documents.items() if wanted in (None, name) for p in calm(d.points)]
        try:
            out.append(KINDS[claim["kind"]](points, claim))
        except (KeyError, TypeError, ValueError) as e:
            raise data(f"{plan.path}: claims[{i}]", f"{claim['kind']}: {type(e).__name__} {e}", "see docs/experiments/README.md for what this kind needs") from None
    return out
