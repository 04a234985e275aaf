# SPDX-License-Identifier: GPL-2.0-only
"""What a test makes of a claim, and what the claims make of a hypothesis."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import List, Sequence

from ..tables import Table

SUPPORTED, REFUTED, PARTLY, UNDECIDED = "supported", "refuted", "partly", "not decided"
NO_DIFFERENCE = "no difference"  # beyond the margin that the claim states


@dataclass(frozen=True)
class Outcome:
    verdict: str
    finding: str  # the figures, in one sentence
    method: str
    tables: List[Table] = field(default_factory=list)


def combine(verdicts: Sequence[str]) -> str:
    """A hypothesis of several parts: the whole is undecided while an undecided part could still make it another answer."""
    found = set(verdicts)
    if len(found) == 1:
        return next(iter(found))
    if found <= {REFUTED, NO_DIFFERENCE}:
        return REFUTED
    return PARTLY if PARTLY in found or (SUPPORTED in found and found & {REFUTED, NO_DIFFERENCE}) else UNDECIDED


def of_cells(marks: Sequence[str], wanted: str) -> str:
    """From the verdict on each cell (better, worse, same, unclear): one of the claim that all are `wanted`."""
    good, unclear = marks.count(wanted), marks.count("unclear")
    bad = len(marks) - good - unclear
    if good == len(marks):
        return SUPPORTED
    if wanted == "better" and marks and marks.count("same") == len(marks):
        return NO_DIFFERENCE
    if bad and good:
        return PARTLY
    if bad:
        return REFUTED if not unclear else UNDECIDED
    return UNDECIDED
