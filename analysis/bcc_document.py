# SPDX-License-Identifier: GPL-2.0-only
"""What bcc_probe saw, as a trace document (docs/SCHEMA.md). What kprobes at the edges of calls cannot tell is null, never 0."""

from __future__ import annotations

import ipaddress
import os
import platform
import time
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import __version__

Object = Dict[str, Any]

# bpf/causes.h, highest first.
TX_STATES = ("work", "device", "rwnd", "cwnd", "nagle", "cork", "pacing", "recovery", "sndbuf", "flight", "idle")
RX_STATES = ("work", "wait", "unread", "idle")

# Of these a person should hear: the same thresholds as those of `ipcstall attach`.
MIN_SHARE, MIN_NS = 0.01, 1_000_000

NOT_COVERED = (
    "stalls other than rwnd: cwnd, nagle, cork, pacing, recovery, sndbuf",
    "device, flight, idle, unread",
    "who is to blame; delayed ACKs; timeouts; run-queue delays",
    "calls that began before the session",
    "UDP, pipes and Unix sockets",
)


@dataclass(frozen=True)
class Span:
    ns: int = 0
    count: int = 0
    max_ns: int = 0

    def plus(self, ns: int) -> "Span":
        return Span(self.ns + ns, self.count + 1, max(self.max_ns, ns))


@dataclass(frozen=True)
class Side:
    """One direction: the calls of the last program seen in it."""
    work: Span = Span()
    asleep: Span = Span()
    bytes: Optional[int] = 0
    messages: Optional[int] = 0
    pid: Optional[int] = None
    comm: Optional[str] = None
    cgroup_id: Optional[int] = None


@dataclass(frozen=True)
class End:
    """One end of a TCP connection, from its first call on."""
    serial: int
    local: str
    remote: str
    netns: int
    inode: Optional[int]
    born_ns: int
    ended_ns: int
    closed: bool
    joined_late: bool
    rwnd_ns: int
    retransmits: int
    tx: Side
    rx: Side

    @property
    def lifetime_ns(self) -> int:
        return self.ended_ns - self.born_ns

    @property
    def caller(self) -> Side:
        return self.tx if self.tx.pid else self.rx


@dataclass(frozen=True)
class Counters:
    observed: int = 0
    unpaired: int = 0
    overflow: int = 0


@dataclass(frozen=True)
class Session:
    ends: Sequence[End]
    counters: Counters
    hooks: Sequence[Object]
    attached_to: Object = field(default_factory=dict)


def address(family_bytes: bytes, port: int) -> str:
    ip = ipaddress.ip_address(family_bytes)
    return f"[{ip}]:{port}" if ip.version == 6 else f"{ip}:{port}"


def _state(span: Optional[Span], resolution: str) -> Object:
    known: Object = {"ns": span.ns, "count": span.count, "max_ns": span.max_ns} if span else {"ns": None, "count": None, "max_ns": None}
    return {**known, "resolution": resolution if span else "unknown", "log2_hist": None}


def _ledger(names: Tuple[str, ...], seen: Dict[str, Object], lifetime_ns: int) -> Object:
    states = {name: seen.get(name, _state(None, "unknown")) for name in names}
    # What lies in the states that are not seen here is not known, nor which of them holds now.
    return {"lifetime_ns": lifetime_ns, "unaccounted_ns": None, "now": None, "states": states}


def _tx(e: End) -> Object:
    # The kernel's chronograph knows how long, not how often.
    rwnd = {"ns": min(e.rwnd_ns, e.lifetime_ns), "count": None, "max_ns": None, "resolution": "bounded", "log2_hist": None}
    return _ledger(TX_STATES, {"work": _state(e.tx.work, "bounded"), "rwnd": rwnd}, e.lifetime_ns)


def _rx(e: End) -> Object:
    return _ledger(RX_STATES, {"work": _state(e.rx.work, "bounded"), "wait": _state(e.rx.asleep, "exact")}, e.lifetime_ns)


def _beside(s: Side, blocked: Optional[Span]) -> Object:
    return {"bytes": s.bytes, "messages": s.messages, "blocked_ns": blocked.ns if blocked else None,
            "blocked_max_ns": blocked.max_ns if blocked else None, "runq_ns": None, "runq_max_ns": None, "wakeups": None,
            "pid": s.pid, "comm": s.comm, "others": None}


def _tcp(e: End) -> Object:
    return {"delack_ns": None, "delack_fires": None, "ack_debt_ns": None, "retransmits": e.retransmits, "timeouts": None,
            "zero_windows": None, "rtt_us": None}


