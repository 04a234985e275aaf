# SPDX-License-Identifier: GPL-2.0-only
"""What a file holds, typed. Unknown is None, never 0."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Value = Union[str, int, float, bool, None]

# Order of drawing: what moves data first, then the stalls, then the quiet states.
TX_STATES = ("work", "device", "flight", "nagle", "cork", "rwnd", "cwnd", "sndbuf", "pacing", "recovery", "idle")
RX_STATES = ("work", "unread", "wait", "idle")
STALL_STATES = frozenset(("rwnd", "cwnd", "nagle", "cork", "pacing", "recovery", "sndbuf"))


@dataclass(frozen=True)
class Latency:
    """Order statistics of one point, in nanoseconds."""

    values: Mapping[str, Optional[float]]

    def get(self, name: str) -> Optional[float]:
        return self.values.get(name)

    @property
    def median(self) -> Optional[float]:
        return self.values.get("median")


@dataclass(frozen=True)
class Histogram:
    """Counts of values in [low, high); the bins are sorted and do not overlap."""

    low: Floats
    high: Floats
    count: Floats

    @property
    def total(self) -> float:
        return float(self.count.sum())


@dataclass(frozen=True)
class Throughput:
    bytes_per_s: Optional[float]
    lo: Optional[float] = None
    hi: Optional[float] = None
    confidence: Optional[float] = None
    trials: Tuple[float, ...] = ()
    trial_ns: Tuple[float, ...] = ()  # how long each was; empty where the file does not say


@dataclass(frozen=True)
class State:
    ns: Optional[float]
    count: Optional[float]
    max_ns: Optional[float]


@dataclass(frozen=True)
class Side:
    """One ledger of one endpoint: its lifetime divided into states."""

    lifetime_ns: Optional[float]
    states: Mapping[str, State]

    @property
    def stall_ns(self) -> float:
        return sum(s.ns or 0.0 for name, s in self.states.items() if name in STALL_STATES)


@dataclass(frozen=True)
class Blame:
    """Part of a stall that someone else ended, or kept up."""

    state: str
    by: str
    ns: float


@dataclass(frozen=True)
class Endpoint:
    role: str
    proto: str
    local: str
    remote: str
    pid: Optional[int]
    comm: str
    tx: Optional[Side]
    rx: Optional[Side]
    beside: Mapping[str, Any] = field(default_factory=dict)
    blame: Tuple[Blame, ...] = ()

    @property
    def name(self) -> str:
        """Who it is, as short as it can be said."""
        who = " ".join(w for w in (self.role, self.comm) if w) + (f" ({self.pid})" if self.pid else "")
        return who or "nobody seen"

    @property
    def where(self) -> str:
        return f"{self.proto} {self.local} > {self.remote}" if self.local and self.remote else self.proto


@dataclass(frozen=True)
class Ledger:
    endpoints: Tuple[Endpoint, ...]
    stall_ns: Optional[float]
    stall_per_message_ns: Optional[float]
    normalised_stall: Optional[float]
    unaccounted_ns: Optional[float]
    verdict: str
    outcome: str = ""  # stalled, waiting, healthy
    card: Mapping[str, Any] = field(default_factory=dict)  # the answer in a few words: head, where, why, fix, next


@dataclass(frozen=True)
class Calls:
    """Of a remote call: what the client's library took, and a plain message beside it."""

    connect_ns: Optional[float]
    first_call_ns: Optional[float]
    marshal_ns: Optional[float]
    unmarshal_ns: Optional[float]
    overhead: Optional[float]


