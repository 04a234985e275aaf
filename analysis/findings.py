# SPDX-License-Identifier: GPL-2.0-only
"""What the data says, in sentences: the verdict that opens a report and a summary."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Dict, List, Optional, Sequence, Tuple

import numpy as np

from . import units
from .errors import usage
from .model import Document, Floats, Point, STALL_STATES, Timeline
from .series import Pair, Series, all_points, group, left_out, of_test, pair_up, parse_fix
from .shares import shares
from .stats.explain import Explanation, explain
from .text import file_name


@dataclass
class Findings:
    verdict: List[str] = field(default_factory=list)
    explained: List[Tuple[Pair, Explanation]] = field(default_factory=list)


def find(documents: Sequence[Document], fix: Optional[str] = None) -> Findings:
    out = Findings()
    points = all_points(documents)
    _dips(out, points, fix)
    _levels(out, points)
    _ledgers(out, points)
    return out


def _dips(out: Findings, points: Sequence[Point], fix: Optional[str]) -> None:
    rated = [p for p in of_test(points, "throughput", "latency") if p.ns_per_message is not None and not p.unrated]
    series = [s for s in group(rated) if s.cells]
    if not series:
        if fix is not None:
            raise usage(f"--fix {fix}: no point here has a throughput to compare; run --test throughput")
        return
    calm: List[str] = []
    pairs = pair_up(series, parse_fix(fix))
    if fix is not None and not any(p.fixed for p in pairs):
        out.verdict.append(f"No curve differs from another in {fix.partition('=')[0]} alone: what {fix} does cannot be told.")
    for pair in pairs:
        if len(pair.base.cells) < 6 and pair.fixed is None:
            continue
        e = explain(pair)
        if e is None and pair.fixed is not None:
            out.verdict.append(f"{pair.label}: no size was measured both without and with {pair.fix}.")
        if e is not None:
            out.explained.append((pair, e))
            if e.dip.any():
                out.verdict.extend(dip_sentences(pair, e))
            elif "too few" not in e.dips.method:
                calm.append(f"{e.label} ({len(e.size)} sizes)" if e.label != "all" else f"{len(e.size)} sizes")
    if calm:
        out.verdict.append(f"No dips: {', '.join(calm)}; {out.explained[-1][1].dips.method}.")


def dip_sentences(pair: Pair, e: Explanation) -> List[str]:
    name = f"{e.label}: " if e.label != "all" and len(pair.base.key) > 1 else ""
    depth = e.depth[e.dip]
    out = [f"{name}{int(e.dip.sum())} of {len(e.size)} sizes are in a dip: throughput is {span(depth, units.percent_text)} "
           f"below what it {'is with ' + e.fix if e.fix else 'is at the healthy sizes'}."]
    doubtful = sum(1 for x in e.size[e.dip] if any(p.warnings for p in pair.base.cells[float(x)]))
    if doubtful:
        out.append(f"{name}{doubtful} of these sizes carry warnings: measure them again on a quiet machine before believing it.")
    out.extend(_stall_sentences(pair, e, name))
    if e.fix:
        gain = np.median(e.t[e.dip] / e.expected[e.dip])
        out.append(f"{name}{e.fix} makes those sizes {gain:.3g} times as fast (median).")
    return out


def _stall_sentences(pair: Pair, e: Explanation, name: str) -> List[str]:
    share = e.overall_share()
    if share is None:
        return [f"{name}stall was not observed there, so the cause is not known."]
    out = [f"{name}stall explains {units.percent_text(share)} of the time lost in the dips "
           f"({span(e.share[e.dip & np.isfinite(e.stall)], units.percent_text)} by size); "
           f"stall and excess time per message correlate at {e.pearson.text()}."]
    cause = main_cause([p for x in e.size[e.dip] for p in pair.base.cells[float(x)]])
    if cause:
        out.append(f"{name}the stall is {cause}.")
    return out


def main_cause(points: Sequence[Point]) -> str:
    """The state most of the stall was in, with the tool's own verdict where it gave one."""
    found = shares(list(points)) or {}
    stalls = {k: v for k, v in found.items() if k in STALL_STATES and v > 0}
    if not stalls:
        return ""
    state = max(stalls, key=lambda k: stalls[k])
    by, share = _blamed(points, state)
    blame = f" ← {by} ({units.percent_text(min(share, 1.0))} of it)" if share > 0.5 else ""
    texts = Counter(p.ledger.verdict for p in points if p.ledger is not None and p.ledger.verdict)
    said = f"; the ledger's words: “{texts.most_common(1)[0][0].rstrip('.')}”" if texts and not blame else ""
    return state + blame + said


def _blamed(points: Sequence[Point], state: str) -> Tuple[str, float]:
    """Who is to blame for most of a state, and for how much of it."""
    ns: Counter[str] = Counter()
    whole = 0.0
    for p in points:
        for end in p.ledger.endpoints if p.ledger is not None else ():
            s = end.tx.states.get(state) if end.tx is not None else None
            whole += (s.ns or 0.0) if s is not None else 0.0
            for b in end.blame:
                if b.state == state:
                    ns[b.by] += int(b.ns)
    if not ns or whole <= 0:
        return "", 0.0
    by, most = ns.most_common(1)[0]
    return by, most / whole


