# SPDX-License-Identifier: GPL-2.0-only
"""A timeline file: a header, then state changes and marks in order of time, then an end record.

    {"schema":"ipcstall.timeline","version":1,"machine":{..},"endpoints":[{"ep":"1","role":"client","comm":"x","pid":7}]}
    {"t":1000,"ep":"1","ledger":"tx","state":"nagle"}       from t on, this ledger is in this state
    {"t":1400,"ep":"1","ledger":"tx","state":null}          the state is over and none is known to follow: closed, or lost
    {"t":1500,"ep":"1","event":"ack","bytes":0}             something happened at t
    {"end":{"t":9000,"events":2,"lost":0,"complete":true}}
"""

from __future__ import annotations

from typing import Any, Dict, List, Sequence, Tuple

from . import fields
from .errors import data
from .model import Mark, RX_STATES, Span, Timeline, TX_STATES

STATES = {"tx": TX_STATES, "rx": RX_STATES}
Open = Dict[Tuple[str, str], Tuple[str, float]]


def read_timeline(path: str, header: fields.Object, rows: Sequence[Tuple[int, Any]], remarks: List[str]) -> Timeline:
    line = Timeline(path, header, _labels(header, path), [], [], remarks, readers=_labels(header, path, "reader_"))
    open_: Open = {}
    last, end = 0.0, None
    for number, row in rows:
        where = f"{path}: line {number}"
        item = fields.obj(row, where)
        if "end" in item:
            end = fields.sub(item, "end", where)
            continue
        last = _one(line, open_, item, where, last)
    _finish(line, open_, end, last, path)
    return line


def _labels(header: fields.Object, path: str, of: str = "") -> Dict[str, str]:
    """By endpoint, where it is and whose: of "reader_", those alone that another program reads."""
    out = {}
    for i, item in enumerate(fields.array(header, "endpoints", path)):
        where = f"{path}: endpoints[{i}]"
        o = fields.obj(item, where)
        if of and of + "comm" not in o:
            continue
        parts = [fields.text(o, "role", where), fields.text(o, of + "comm", where)]
        pid = fields.whole(o, of + "pid", where)
        out[str(o.get("ep", i))] = " ".join(p for p in parts if p) + (f" ({pid})" if pid else "")
    return out


def _one(line: Timeline, open_: Open, item: fields.Object, where: str, last: float) -> float:
    t = fields.number(item, "t", where)
    if t is None:
        raise data(where, "a line without a time 't'")
    if t < last:
        raise data(where, f"time runs backwards: {t:.0f} after {last:.0f}", "sort the lines by 't'")
    ep = str(item.get("ep", "?"))
    if "event" in item:
        line.marks.append(Mark(t, ep, fields.text(item, "event", where), fields.number(item, "bytes", where) or 0.0))
    else:
        _change(line, open_, ep, item, t, where)
    return t


def _change(line: Timeline, open_: Open, ep: str, item: fields.Object, t: float, where: str) -> None:
    if item.get("state", "") is None:
        return _close(line, open_, (ep, fields.text(item, "ledger", where)), t)
    ledger, state = fields.text(item, "ledger", where), fields.text(item, "state", where)
    if ledger not in STATES or state not in STATES[ledger]:
        raise data(where, f"no ledger {ledger!r} with a state {state!r}", "see docs/SCHEMA.md for the states")
    _close(line, open_, (ep, ledger), t)
    open_[(ep, ledger)] = (state, t)


def _close(line: Timeline, open_: Open, key: Tuple[str, str], t: float) -> None:
    if key in open_:
        state, start = open_.pop(key)
        if t > start:
            line.spans.append(Span(key[0], key[1], state, start, t))


def _finish(line: Timeline, open_: Open, end: Any, last: float, path: str) -> None:
    if end is None:
        line.remarks.append("interrupted: the file has no end record; the last states end at the last line")
    else:
        last = max(last, fields.number(end, "t", path) or last)
        line.lost = fields.whole(end, "lost", path)
        if line.lost:
            line.remarks.append(f"{line.lost} events were lost while recording; states may be too long")
        elif end.get("complete") is False:
            line.remarks.append("interrupted: the recording did not end in good order")
    for key in list(open_):
        _close(line, open_, key, last)
    if not line.spans and not line.marks:
        raise data(path, "the timeline holds no states and no events", "record it while there is traffic")
    line.spans.sort(key=lambda s: (s.ep, s.ledger, s.start))
