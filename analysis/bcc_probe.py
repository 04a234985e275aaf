#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A smaller `ipcstall attach` on Python bcc: TCP only, the same JSON. See docs/BCC.md."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import importlib
import json
import os
import re
import signal
import sys
import tempfile
import threading
import time
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

if not __package__:  # started as a file: the package is the folder it lies in
    sys.path[0], __package__ = os.path.split(os.path.dirname(os.path.abspath(__file__)))
    importlib.import_module(__package__)

from . import options
from .bcc_document import Counters, End, Session, Side, Span, address, document
from .errors import AnalysisError, BAD_USAGE, NO_FEATURE, NO_PERM
from .output import say, write
from .text import clean

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bcc_probe.c")
TX, RX = 0, 1
COUNTERS = ("observed", "unpaired", "overflow")
INSTEAD = "ipcstall attach needs no bcc"


class Hook(NamedTuple):
    point: str
    kind: str
    program: str
    feeds: str
    needed: bool = True


HOOKS = (
    Hook("tcp_sendmsg", "kprobe", "send_begins", "who sends; the beginning of `work` of the tx ledger"),
    Hook("tcp_sendmsg", "kretprobe", "call_ends", "bytes, messages, the end of `work`"),
    Hook("tcp_sendpage", "kprobe", "send_begins", "the same of sendfile() before Linux 6.5", needed=False),
    Hook("tcp_sendpage", "kretprobe", "call_ends", "the same of sendfile() before Linux 6.5", needed=False),
    Hook("tcp_recvmsg", "kprobe", "receive_begins", "who receives; the beginning of `work` of the rx ledger"),
    Hook("tcp_recvmsg", "kretprobe", "call_ends", "bytes, messages, the end of `work`"),
    Hook("tcp_splice_read", "kprobe", "splice_begins", "bytes that leave by splice(): the sum is then unknown", needed=False),
    Hook("sk_stream_wait_memory", "kprobe", "sleep_begins", "blocked time of a writer"),
    Hook("sk_stream_wait_memory", "kretprobe", "sleep_ends", "blocked time of a writer"),
    Hook("sk_wait_data", "kprobe", "sleep_begins", "`wait` of the rx ledger"),
    Hook("sk_wait_data", "kretprobe", "sleep_ends", "`wait` of the rx ledger"),
    Hook("tcp_rcv_established", "kprobe", "segment_comes", "`rwnd`: TCP's chronograph, read as segments come"),
    Hook("tcp_retransmit_skb", "raw tracepoint", "retransmitted", "retransmissions"),
    Hook("inet_sock_set_state", "raw tracepoint", "state_set",
         "connections, from their creation to their end"),
)


class Parser(options.Parser):
    program = "bcc_probe.py"


