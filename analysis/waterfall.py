# SPDX-License-Identifier: GPL-2.0-only
"""Where a message's time goes on its way from one end to the other, layer by layer, from the timeline of both.

A message is what one send call took. Its stations, as far as its transport has them and the hooks saw them:

    began    its send call begins
    driver   a driver is given the packet with its last byte
    arrived  TCP at the other end has that packet; of datagrams and Unix sockets: their reader is told
    ran      the reader, asleep until then, runs
    read     the receive call that brings the last byte returns
    answer   the reader's own next send call begins

Bytes are matched by their number in the stream, datagrams by their place in the row. Where that is not sure (steps were lost, a
segment was sent again, a datagram did not arrive) the messages from there on are left out, and a remark says so. A way begins at the
first station that is known: `rawtp` sees no send call of UDP's and Unix sockets' begin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from .model import Floats, Timeline

STATIONS: Sequence[Tuple[str, str]] = (
    ("driver", "send call and queue, up to the driver"), ("arrived", "driver, up to the other end's TCP or socket"),
    ("ran", "wake-up of the sleeping reader"), ("read", "read call of that reader"),
)
ANSWER = "the reader's own time before it answers"
AWAKE = "wait for a busy reader, and its read call"
BOUNDED = ("udp", "unix-dgram", "unix-seqpacket")  # messages keep their bounds
OWN = "control"  # the benchmark's own pipes


@dataclass(frozen=True)
class Layer:
    """From the station before to this one."""

    name: str
    start: float
    end: float

    @property
    def ns(self) -> float:
        return self.end - self.start


@dataclass(frozen=True)
class Message:
    bytes: float
    layers: Tuple[Layer, ...]
    answer: Optional[Layer]
    from_call: bool  # its send call's beginning was seen

    @property
    def total(self) -> float:
        return self.layers[-1].end - self.layers[0].start


@dataclass
class Way:
    """All messages from one end to the other, in the order of their send calls."""

    sender: str
    reader: str
    messages: List[Message]
    remarks: List[str]

    def layers(self) -> List[str]:
        """Those that any message has, in the order of the way."""
        there = {x.name for m in self.messages for x in m.layers}
        return [text for text in (*(text for _, text in STATIONS), AWAKE) if text in there]

    def of(self, layer: str) -> Floats:
        return np.array([x.ns for m in self.messages for x in m.layers if x.name == layer])

    def totals(self) -> Floats:
        return np.array([m.total for m in self.messages])

    def answers(self) -> Floats:
        return np.array([m.answer.ns for m in self.messages if m.answer is not None])

    def at(self, quantile: float) -> Message:
        """The message at this rank of the total times: one that was sent, not a sum of quantiles."""
        order = np.argsort(self.totals(), kind="stable")
        return self.messages[int(order[min(int(quantile * len(order)), len(order) - 1)])]


class End:
    """One endpoint's events by kind, with what they had moved together."""

    def __init__(self, line: Timeline, ep: str):
        self._times: Dict[str, Floats] = {}
        self._sums: Dict[str, Floats] = {}
        for event in ("message", "read", "segment", "transmit", "arrival", "wakeup", "retransmit"):
            marks = [m for m in line.marks if m.ep == ep and m.event == event]
            self._times[event] = np.array([m.t for m in marks])
            self._sums[event] = np.cumsum([m.bytes for m in marks])
        self.calls = np.array(sorted(s.start for s in line.spans if s.ep == ep and s.ledger == "tx" and s.state == "work"))

    def times(self, event: str) -> Floats:
        return self._times[event]

    def moved(self, event: str) -> Floats:
        return self._sums[event]

    def when(self, event: str, byte: float) -> Optional[float]:
        """When that many bytes had been moved by such events."""
        i = int(np.searchsorted(self._sums[event], byte))
        return float(self._times[event][i]) if i < len(self._times[event]) else None

    def last(self, event: str, after: float, until: float) -> Optional[float]:
        i = int(np.searchsorted(self._times[event], until, side="right")) - 1
        return float(self._times[event][i]) if i >= 0 and self._times[event][i] > after else None


def ways(line: Timeline) -> List[Way]:
    """Both directions of every pair of ends that sent something; the busiest first."""
    found = []
    for sender, reader, proto in _pairs(line):
        way = _way(line, sender, reader, proto)
        if way.messages or way.remarks:
            found.append(way)
    return sorted(found, key=lambda w: -len(w.messages))


def _pairs(line: Timeline) -> List[Tuple[str, str, str]]:
    """A pipe is one endpoint: its own peer."""
    out = []
    ends = line.header.get("endpoints")
    for o in ends if isinstance(ends, list) else []:
        ep, peer, proto = (o.get(k) if isinstance(o, dict) else None for k in ("ep", "peer", "proto"))
        if proto == "pipe":
            peer = ep
        if isinstance(o, dict) and o.get("role") != OWN and isinstance(ep, (str, int)) and isinstance(peer, (str, int)) and isinstance(proto, str):
            out.append((str(ep), str(peer), proto))
    return out


