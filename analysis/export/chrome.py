# SPDX-License-Identifier: GPL-2.0-only
"""Chrome's trace-event JSON, which Perfetto's viewer opens too: a process per endpoint, a track per ledger."""

from __future__ import annotations

import json
from typing import Any, Dict, List

from ..model import STALL_STATES, Timeline

Event = Dict[str, Any]
TRACKS = {"tx": 1, "rx": 2, "events": 3}


def to_chrome(line: Timeline) -> bytes:
    names = sorted({s.ep for s in line.spans} | {m.ep for m in line.marks})
    pids = {ep: i + 1 for i, ep in enumerate(names)}
    events = _names(line, pids)
    for s in line.spans:
        kind = "stall" if s.state in STALL_STATES else "state"
        events.append({"ph": "X", "pid": pids[s.ep], "tid": TRACKS[s.ledger], "ts": s.start / 1e3,
                       "dur": (s.end - s.start) / 1e3, "name": s.state, "cat": kind})
    for m in line.marks:
        events.append({"ph": "i", "s": "t", "pid": pids[m.ep], "tid": TRACKS["events"], "ts": m.t / 1e3, "name": m.event,
                       "args": {"bytes": m.bytes}})
    out = {"displayTimeUnit": "ns", "otherData": {"remarks": line.remarks, "lost": line.lost}, "traceEvents": events}
    return json.dumps(out, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def _names(line: Timeline, pids: Dict[str, int]) -> List[Event]:
    out: List[Event] = []
    for ep, pid in pids.items():
        out.append({"ph": "M", "pid": pid, "tid": 0, "name": "process_name", "args": {"name": line.endpoints.get(ep) or f"endpoint {ep}"}})
        out.extend({"ph": "M", "pid": pid, "tid": tid, "name": "thread_name", "args": {"name": name}} for name, tid in TRACKS.items())
    return out