def peers(ends: Sequence[End]) -> List[Optional[int]]:
    """The index of each one's other end, where that is on this host. Of two that had the same addresses one after the other, the one
    that lived at the same time."""
    by_names: Dict[Tuple[str, str], List[int]] = {}
    for i, e in enumerate(ends):
        by_names.setdefault((e.local, e.remote), []).append(i)

    def other(e: End) -> Optional[int]:
        there = [i for i in by_names.get((e.remote, e.local), ()) if _overlap(e, ends[i]) > 0]
        return max(there, key=lambda i: _overlap(e, ends[i])) if there else None

    return [other(e) for e in ends]


def _overlap(a: End, b: End) -> int:
    return min(a.ended_ns, b.ended_ns) - max(a.born_ns, b.born_ns)


def _endpoint(e: End, peer: Optional[int], ends: Sequence[End]) -> Object:
    return {"serial": e.serial, "proto": "tcp", "local": e.local, "remote": e.remote, "peer": -1 if peer is None else peer,
            "peer_serial": None if peer is None else ends[peer].serial, "inode": e.inode, "netns": e.netns, "born_ns": e.born_ns,
            "closed": e.closed, "joined_late": e.joined_late, "pid": e.caller.pid, "comm": e.caller.comm,
            "cgroup_id": e.caller.cgroup_id, "cgroup": None, "tx": _tx(e), "rx": _rx(e),
            "beside": {"tx": _beside(e.tx, e.tx.asleep), "rx": _beside(e.rx, None), "tcp": _tcp(e),
                       "drops": {"rcvbuf": None, "qdisc": None, "checksum": None, "other": None}, "queue": None},
            "blame": []}


def _finding(i: int, e: End) -> Object:
    share = min(1.0, e.rwnd_ns / e.lifetime_ns)
    text = f"{e.caller.comm}[{e.caller.pid}] on tcp {e.local} > {e.remote}: rwnd: {e.rwnd_ns / 1e6:.0f} ms in all ({share:.1%} of its time)"
    return {"endpoint": i, "cause": "rwnd", "ns": e.rwnd_ns, "count": None, "max_ns": None, "share": share, "blamed": None,
            "surety": "inferred from one end", "blamed_ns": None, "blamed_count": None, "text": text,
            "fix": "make the peer read sooner, or raise its SO_RCVBUF or tcp_rmem", "root": None}


def _findings(ends: Sequence[End]) -> List[Object]:
    late = [(i, e) for i, e in enumerate(ends) if e.rwnd_ns >= max(MIN_NS, MIN_SHARE * e.lifetime_ns, 1)]
    return [_finding(i, e) for i, e in sorted(late, key=lambda pair: -pair[1].rwnd_ns)]


def _verdict(findings: Sequence[Object]) -> str:
    said = findings[0]["text"] if findings else "no full window of a peer was seen"
    return f"{said}; backend bcc sees no other stall: ipcstall attach does"


def _counters(ends: Sequence[End], c: Counters) -> Object:
    unknown = ("missed", "blind", "contended", "dropped_tx_bytes", "dropped_rx_bytes", "existed_before", "asleep_before", "unlisted_processes", "stacks_lost")
    # There is no ring buffer that could lose a record, and no closed end is let go before the session's end.
    return {"observed": c.observed, "lost": 0, "unpaired": c.unpaired, "overflow": c.overflow, "dropped": 0, "events_lost": 0,
            "reused": 0, "opened": sum(not e.joined_late for e in ends), "closed": sum(e.closed for e in ends),
            **dict.fromkeys(unknown)}


def ledger(s: Session) -> Object:
    others, findings = peers(s.ends), _findings(s.ends)
    return {"endpoints": [_endpoint(e, other, s.ends) for e, other in zip(s.ends, others)], "findings": findings,
            "late_reader": None, "loss": None, "long_wait": None, "stall_ns": None, "unaccounted_ns": None, "verdict": _verdict(findings), **_counters(s.ends, s.counters)}


def _machine() -> Object:
    u = platform.uname()
    return {"hostname": u.node, "kernel": u.release, "kernel_build": u.version, "arch": u.machine, "cpus_online": os.cpu_count()}


def document(s: Session) -> Object:
    return {"schema": "ipcstall.trace", "version": 1, "tool": {"version": __version__, "git": None, "flavour": "bcc"}, "machine": _machine(),
            "written": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "trace": {"backend": "bcc", "why": None, "hooks": list(s.hooks), "not_covered": list(NOT_COVERED)},
            "attached_to": s.attached_to, "ledger": ledger(s), "stalls": None, "stalls_dropped": None}