def _way(line: Timeline, sender: str, reader: str, proto: str) -> Way:
    way = Way(sender, reader, [], [])
    a = End(line, sender)
    b = a if reader == sender else End(line, reader)
    if not len(a.times("message")):
        return way
    wrong = _cannot_match(line, a, b, proto)
    if wrong:
        way.remarks.append(wrong)
        return way
    known = _known_before_resent(a, way)
    for i in range(known):
        message = _message(a, b, proto, i)
        if message is not None:
            way.messages.append(message)
    if not all(m.from_call for m in way.messages):
        way.remarks.append("where a send call began was not seen, its message's way begins at the first station that was")
    return way


def _cannot_match(line: Timeline, a: End, b: End, proto: str) -> str:
    if line.lost:
        return "steps were lost, so that bytes cannot be told apart; record for a shorter time, or give a larger --timeline-max"
    sent, came = a.moved("message")[-1], b.moved("read")[-1] if len(b.moved("read")) else 0.0
    if came > sent:
        return "more was read than was sent: the recording began in the middle of a conversation"
    if proto in BOUNDED and len(a.times("message")) != len(b.times("read")):
        return "not every datagram was read, so that which is which cannot be told"
    return ""


def _known_before_resent(a: End, way: Way) -> int:
    """How many messages were sent before a segment was sent again, whose bytes would count twice."""
    again = a.times("retransmit")
    if not len(again):
        return len(a.times("message"))
    known = int(np.searchsorted(a.times("message"), again[0]))
    way.remarks.append(f"from the first retransmission on nothing is told: {len(a.times('message')) - known} of {len(a.times('message'))} messages")
    return known


def _first(times: Floats, after: float, until: float) -> Optional[float]:
    i = int(np.searchsorted(times, after, side="right"))
    return float(times[i]) if i < len(times) and times[i] <= until else None


def _message(a: End, b: End, proto: str, i: int) -> Optional[Message]:
    byte, left = float(a.moved("message")[i]), float(a.times("message")[i])
    before, bytes_before = (float(a.times("message")[i - 1]), float(a.moved("message")[i - 1])) if i else (-np.inf, 0.0)
    read = float(b.times("read")[i]) if proto in BOUNDED else b.when("read", byte)
    if read is None:
        return None
    began = _first(a.calls, before, left)
    arrived = _arrived(a, b, proto, i, before)
    driver = _driver(a, proto, i, before, arrived)
    there = next((t for t in (arrived, driver, began) if t is not None), before)
    layers = _layers({"began": began, "driver": driver, "arrived": arrived, "ran": b.last("wakeup", there, read), "read": read})
    return Message(byte - bytes_before, layers, None if a is b else _answer(b, read), began is not None) if layers else None


def _arrived(a: End, b: End, proto: str, i: int, before: float) -> Optional[float]:
    if proto == "tcp":
        return b.when("segment", float(a.moved("message")[i]))
    if proto in BOUNDED:
        return float(b.times("arrival")[i]) if len(b.times("arrival")) == len(a.times("message")) else None
    return b.last("arrival", before, float(a.times("message")[i]))  # a Unix stream's bytes arrive in the call that sends them


def _driver(a: End, proto: str, i: int, before: float, arrived: Optional[float]) -> Optional[float]:
    if proto == "tcp":
        return a.when("transmit", float(a.moved("message")[i]))
    if len(a.times("transmit")) == len(a.times("message")):
        return float(a.times("transmit")[i])
    return None if arrived is None else a.last("transmit", before, arrived)  # in pieces: its last


def _layers(at: Dict[str, Optional[float]]) -> Tuple[Layer, ...]:
    """A station that is not known, or not in its order, is left out: what it divides stays one."""
    layers: List[Layer] = []
    since, read = at["began"], at["read"]
    for station, name in STATIONS:
        t = at[station]
        if t is None or read is None or t > read or (since is not None and t < since):
            continue
        if since is not None:
            layers.append(Layer(AWAKE if station == "read" and at["ran"] is None else name, since, t))
        since = t
    return tuple(layers)


def _answer(b: End, read: float) -> Optional[Layer]:
    """None where the reader reads on before it sends anything."""
    began, more = _first(b.calls, read, np.inf), _first(b.times("read"), read, np.inf)
    return None if began is None or (more is not None and more < began) else Layer(ANSWER, read, began)


def statistics(ns: Floats) -> Dict[str, Any]:
    """What a row of the table says of a layer."""
    q = np.quantile(ns, (0.5, 0.95, 0.99))
    return {"n": len(ns), "min": float(ns.min()), "median": float(q[0]), "p95": float(q[1]), "p99": float(q[2]), "max": float(ns.max())}
