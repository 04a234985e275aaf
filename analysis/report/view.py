# SPDX-License-Identifier: GPL-2.0-only
"""What the page's script draws: curves over sizes, the ledgers and latencies of each point, a time line. Plain values only."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ..figures.timeline import EVENTS
from ..model import Document, Endpoint, Histogram, Ledger, Point, Side, STALL_STATES, Timeline
from ..series import FACTORS, Series, all_points, as_number, group, of_test, pair_up, parse_fix, spread, variables, varying
from ..stats.dips import bands
from ..stats.explain import Explanation
from ..units import BYTES_ENDINGS, TIME_OPTIONS, at_size
from ..waterfall import OWN, Message, ways
from .sets import Set

MOST_CURVES = 8
MOST_ENDS = 12  # of a session; of a point 4
MOST_BINS = 48
MOST_SPANS = 40_000
Json = Dict[str, Any]
TEST_WORDS = {"latency": "Latency", "oneway": "One-way latency", "connect": "Time to connect", "throughput": "Throughput"}


def charts(one: Set, fix: Optional[str]) -> List[Json]:
    out: List[Json] = []
    points = [p for p in all_points(one.documents) if p.test != "trace"]
    for test in dict.fromkeys(p.test for p in points):
        out += _of_test([p for p in points if p.test == test], test, one, fix)
    return out


def _across(points: Sequence[Point]) -> str:
    """The variable across: the size where it varies, else the first number that does."""
    if len({p.size for p in points}) > 1:
        return "size"
    numbers = [n for n in varying(points, variables(points)) if n not in FACTORS and all(as_number(p.value(n)) is not None for p in points)]
    return numbers[0] if numbers else "size"


def _of_test(points: Sequence[Point], test: str, one: Set, fix: Optional[str]) -> List[Json]:
    x = _across(points)
    explained = {e.label: e for _, e in one.found.explained} if of_test(all_points(one.documents), "throughput", "latency")[0].test == test else {}
    series = group(points, x)
    pairs = pair_up(series, parse_fix(fix)) if explained else []
    if x == "size" and any(p.fixed is not None for p in pairs):
        return [_chart(p.label if len(p.base.key) > 1 else "", test, x, [p.base] + ([p.fixed] if p.fixed else []), explained.get(p.label)) for p in spread(pairs, MOST_CURVES)]
    chosen = spread(series, MOST_CURVES)
    return [_chart("", test, x, chosen, explained.get(chosen[0].label) if len(chosen) == 1 and x == "size" else None)] if chosen else []


def _chart(label: str, test: str, x: str, series: Sequence[Series], e: Optional[Explanation]) -> Json:
    xs = sorted({v for s in series for v in s.cells})
    timed = test != "throughput"
    in_dips = e is not None and bool(e.dip.any())
    words = "time per message" if timed and in_dips else TEST_WORDS.get(test, test).lower()
    out: Json = {
        "kind": "curves", "label": _heading(test, xs) if len(xs) == 1 else label, "test": test, "x": xs, "across": "message size" if x == "size" else x,
        "bytes": x.endswith(BYTES_ENDINGS), "times": x in TIME_OPTIONS, "unit": "ns" if timed else "B/s", "words": words,
        "curves": [_curve(s, xs, timed, in_dips) for s in series], "dips": [], "picked": len(xs) - 1,
        "points": [[_point(s.cells.get(v, [])) for s in series] for v in xs],
    }
    if e is not None and in_dips:
        out["dips"] = [[lo, hi] for lo, hi, _ in bands(e.size, e.dip)]
        out["dipped"] = [float(v) for v in e.size[e.dip]]
        out["picked"] = xs.index(float(e.size[int(np.argmax(np.where(e.dip, e.excess, -np.inf)))]))
        out["test_words"] = f"{e.dips.method}"
    return out


def _heading(test: str, xs: Sequence[float]) -> str:
    return f"{TEST_WORDS.get(test, test)}{at_size(xs[0])}"


def _curve(s: Series, xs: Sequence[float], timed: bool, per_message: bool) -> Json:
    def measure(p: Point) -> Optional[float]:
        if not timed:
            return p.bytes_per_s
        return p.ns_per_message if per_message else (p.latency.median if p.latency is not None else p.ns_per_message)

    middle = [_round(float(np.median(v))) if len(v := s.repeats(x, measure)) else None for x in xs]
    lo = [_round(float(v.min())) if len(v := s.repeats(x, measure)) else None for x in xs]
    hi = [_round(float(v.max())) if len(v := s.repeats(x, measure)) else None for x in xs]
    share = [_round(float(np.median(v))) if len(v := s.repeats(x, lambda p: p.normalised_stall)) else None for x in xs]
    name = s.label if s.key else s.first.mode
    return {"label": name, "y": middle, "lo": lo, "hi": hi, "share": share}


def _round(v: Optional[float]) -> Optional[float]:
    return None if v is None or not np.isfinite(v) else float(f"{v:.4g}")


def _point(repeats: Sequence[Point]) -> Optional[Json]:
    """Of the repeats the one in the middle: its figures, ledgers and latencies belong together."""
    if not repeats:
        return None
    p = sorted(repeats, key=lambda p: p.ns_per_message or 0.0)[(len(repeats) - 1) // 2]
    facts: List[Tuple[str, Optional[float], str]] = [
        ("median latency", p.latency.median if p.latency else None, "ns"), ("99 % are below", p.latency.get("p99") if p.latency else None, "ns"),
        ("throughput", p.bytes_per_s, "B/s"), ("stall per message", p.stall_per_message_ns, "ns"), ("stalled", p.normalised_stall, "%"),
    ]
    return {"facts": [[name, _round(v), unit] for name, v, unit in facts if v is not None], "repeats": len(repeats),
            "ends": sorted(ends_of(p.ledger, 4), key=lambda e: str(e["name"])), "histogram": _bins(p.histogram), "verdict": p.ledger.verdict if p.ledger else ""}


def _bins(h: Optional[Histogram]) -> Optional[List[List[float]]]:
    """At most MOST_BINS of even width on a log axis."""
    if h is None or not h.total:
        return None
    keep = h.count > 0
    low, high, count = h.low[keep], h.high[keep], h.count[keep]
    a, b = np.log10(max(float(low[0]), 1.0)), np.log10(max(float(high[-1]), 2.0))
    edges = np.logspace(a, max(b, a + 0.01), MOST_BINS + 1)
    where = np.clip(np.searchsorted(edges, (low + high) / 2, side="right") - 1, 0, MOST_BINS - 1)
    sums = np.bincount(where, weights=count, minlength=MOST_BINS)
    return [[float(f"{edges[i]:.4g}"), float(f"{edges[i + 1]:.4g}"), float(sums[i])] for i in range(MOST_BINS)]


def _stalled(e: Endpoint) -> float:
    return e.tx.stall_ns if e.tx is not None else 0.0


def ends_of(ledger: Optional[Ledger], most: int = MOST_ENDS) -> List[Json]:
    """The most stalled first; the benchmark's own pipes are none of its business."""
    ends = [e for e in (ledger.endpoints if ledger is not None else ()) if e.role != OWN]
    lively = [e for e in ends if not _silent(e)] or ends
    return [_end(e) for e in sorted(lively, key=lambda e: -_stalled(e))[:most]]


