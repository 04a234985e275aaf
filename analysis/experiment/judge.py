# SPDX-License-Identifier: GPL-2.0-only
"""Every claim of a plan, judged on the documents of its runs."""

from __future__ import annotations

from typing import List, Mapping

from ..errors import data
from ..measures import calm
from ..model import Document
from .claims import KINDS
from .outcome import Outcome
from .plan import Plan


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
