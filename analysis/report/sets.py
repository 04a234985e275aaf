# SPDX-License-Identifier: GPL-2.0-only
"""Which files belong in one section of a report: those that measured the same things over the same options."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, List, Optional, Sequence

from ..findings import Findings
from ..load import Loaded, lift_options
from ..model import Document, Timeline
from ..series import all_points, variables, varying


@dataclass
class Set:
    """One section's files, and what they say."""

    documents: List[Document] = field(default_factory=list)
    line: Optional[Timeline] = None
    found: Findings = field(default_factory=Findings)

    @property
    def paths(self) -> List[str]:
        return [d.path for d in self.documents] + ([self.line.path] if self.line is not None else [])


def _kind(d: Document) -> Any:
    """Equal for documents whose points can stand in one figure."""
    if d.kind == "trace":
        return d.path  # each session by itself
    tests = frozenset(p.test for p in d.points)
    if d.kind == "sweep":
        return d.kind, tests, frozenset(varying(d.points, variables(d.points)))
    return d.kind, tests, frozenset(p.size for p in d.points)


def split(loaded: Sequence[Loaded]) -> List[Set]:
    """The sets in the order of their first files; a timeline joins the trace of the same session."""
    sets: List[Set] = []
    keys: List[Any] = []
    for d in (x for x in loaded if isinstance(x, Document)):
        if _kind(d) in keys:
            sets[keys.index(_kind(d))].documents.append(d)
        else:
            keys.append(_kind(d))
            sets.append(Set([d]))
    for one in sets:
        lift_options(one.documents)
    for line in (x for x in loaded if isinstance(x, Timeline)):
        _join(sets, line)
    return sets


def _pids(line: Timeline) -> List[Any]:
    ends = line.header.get("endpoints")
    return [o.get("pid") for o in ends if isinstance(o, dict)] if isinstance(ends, list) else []


def _join(sets: List[Set], line: Timeline) -> None:
    pids = {p for p in _pids(line) if p is not None}
    for one in sets:
        seen = {e.pid for p in all_points(one.documents) for e in (p.ledger.endpoints if p.ledger else ())}
        if one.line is None and one.documents[0].kind == "trace" and pids and pids <= seen:
            one.line = line
            return
    sets.append(Set(line=line))