def seconds(text: str) -> float:
    """10s, 500ms, 2m, or a number of seconds."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|)", text)
    value = float(found[1]) * {"ms": 1e-3, "s": 1, "m": 60, "": 1}[found[2]] if found else 0.0
    if not 0 < value <= threading.TIMEOUT_MAX:
        raise argparse.ArgumentTypeError(f"{text!r} is no time: give 10s, 500ms or 2m")
    return value


def whole(low: int, high: int) -> Any:
    def read(text: str) -> int:
        if not re.fullmatch(r"\d{1,10}", text) or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {low} to {high}")
        return int(text)

    return read


def parser() -> Parser:
    p = Parser(prog="bcc_probe.py", formatter_class=argparse.RawDescriptionHelpFormatter,
               description="What Python bcc can tell of TCP connections, as the JSON of `ipcstall attach --json`.\n"
                           "A smaller view: what it cannot see is null (docs/BCC.md).",
               epilog="Needs root, a kernel with kprobes, python3-bpfcc and the running kernel's headers.\n\nexamples:\n"
                      "  bcc_probe.py -d 10s > seen.json             everything for ten seconds\n"
                      "  bcc_probe.py -p 1234 -P 5432 --json s.json  one process, one port, until Ctrl-C")
    p.add_argument("-p", "--pid", type=whole(1, 2**22), default=0, metavar="PID", help="only this process")
    p.add_argument("-P", "--port", type=whole(1, 65535), default=0, metavar="PORT", help="only connections with this port at either end")
    p.add_argument("-d", "--duration", type=seconds, metavar="TIME", help="stop after this time (default: at Ctrl-C)")
    p.add_argument("--json", default="-", metavar="FILE", help="write the document here (default: standard output)")
    p.add_argument("--max-endpoints", type=whole(1, 1_000_000), default=4096, metavar="N",
                   help="room for this many endpoints (4096)")
    p.add_argument("-q", "--quiet", action="store_true", help="print nothing on standard error")
    return p


# --- what has to be there ------------------------------------------------------------------------------------------------


def check_machine(pid: int) -> None:
    if os.geteuid() != 0:
        raise AnalysisError(NO_PERM, "bcc: needs root; run it with sudo")
    if not os.path.exists("/sys/bus/event_source/devices/kprobe"):
        raise AnalysisError(NO_FEATURE, f"kprobes: this kernel ({os.uname().release}) has none; {INSTEAD}, and no kprobes")
    if pid and not os.path.exists(f"/proc/{pid}"):
        raise AnalysisError(BAD_USAGE, f"--pid {pid}: no such process; name one that runs")


def load_bcc() -> Any:
    try:
        import bcc
    except (ImportError, OSError) as e:  # a library of its C half may be missing too
        raise AnalysisError(NO_FEATURE, f"bcc: {sys.executable} cannot import it ({e}); install python3-bpfcc and start this with "
                            f"/usr/bin/python3; {INSTEAD}") from None
    return bcc.BPF


@contextlib.contextmanager
def diverted(said: List[str]) -> Iterator[None]:
    """bcc's C++ half writes to file descriptor 2 as it likes; what it wrote is kept for the one line of an error."""
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as log:
        os.dup2(log.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            log.seek(0)
            said += log.read().decode(errors="replace").splitlines()


def reason(said: List[str], otherwise: BaseException) -> str:
    telling = [line for line in said if re.search(r"error:|headers|not permitted|denied|Failed|nvalid", line)]
    return (telling or said or [str(otherwise)])[0].strip()


# --- the session -----------------------------------------------------------------------------------------------------------


def build(args: argparse.Namespace) -> Any:
    BPF = load_bcc()
    said: List[str] = []
    try:
        with diverted(said):
            return BPF(src_file=PROGRAM, cflags=[f"-DPID={args.pid}", f"-DPORT={args.port}", f"-DMOST={args.max_endpoints}"])
    except Exception as e:  # bcc raises nothing more special
        raise AnalysisError(NO_FEATURE, f"bcc cannot build its program here: {reason(said, e)}; install linux-headers-{os.uname().release}, "
                            f"or a newer bcc; {INSTEAD}") from None


def attach_one(b: Any, hook: Hook) -> None:
    if hook.kind == "raw tracepoint":
        b.attach_raw_tracepoint(tp=hook.point.encode(), fn_name=hook.program.encode())
    elif hook.kind == "kprobe":
        b.attach_kprobe(event=hook.point.encode(), fn_name=hook.program.encode())
    else:
        b.attach_kretprobe(event=hook.point.encode(), fn_name=hook.program.encode())


def attach(b: Any) -> List[Dict[str, Any]]:
    """Every hook's row in the document. A needed one that fails ends the session before it began."""
    rows = []
    for hook in HOOKS:
        said: List[str] = []
        why: Optional[str] = None
        try:
            with diverted(said):
                attach_one(b, hook)
        except Exception as e:  # as above
            why = reason(said, e)
            if hook.needed:
                raise AnalysisError(NO_FEATURE, f"{hook.kind} {hook.point}: refused: {why}; {INSTEAD}") from None
        rows.append({"point": hook.point, "kind": hook.kind, "feeds": hook.feeds, "attached": why is None, "why_not": why,
                     "program": hook.program, "runs": None})
    return rows


def wait(duration: Optional[float]) -> None:
    """To the end of the time, or to a signal. Repeated: a lock held for ever would hold signals back on some systems."""
    over = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: over.set())
    deadline = None if duration is None else time.monotonic() + duration
    while not over.is_set() and (deadline is None or time.monotonic() < deadline):
        over.wait(0.1 if deadline is None else max(0.0, min(0.1, deadline - time.monotonic())))