def span(values: Floats, text: "object") -> str:
    assert callable(text)
    lo, hi = float(np.nanmin(values)), float(np.nanmax(values))
    a, b = str(text(lo)), str(text(hi))
    return a if a == b else f"{a.removesuffix(' %') if a.endswith(' %') and b.endswith(' %') else a} to {b}"


def _levels(out: Findings, points: Sequence[Point]) -> None:
    """Where nothing is compared, what was measured."""
    for test in ("latency", "oneway", "connect"):
        for s in group([p for p in points if p.test == test and p.latency is not None]):
            out.verdict.extend(_latency_sentence(s, test))
    for s in group([p for p in points if p.test == "throughput" and p.bytes_per_s is not None]):
        if not any(pair.base.label == s.label and e.dip.any() for pair, e in out.explained):
            out.verdict.extend(_peak_sentence(s))


def _latency_sentence(s: Series, test: str) -> List[str]:
    x, median, _, _ = s.curve(lambda p: p.latency.median if p.latency else None)
    if not len(x):
        return []
    word = {"latency": "latency", "oneway": "one-way latency", "connect": "handshake"}[test]
    who = f"{_who(s)}: " if _who(s) else ""
    if len(x) == 1:
        return [f"{who}median {word} {units.time_text(median[0])}{units.at_size(x[0])}."]
    return [f"{who}median {word} {units.time_text(median[0])} at {units.size_text(x[0])}, "
            f"{units.time_text(median[-1])} at {units.size_text(x[-1])}."]


def _who(s: Series) -> str:
    return s.label if s.key else s.first.mode


def _peak_sentence(s: Series) -> List[str]:
    x, rate, _, _ = s.curve(lambda p: p.bytes_per_s)
    if not len(x):
        return []
    i = int(np.argmax(rate))
    where = f"at {units.size_text(x[i])}" if len(x) == 1 else f"at its best, at {units.size_text(x[i])}"
    return [f"{_who(s)}: throughput {units.rate_text(rate[i])} {where}."]


def _ledgers(out: Findings, points: Sequence[Point]) -> None:
    if out.explained and any(e.dip.any() for _, e in out.explained):
        return
    kinds = _kinds([p.ledger.verdict for p in points if p.ledger is not None and p.ledger.verdict])
    for texts in sorted(kinds, key=lambda k: -len(k))[:3]:
        such = ", such as" if len(set(texts)) > 1 else ""
        which = f"Ledger ({len(texts)} of {len(points)} points{such}): " if len(points) > 1 else ""
        out.verdict.append(f"{which}{texts[0].rstrip('.')}.")


def _kinds(texts: Sequence[str]) -> List[List[str]]:
    """Texts that differ only in their figures belong together."""
    kinds: Dict[str, List[str]] = {}
    for text in texts:
        kinds.setdefault(re.sub(r"[+-]?[0-9][0-9.]*( [mnuµ]?s\b)?", "#", text), []).append(text)
    return list(kinds.values())


def caveats(documents: Sequence[Document]) -> List[str]:
    """What a reader must know before believing the rest."""
    out: List[str] = []
    many = len(documents) > 1
    for d in documents:
        name = f"{file_name(d.path)}: " if many else ""
        out.extend(name + r for r in d.remarks)
        out.extend(name + w for w in d.warnings)
        out.extend(name + r for r in (left_out(d.points) if d.kind != "trace" else []))
        out.extend(name + w for w in _alike(d.points))
        out.extend(_impossible(d, name))
    return out


def _alike(points: Sequence[Point]) -> List[str]:
    """Warnings that differ only in their figures are one, told by the first of them."""
    kinds = _kinds([w for p in points for w in p.warnings])
    return [f"{len(found)} of {len(points)} points{', for example' if len(set(found)) > 1 else ''}: {found[0]}" for found in kinds]


def _impossible(d: Document, name: str) -> List[str]:
    loose = sum(1 for p in d.points if p.ledger is not None and p.ledger.unaccounted_ns)
    lost = sum(p.lost or 0 for p in d.points)
    unrated = sum(p.unrated for p in d.points)
    out = [f"{name}{loose} of {len(d.points)} points have a ledger that does not add up to its lifetime"] if loose else []
    out += [f"{name}{unrated} of {len(d.points)} points were over too soon to have a throughput"] if unrated else []
    return out + ([f"{name}{lost:.0f} messages were lost"] if lost else [])


def timeline_findings(line: Timeline) -> List[str]:
    """Totals of the stalls of each endpoint."""
    out = []
    whole = line.end - line.start
    for ep in sorted({s.ep for s in line.spans}):
        stalls = Counter[str]()
        count = Counter[str]()
        for s in line.spans:
            if s.ep == ep and s.ledger == "tx" and s.state in STALL_STATES:
                stalls[s.state] += int(s.end - s.start)
                count[s.state] += 1
        for state, ns in stalls.most_common(3):
            out.append(f"{line.endpoints.get(ep) or 'endpoint ' + ep}: {state} {units.time_text(ns)} in {count[state]} stalls, "
                       f"{units.percent_text(ns / whole)} of the time.")
    return out or ["No stalls in the time recorded."]
