# SPDX-License-Identifier: GPL-2.0-only
"""Before a run: how many repeats decide its claims. A few are made first, and only their scatter is used, never their figures.

With an interval no wider than the margin every comparison is decided: it cannot hold both no difference and one beyond the margin."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Mapping, Sequence

import numpy as np

from ..errors import NOISY, AnalysisError, data
from ..load import load
from ..measures import chosen, disturbed, measure
from ..model import Document, Floats, Point
from ..output import write
from ..stats.distributions import chi2_above, t_above
from .compare import ALPHA, MARGIN, cells
from .noise import spread
from .plan import Plan

MOST_DISTURBED = 0.5  # of the pilot's points: beyond that the machine answers for itself, not for the transports
SURE = 0.9  # a few repeats know their scatter badly: reckoned with is the bound that it exceeds this seldom
COMPARES = ("faster", "same")


def needed(points: Sequence[Point], claim: Mapping[str, Any], most: int) -> int:
    """The fewest repeats with which each cell's interval, all at once, is no wider than the margin."""
    m, by, unit = measure(claim, str(claim["says"])), str(claim.get("by", "size")), str(claim.get("unit", "repeat"))
    here = chosen(points, claim.get("where"))
    a, b = cells(chosen(here, claim.get("of")), by, m, unit), cells(chosen(here, claim.get("than")), by, m, unit)
    logs = [np.asarray([np.log(a[x][r] / b[x][r]) for r in a[x] if r in b[x]]) for x in a if x in b]
    logs = [v for v in logs if len(v) > 1]
    if not logs:
        return most
    se, _ = spread(logs)
    worst = _bound(logs) * float(max(s * np.sqrt(len(v)) for s, v in zip(se, logs)))
    margin = float(np.log1p(float(claim.get("margin", MARGIN))))
    return next((n for n in range(3, most) if 2.0 * _reach(n, len(logs)) * worst / np.sqrt(n) <= margin), most)


def _bound(logs: Sequence[Floats]) -> float:
    """How many times as much the scatter may be as that which was seen."""
    dof = sum(len(v) - 1 for v in logs)
    return float(np.sqrt(dof / chi2_above(SURE, dof)))


def _reach(n: int, tests: int) -> float:
    return float(t_above(ALPHA / (2.0 * tests), n + 3.0))


def _claims(plan: Plan, run: str) -> List[Mapping[str, Any]]:
    return [c for c in plan.claims if c["kind"] in COMPARES and c.get("run") in (None, run)]


def reckon(plan: Plan, directory: str, run: str, quick: bool) -> int:
    found = load(os.path.join(directory, run + ".pilot.ndjson"))
    if not isinstance(found, Document):
        raise data(found.path, "holds a timeline, not a sweep")
    spec: Dict[str, Any] = next((r.repeats for r in plan.runs if r.name == run), {})
    pilot, most = int(spec.get("pilot", 3)), int(spec.get("most", 30))
    bad = [p for p in found.points if disturbed(p)]
    if len(bad) > MOST_DISTURBED * len(found.points):
        why = next(w for p in bad for w in p.warnings)
        raise AnalysisError(NOISY, f"{plan.name}: the machine is disturbed: {len(bad)} of {len(found.points)} points of the pilot: {why}; make it quiet and begin again")
    wanted = max([pilot, *(needed(found.points, c, most) for c in _claims(plan, run))])
    n = min(wanted, max(pilot, most // 3)) if quick else wanted
    write(os.path.join(directory, run + ".repeats"), f"{n}\n".encode())
    write("-", f"pilot of {run}: {n} repeats{' (quick form: fewer than the ' + str(wanted) + ' that decide)' if n < wanted else ''}\n".encode())
    return 0