# --- from maps to rows -----------------------------------------------------------------------------------------------------


def _span(s: Any) -> Span:
    return Span(s.ns, s.count, s.max)


def _side(s: Any) -> Side:
    seen = s.tgid != 0
    return Side(_span(s.work), _span(s.asleep), None if s.unseen else s.bytes, None if s.unseen else s.messages,
                s.tgid if seen else None, clean(s.comm.decode(errors="replace")) if seen else None, s.cgroup if seen else None)


def _names(e: Any) -> Tuple[str, str]:
    length = 4 if e.family == 2 else 16
    return address(bytes(e.local[:length]), e.local_port), address(bytes(e.remote[:length]), e.remote_port)


def _end(serial: int, key: Any, e: Any, ended_ns: int) -> End:
    ended = e.seen if e.closed else max(ended_ns, e.seen)
    rwnd = e.rwnd_ns + (ended - e.seen if e.rwnd_runs else 0)
    local, remote = _names(e)
    return End(serial, local, remote, e.netns, e.inode or None, key.born, ended, bool(e.closed), bool(e.late), rwnd, e.retransmits,
               _side(e.side[TX]), _side(e.side[RX]))


def with_call(end: End, call: Any, now: int) -> End:
    """A call that has not come back: what its thread does lasts until now."""
    name = "tx" if call.side == TX else "rx"
    side: Side = getattr(end, name)
    ns = max(0, now - call.since)
    part = {"asleep": side.asleep.plus(ns)} if call.asleep else {"work": side.work.plus(ns)}
    return dataclasses.replace(end, **{name: dataclasses.replace(side, **part)})


def collect(b: Any, now: int) -> Tuple[List[End], Counters]:
    rows = sorted(b["ends"].items(), key=lambda kv: (kv[0].born, kv[0].sk))
    ends = {(k.sk, k.born): _end(i, k, e, now) for i, (k, e) in enumerate(rows, 1)}
    for call in b["calls"].values():
        key = (call.key.sk, call.key.born)
        if key in ends:
            ends[key] = with_call(ends[key], call, now)
    table = b["counters"]
    return list(ends.values()), Counters(**{name: table[i].value for i, name in enumerate(COUNTERS)})


def session(args: argparse.Namespace) -> Session:
    check_machine(args.pid)
    b = build(args)
    hooks = attach(b)
    if not args.quiet:
        say(f"bcc_probe: backend bcc; {'waiting' if args.duration else 'Ctrl-C ends it'}")
    wait(args.duration)
    stop = b["stopped"]
    stop[stop.Key(0)] = stop.Leaf(1)
    ends, counters = collect(b, time.monotonic_ns())
    b.cleanup()
    return Session(ends, counters, hooks, {"pids": [args.pid] if args.pid else [], "comm": None, "cgroup": None, "all": not args.pid})


def main(argv: Optional[List[str]] = None) -> int:
    try:
        args = parser().parse_args(argv)
        write(args.json, b"")
        seen = session(args)
        write(args.json, (json.dumps(document(seen), indent=1) + "\n").encode())
        if not args.quiet:
            c = seen.counters
            say(f"bcc_probe: {len(seen.ends)} ends, observed {c.observed}, unpaired {c.unpaired}, overflow {c.overflow}")
    except AnalysisError as e:
        say(f"bcc_probe: {e}")
        return e.code
    return 0


if __name__ == "__main__":
    sys.exit(main())