def _silent(e: Endpoint) -> bool:
    """Nothing was ever written or read."""
    sides = [side for side in (e.tx, e.rx) if side is not None]
    return all(name == "idle" for side in sides for name, state in side.states.items() if state.ns)


def _end(e: Endpoint) -> Json:
    sides = [_side(word, side) for word, side in (("writes", e.tx), ("reads", e.rx)) if side is not None and side.lifetime_ns]
    return {"name": e.name, "where": e.where, "stall": _stalled(e), "sides": [s for s in sides if s["states"]]}


def _side(word: str, side: Side) -> Json:
    rows = [[name, _round(s.ns), s.count, _round(s.max_ns)] for name, s in side.states.items() if s.ns]
    return {"word": word, "life": _round(side.lifetime_ns), "states": rows}


def session(documents: Sequence[Document]) -> Optional[Json]:
    """The ledgers of a traced session."""
    ledgers = [p.ledger for d in documents if d.kind == "trace" for p in d.points if p.ledger is not None]
    if not ledgers:
        return None
    whole = ends_of(ledgers[0], len(ledgers[0].endpoints))
    calm = [e for e in whole[1:] if not e["stall"]]
    shown = [e for e in whole if e not in calm][:MOST_ENDS]
    shown += calm[:max(0, 4 - len(shown))]
    return {"kind": "ledgers", "ends": shown, "left": len(ledgers[0].endpoints) - len(shown)}


def time_line(line: Timeline) -> Json:
    """Every span from the first event on, lane by lane, and the marks."""
    lanes: Dict[Tuple[str, str], List[Any]] = {}
    first = line.start
    for s in line.spans[:MOST_SPANS]:
        lanes.setdefault((s.ep, s.ledger), []).append([round(s.start - first), round(s.end - first), s.state])
    order = [k for k, v in sorted(lanes.items(), key=lambda kv: -_stall_in(kv[1])) if {s for *_, s in v} - {"idle"}][:8]
    shown = {ep for ep, _ in order}
    marks = [[round(m.t - first), m.ep, EVENTS.get(m.event, ("", "", m.event))[2]] for m in line.marks[:MOST_SPANS] if m.ep in shown]
    return {
        "kind": "timeline", "length": round(line.end - first), "cut": max(0, len(line.spans) - MOST_SPANS),
        "lanes": [{"ep": ep, "name": line.name(ep, ledger), "word": "writes" if ledger == "tx" else "reads", "spans": lanes[(ep, ledger)]} for ep, ledger in order],
        "marks": marks, "start": _opening(line),
    }


def _stall_in(spans: Sequence[Any]) -> float:
    return float(sum(b - a for a, b, state in spans if state in STALL_STATES))


def _opening(line: Timeline) -> List[float]:
    """The longest stall with as much again on both sides; the whole where nothing stalled or it is short."""
    stalls = [s for s in line.spans if s.state in STALL_STATES]
    whole = line.end - line.start
    if not stalls or whole < 50e6:
        return [0, round(whole)]
    worst = max(stalls, key=lambda s: s.end - s.start)
    wide = max(worst.end - worst.start, whole / 200)
    return [round(max(0.0, worst.start - line.start - wide)), round(min(whole, worst.end - line.start + wide))]


def worst_message(line: Timeline) -> Optional[Json]:
    """The slowest message that can be followed, layer by layer."""
    found = [(w, w.at(1.0)) for w in ways(line) if w.messages]
    if not found:
        return None
    way, slowest = max(found, key=lambda f: f[1].total)
    return {"from": line.name(way.sender, "tx"), "to": line.name(way.reader, "rx"), "of": len(way.messages),
            "total": slowest.total, "median": float(np.median(way.totals())), "bytes": slowest.bytes, "layers": _layers(slowest)}


def _layers(m: Message) -> List[Json]:
    start, whole = m.layers[0].start, m.total or 1.0
    return [{"name": x.name, "ns": x.ns, "left": 100.0 * (x.start - start) / whole, "width": 100.0 * x.ns / whole} for x in m.layers]
