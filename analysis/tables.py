# SPDX-License-Identifier: GPL-2.0-only
"""Tables of figures, as rows of text: the summary and the report lay them out in their own ways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, List, Optional, Sequence, Tuple

import numpy as np

from . import units
from .model import Document, Floats, Point
from .series import Series, group, said
from .standings import rows as rank_rows, value_text
from .stats.explain import Explanation
from .waterfall import ANSWER, Way, statistics

DASH = "–"
MOST_ENDS = 6


@dataclass
class Table:
    title: str
    columns: List[str]
    rows: List[List[str]]
    note: str = ""


Column = Tuple[str, Callable[[Point], Optional[float]], Callable[[Optional[float]], str]]


def _quantile(name: str) -> Callable[[Point], Optional[float]]:
    return lambda p: p.latency.get(name) if p.latency is not None else None


def _count(v: Optional[float]) -> str:
    return DASH if v is None else f"{v:.0f}"


def _ns_percent(v: Optional[float]) -> str:
    return units.percent_text(v)


COLUMNS: Sequence[Column] = (
    ("n", lambda p: p.n, _count),
    ("min", _quantile("min"), units.time_text), ("Q1", _quantile("q1"), units.time_text),
    ("median", _quantile("median"), units.time_text), ("± MAD/√n", _quantile("uncertainty"), units.time_text),
    ("Q3", _quantile("q3"), units.time_text), ("p95", _quantile("p95"), units.time_text),
    ("p99", _quantile("p99"), units.time_text), ("p99.9", _quantile("p999"), units.time_text),
    ("max", _quantile("max"), units.time_text), ("MAD", _quantile("mad"), units.time_text),
    ("throughput", lambda p: p.bytes_per_s if p.throughput is not None or p.test == "throughput" else None, units.rate_text),
    ("stall/message", lambda p: p.stall_per_message_ns, units.time_text),
    ("stalled", lambda p: p.normalised_stall, _ns_percent), ("lost", lambda p: p.lost, _count),
)


def points_table(documents: Sequence[Document]) -> List[Table]:
    """A table per test: a row per cell, the median of its repeats; columns nobody measured are left out."""
    out = []
    points = [p for d in documents for p in d.points]
    for test in dict.fromkeys(p.test for p in points):
        series = group([p for p in points if p.test == test and p.size is not None])
        if series:
            out.append(_test_table(test, series))
    return out


def _test_table(test: str, series: Sequence[Series]) -> Table:
    cells = [(s, x) for s in series for x in s.xs()]
    values = [[_median(s.cells[x], get) for _, get, _ in COLUMNS] for s, x in cells]
    kept = [j for j in range(len(COLUMNS)) if any(v[j] is not None for v in values)
            and not (COLUMNS[j][0] == "lost" and not any(v[j] for v in values))]
    many = len(series) > 1
    columns = (["what"] if many else []) + ["size", "runs"] + [COLUMNS[j][0] for j in kept]
    rows = []
    for (s, x), v in zip(cells, values):
        first = ([s.label] if many else []) + [units.bytes_text(x) if x else DASH, str(len(s.cells[x]))]
        rows.append(first + [COLUMNS[j][2](v[j]) for j in kept])
    return Table(f"Points: {test}", columns, rows, "Repeats of one cell are shown by their median.")


def _median(points: Sequence[Point], get: Callable[[Point], Optional[float]]) -> Optional[float]:
    found = [v for p in points if (v := get(p)) is not None]
    return float(np.median(found)) if found else None


def dips_table(e: Explanation) -> Table:
    rows = []
    for i in np.flatnonzero(e.dip):
        known = bool(np.isfinite(e.stall[i]))
        p = e.dips.p[i]
        rows.append([units.bytes_text(e.size[i]), units.time_text(e.t[i]), units.time_text(e.expected[i]), units.percent_text(e.depth[i]),
                     "< 0.0001" if p < 1e-4 else f"{p:.4f}", units.time_text(e.stall[i]) if known else DASH,
                     units.percent_text(e.share[i]) if known else DASH])
    name = f" ({e.label})" if e.label != "all" else ""
    return Table(f"Dips{name}", ["size", "time/message", "expected", "loss", "p", "stall/message", "explained by stall"], rows,
                 f"Test: {e.dips.method}. Rank correlation of stall with excess: {e.spearman.text('ρ')}.")


def rank_table(documents: Sequence[Document]) -> Optional[Table]:
    if len({p.mode for d in documents for p in d.points}) < 2:
        return None
    found = rank_rows(documents)
    if not found:
        return None
    width = max(len(places) for *_, places in found)
    rows = []
    for test, size, places in found:
        cells = [f"{p.rank}{'=' if p.tied else ''} {p.name} ({value_text(test, p)})" for p in places]
        rows.append([test, size, *cells, *[DASH] * (width - len(cells))])
    return Table("Rank", ["test", "size", *[str(i + 1) for i in range(width)]], rows, "An equals sign marks a tie.")


def waterfall_table(way: Way, title: str) -> Optional[Table]:
    """Each layer's own quantiles, and its share of all the time on the way: shares add up, quantiles do not."""
    if not way.messages:
        return None
    totals = way.totals()
    rows = [[name, *_layer_cells(ns), units.percent_text(ns.sum() / totals.sum() if totals.sum() else None)] for name in way.layers() for ns in (way.of(name),)]
    rows.append(["the whole path", *_layer_cells(totals), DASH])
    if len(way.answers()):
        rows.append([ANSWER, *_layer_cells(way.answers()), DASH])
    note = " ".join(r[:1].upper() + r[1:] + "." for r in way.remarks)
    return Table(f"The path of a message, {title}", ["layer", "n", "min", "median", "p95", "p99", "max", "share"], rows, note)


