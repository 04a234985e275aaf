# SPDX-License-Identifier: GPL-2.0-only
"""Two files side by side: results, sweeps, or traces of programs. What changed, by how much, and is that more than chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Optional, Sequence, Tuple

import numpy as np

from . import units
from .errors import usage
from .findings import main_cause
from .model import Document, Endpoint, Point, Value
from .stats.change import Change, RUNS_LEAST, of_histograms, of_values
from .stats.hist import merge
from .summary import grid
from .tables import DASH, Table
from .text import file_name, wrapped

Key = Tuple[Tuple[str, Value], ...]
NOT_A_CELL = ("source", "repeat")


@dataclass(frozen=True)
class Row:
    """One cell of both files."""

    key: Key
    what: str  # "latency", "throughput", "stall"
    change: Change
    smaller_is_better: bool

    @property
    def better(self) -> bool:
        return (self.change.ratio < 1) == self.smaller_is_better

    def name(self, telling: Sequence[str]) -> str:
        return ", ".join(_word(n, v) for n, v in self.key if n in telling) or "all"


def _word(name: str, value: Value) -> str:
    if name == "size" and isinstance(value, (int, float)):
        return units.size_text(float(value)) if value else "no message"
    return str(value) if name in ("mode", "test", "placement") else f"{name} {value}"


def _cells(d: Document) -> Dict[Key, List[Point]]:
    out: Dict[Key, List[Point]] = {}
    for p in d.points:
        names = [n for n in ("mode", "test", "size", "placement", *sorted(p.vars)) if n not in NOT_A_CELL]
        key = tuple((n, p.value(n)) for n in dict.fromkeys(names))
        out.setdefault(key, []).append(p)
    return out


def _in_order(key: Key) -> List[Tuple[str, float, str]]:
    """Numbers by size, words by the alphabet."""
    return [(name, float(value) if isinstance(value, (int, float)) else 0.0, str(value)) for name, value in key]


def _latency(a: Sequence[Point], b: Sequence[Point]) -> Optional[Change]:
    x, y = ([p.latency.median for p in v if p.latency is not None and p.latency.median] for v in (a, b))
    if min(len(x), len(y)) >= RUNS_LEAST:
        return of_values(x, y, True)
    h, k = (merge([p.histogram for p in v if p.histogram is not None]) for v in (a, b))
    if h is not None and k is not None:
        return of_histograms(h, k)
    return of_values(x, y, True)


def _rate(a: Sequence[Point], b: Sequence[Point]) -> Optional[Change]:
    if not any(p.test == "throughput" for p in a):
        return None
    x, y = ([p.bytes_per_s for p in v if p.bytes_per_s] for v in (a, b))
    if min(len(x), len(y)) >= RUNS_LEAST:
        return of_values(x, y, True)
    trials = [[t for p in v if p.throughput is not None for t in p.throughput.trials] for v in (a, b)]
    return of_values(trials[0] or x, trials[1] or y, not all(trials))


def _stall(a: Sequence[Point], b: Sequence[Point]) -> Optional[Change]:
    """Of cells in which both stalled: what one of them lacks altogether has no ratio, and is told in words."""
    x, y = ([s for p in v if (s := p.stall_per_message_ns)] for v in (a, b))
    return of_values(x, y, True)


MEASURES = (("latency", _latency, True), ("throughput", _rate, False), ("stall", _stall, True))


def rows_of(a: Document, b: Document) -> List[Row]:
    left, right = _cells(a), _cells(b)
    out = []
    for key in sorted(left, key=_in_order):
        for what, measure, smaller in MEASURES:
            change = measure(left[key], right[key]) if key in right else None
            if change is not None:
                out.append(Row(key, what, change, smaller))
    return out


def _value(what: str, v: float) -> str:
    return units.rate_text(v) if what == "throughput" else units.time_text(v)


def _times(c: Change) -> str:
    span = f" [{c.low:.3g}, {c.high:.3g}]" if c.low is not None and c.high is not None else ""
    return f"{c.ratio:.3g}{span}"


def _p(c: Change, tests: int) -> str:
    if c.p is None:
        return DASH
    p = min(1.0, c.p * tests)
    return "< 0.0001" if p < 1e-4 else f"{p:.4f}"


def _telling(rows: Sequence[Row]) -> List[str]:
    names = list(dict.fromkeys(n for r in rows for n, _ in r.key))
    return [n for n in names if n == "size" or len({repr(dict(r.key).get(n)) for r in rows}) > 1]


def _answer(r: Row, tests: int) -> str:
    if not r.change.is_certain(tests):
        return "no change shown" if r.change.p is not None else "no test: too few runs"
    return ("B is better" if r.better else "B is worse") + ("" if r.change.by_runs else ", by one run")


def measured_table(rows: Sequence[Row]) -> Table:
    tests, telling = len([r for r in rows if r.change.p is not None]), _telling(rows)
    cells = [[f"{r.name(telling)}: {r.what}", _value(r.what, r.change.a), _value(r.what, r.change.b), _times(r.change), _p(r.change, tests),
              _answer(r, tests)] for r in rows]
    alone = any(not r.change.by_runs for r in rows)
    note = "B/A: median ratio and its 95 % interval; p: two-sided, corrected for the number of tests."
    if alone:
        note += f" Cells with fewer than {RUNS_LEAST} runs in each file: the interval is that of these runs, not of how two runs differ."
    return Table("What was measured", ["figure", "A", "B", "B/A", "p", "result"], cells, note)


# --- traces of programs: one session each, so there are shares and no test ---------------------------------------------

def _program(e: Endpoint) -> str:
    return f"{e.comm or 'nobody seen'} {e.proto}"


def _by_program(d: Document) -> Dict[str, List[Endpoint]]:
    out: Dict[str, List[Endpoint]] = {}
    for p in d.points:
        for e in p.ledger.endpoints if p.ledger is not None else ():
            out.setdefault(_program(e), []).append(e)
    return out


def _share(ends: Sequence[Endpoint]) -> Optional[float]:
    life = sum(e.tx.lifetime_ns or 0.0 for e in ends if e.tx is not None)
    return sum(e.tx.stall_ns for e in ends if e.tx is not None) / life if life else None


def _cause(ends: Sequence[Endpoint]) -> str:
    sums: Dict[str, float] = {}
    for e in ends:
        for name, s in (e.tx.states if e.tx is not None else {}).items():
            if name in ("rwnd", "cwnd", "nagle", "cork", "pacing", "recovery", "sndbuf") and s.ns:
                sums[name] = sums.get(name, 0.0) + s.ns
    return max(sums, key=lambda n: sums[n]) if sums else DASH


def traced_table(a: Document, b: Document) -> Table:
    left, right = _by_program(a), _by_program(b)
    shares = {n: (_share(left.get(n, [])), _share(right.get(n, []))) for n in dict.fromkeys([*left, *right])}
    order = sorted(shares, key=lambda n: -abs((shares[n][1] or 0.0) - (shares[n][0] or 0.0)))
    rows = [[n, units.percent_text(shares[n][0]), units.percent_text(shares[n][1]), _cause(left.get(n, [])), _cause(right.get(n, [])),
             str(len(left.get(n, []))), str(len(right.get(n, [])))] for n in order]
    return Table("Stall by program, share of its senders' time", ["program", "A", "B", "cause A", "cause B", "ends A", "ends B"], rows,
                 "One session each: how much two sessions of one thing differ is unknown, so there is no test.")


# --- the whole -------------------------------------------------------------------------------------------------------------

def _missing(a: Document, b: Document) -> List[str]:
    left, right = _cells(a), _cells(b)
    out = []
    for mine, other, name in ((left, right, "A"), (right, left, "B")):
        n = len([k for k in mine if k not in other])
        if n:
            out.append(f"{n} of {len(mine)} cells of {name} are not in the other file and are left out")
    return out


def _verdict(rows: Sequence[Row]) -> List[str]:
    tests, telling = len([r for r in rows if r.change.p is not None]), _telling(rows)
    certain = [r for r in rows if r.change.is_certain(tests)]
    if not certain:
        return [f"Nothing changed beyond 3 % and chance in {len(rows)} figures."]
    worst = max(certain, key=lambda r: abs(float(np.log(r.change.ratio))))
    n_better = sum(r.better for r in certain)
    said = [f"{len(certain)} of {len(rows)} figures changed: {n_better} better in B, {len(certain) - n_better} worse."]
    said.append(f"The largest: {worst.what} of {worst.name(telling)} is {_times(worst.change)} times that of A "
                f"({_value(worst.what, worst.change.a)} to {_value(worst.what, worst.change.b)}).")
    return said


def _same_kind(a: Document, b: Document) -> None:
    if (a.kind == "trace") != (b.kind == "trace"):
        raise usage(f"compare: {file_name(a.path)} holds a {a.kind} and {file_name(b.path)} a {b.kind}; name two of one kind")


def compare(a: Document, b: Document) -> str:
    _same_kind(a, b)
    if a.kind == "trace":
        verdict, tables, remarks = [_traced_verdict(a, b)], [traced_table(a, b)], []
    else:
        rows = rows_of(a, b)
        if not rows:
            raise usage(f"compare: {file_name(a.path)} and {file_name(b.path)} have no point in common; compare runs with the same options")
        verdict, tables, remarks = _verdict(rows), [measured_table(rows)], _missing(a, b)
    out = [f"A  {file_name(a.path)}", f"B  {file_name(b.path)}", ""]
    out += [line for v in verdict for line in wrapped(v)]
    for remark in [*remarks, *(f"{n}: {r}" for n, d in (("A", a), ("B", b)) for r in d.remarks)]:
        out += wrapped(remark, "  ! ")
    for t in tables:
        out += ["", *wrapped(t.title, "", "  "), *grid(t), *wrapped(t.note, "  ", "  ")]
    return "\n".join(out) + "\n"


def _traced_verdict(a: Document, b: Document) -> str:
    ends = [[e for p in d.points if p.ledger is not None for e in p.ledger.endpoints] for d in (a, b)]
    shares = [_share(v) for v in ends]
    causes = [main_cause(d.points) for d in (a, b)]
    return (f"Senders stalled {units.percent_text(shares[0])} of their time in A ({causes[0] or 'no cause leads'}) and "
            f"{units.percent_text(shares[1])} in B ({causes[1] or 'no cause leads'}).")
