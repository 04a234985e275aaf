# SPDX-License-Identifier: GPL-2.0-only
"""Folded stacks for flame graphs: who kept whom waiting, in microseconds.

A stall of one end is laid over what the other end was doing meanwhile, so that the flame above
'client;tx;nagle' is split by the peer's states."""

from __future__ import annotations

from bisect import bisect_right
from typing import Dict, List, Mapping, Optional, Sequence

from ..model import Document, STALL_STATES, Span, Timeline
from ..stacks import chains


def of_trace(doc: Document) -> bytes:
    """The same of a trace document's single stalls, with call stacks where they were recorded (analysis/stacks.py)."""
    return _rows({";".join(_safe(frame) for frame in chain): ns for chain, ns in chains(doc).items()})


def _safe(frame: str) -> str:
    """What separates frames may not stand within one."""
    return frame.replace(";", "_").replace(" ", "_")


def _rows(total: Mapping[str, float]) -> bytes:
    rows = [f"{stack} {ns / 1e3:.0f}" for stack, ns in sorted(total.items()) if ns >= 500]
    return ("\n".join(rows) + "\n").encode() if rows else b""


def to_folded(line: Timeline) -> bytes:
    ends = sorted({s.ep for s in line.spans})
    total: Dict[str, float] = {}
    for ep in ends:
        peer = _peer(ends, ep)
        theirs = [s for s in line.spans if s.ep == peer and s.ledger == "rx"]
        starts = [s.start for s in theirs]
        for span in (s for s in line.spans if s.ep == ep and s.ledger == "tx" and s.state in STALL_STATES):
            stack = f"{_frame(line, ep)};tx;{span.state}"
            left = span.end - span.start
            for state, ns in _during(theirs, starts, span).items():
                key = f"{stack};{_frame(line, peer)};rx;{state}"
                total[key] = total.get(key, 0.0) + ns
                left -= ns
            if left > 0:
                total[stack] = total.get(stack, 0.0) + left
    return _rows(total)


def _peer(ends: Sequence[str], ep: str) -> Optional[str]:
    """The other end, where there are just two."""
    others: List[str] = [e for e in ends if e != ep]
    return others[0] if len(others) == 1 else None


def _frame(line: Timeline, ep: Optional[str]) -> str:
    return (line.endpoints.get(ep or "") or f"endpoint {ep}").replace(";", ",").replace(" ", "_")


def _during(spans: Sequence[Span], starts: Sequence[float], during: Span) -> Dict[str, float]:
    """Time by state within `during`; spans are in order and do not overlap, so the search starts where it matters."""
    out: Dict[str, float] = {}
    i = max(bisect_right(starts, during.start) - 1, 0)
    while i < len(spans) and spans[i].start < during.end:
        s = spans[i]
        ns = min(s.end, during.end) - max(s.start, during.start)
        if ns > 0:
            out[s.state] = out.get(s.state, 0.0) + ns
        i += 1
    return out