@dataclass(frozen=True)
class Point:
    mode: str
    test: str
    size: Optional[int]
    placement: str
    n: Optional[int]
    elapsed_ns: Optional[float]
    messages: Optional[float]
    bytes: Optional[float]
    lost: Optional[float]
    latency: Optional[Latency]
    histogram: Optional[Histogram]
    throughput: Optional[Throughput]
    ledger: Optional[Ledger]
    warnings: Tuple[str, ...] = ()
    vars: Mapping[str, Value] = field(default_factory=dict)
    repeat: int = 0
    source: str = ""
    calls: Optional[Calls] = None

    @property
    def held_share(self) -> Optional[float]:
        """The time in which one of the ends that are talked to in turn held data back."""
        if self.ledger is None or not self.elapsed_ns or not self.ledger.endpoints:
            return None
        return sum(e.tx.stall_ns for e in self.ledger.endpoints if e.tx is not None) / self.elapsed_ns

    @property
    def unrated(self) -> bool:
        """A throughput run that was over too soon to have a rate."""
        return self.throughput is not None and self.throughput.bytes_per_s is None

    @property
    def bytes_per_s(self) -> Optional[float]:
        if self.throughput is not None:
            return self.throughput.bytes_per_s
        if self.bytes and self.elapsed_ns:
            return self.bytes * 1e9 / self.elapsed_ns
        return None

    @property
    def ns_per_message(self) -> Optional[float]:
        """What one message costs from start to start: elapsed time over messages, or, lacking those, size over throughput."""
        if self.elapsed_ns and self.messages:
            return self.elapsed_ns / self.messages
        rate = self.bytes_per_s
        return self.size * 1e9 / rate if rate and self.size else None

    @property
    def stall_per_message_ns(self) -> Optional[float]:
        if self.ledger is None:
            return None
        if self.ledger.stall_per_message_ns is not None:
            return self.ledger.stall_per_message_ns
        if self.ledger.stall_ns is not None and self.messages:
            return self.ledger.stall_ns / self.messages
        return None

    @property
    def normalised_stall(self) -> Optional[float]:
        """Stalled share of the time."""
        if self.ledger is None:
            return None
        if self.ledger.normalised_stall is not None:
            return self.ledger.normalised_stall
        if self.ledger.stall_ns is not None and self.elapsed_ns:
            return self.ledger.stall_ns / self.elapsed_ns
        return None

    def value(self, name: str) -> Value:
        """A variable of the sweep, or a property every point has. A connect has no size, whatever the sweep varied."""
        if name in self.vars and (name, self.test) != ("size", "connect"):
            return self.vars[name]
        if name in ("mode", "test", "size", "placement", "source", "repeat"):
            found: Value = getattr(self, name)
            return found
        return None


@dataclass
class Document:
    """A loaded result or sweep, with what the loader had to remark on."""

    path: str
    kind: str
    version: int
    header: Dict[str, Any]
    points: List[Point]
    remarks: List[str] = field(default_factory=list)
    warnings: List[str] = field(default_factory=list)
    digest: str = ""
    length: int = 0

    @property
    def machine(self) -> Dict[str, Any]:
        found = self.header.get("machine")
        return found if isinstance(found, dict) else {}


@dataclass(frozen=True)
class Span:
    """An endpoint's ledger was in `state` from `start` to `end` (ns)."""

    ep: str
    ledger: str
    state: str
    start: float
    end: float


@dataclass(frozen=True)
class Mark:
    """Something that happened at once: a message, a segment, an ACK."""

    t: float
    ep: str
    event: str
    bytes: float


@dataclass
class Timeline:
    path: str
    header: Dict[str, Any]
    endpoints: Dict[str, str]
    spans: List[Span]
    marks: List[Mark]
    remarks: List[str] = field(default_factory=list)
    lost: Optional[int] = None
    readers: Dict[str, str] = field(default_factory=dict)  # of a pipe: its writer's name is the endpoint's

    def name(self, ep: str, ledger: str) -> str:
        """Whose ledger it is."""
        return (ledger == "rx" and self.readers.get(ep)) or self.endpoints.get(ep) or f"endpoint {ep}"

    @property
    def start(self) -> float:
        return min([s.start for s in self.spans] + [m.t for m in self.marks])

    @property
    def end(self) -> float:
        return max([s.end for s in self.spans] + [m.t for m in self.marks])