def _layer_cells(ns: Floats) -> List[str]:
    s = statistics(ns)
    return [f"{s['n']}", *(units.time_text(s[k]) for k in ("min", "median", "p95", "p99", "max"))]


def _stall(p: Point) -> float:
    """Of one message, as far as is known."""
    if p.stall_per_message_ns is not None:
        return p.stall_per_message_ns
    ends = p.ledger.endpoints if p.ledger is not None else ()
    return sum(e.tx.stall_ns for e in ends if e.tx is not None) / (p.messages or 1.0)


def ledger_table(documents: Sequence[Document]) -> Optional[Table]:
    """The states of both ends at the point that stalled most."""
    known = [p for d in documents for p in d.points if p.ledger is not None and p.ledger.endpoints]
    if not known:
        return None
    worst = max(known, key=_stall)
    assert worst.ledger is not None
    rows = []
    ends = sorted(worst.ledger.endpoints, key=lambda e: -(e.tx.stall_ns if e.tx else 0.0))
    for end in ends[:MOST_ENDS]:
        for name, one in (("tx", end.tx), ("rx", end.rx)):
            for state, s in (one.states if one else {}).items():
                if s.ns:
                    share = s.ns / one.lifetime_ns if one and one.lifetime_ns else None
                    rows.append([end.name, end.where, name, state, units.time_text(s.ns), units.percent_text(share), _count(s.count), units.time_text(s.max_ns)])
    where = ", ".join(said(k, v) for k, v in worst.vars.items()) or (units.size_text(worst.size) if worst.size else "")
    if not rows:
        return None
    title = "Ledger of the point that stalled most" if _stall(worst) > 0 else "Ledger of a point; none stalled"
    return Table(f"{title} ({where})" if where else "Ledger", ["end", "of", "ledger", "state", "time", "share", "times", "longest"], rows,
                 f"Unaccounted: {units.time_text(worst.ledger.unaccounted_ns)}."
                 + (f" The {MOST_ENDS} most stalled of {len(ends)} ends." if len(ends) > MOST_ENDS else ""))
