# SPDX-License-Identifier: GPL-2.0-only
"""One connection against time: both ends, each ledger a row of coloured bands, messages and ACKs above them."""

from __future__ import annotations

from typing import Any, Dict, List, Sequence, Tuple

import numpy as np

from analysis import style, units
from analysis.errors import usage
from analysis.figures.request import Request
from analysis.model import Mark, RX_STATES, STALL_STATES, Span, TX_STATES, Timeline

EVENTS: Dict[str, Tuple[str, str, str]] = {  # marker, colour, name
    "message": ("v", style.BLACK, "message"), "segment": ("|", style.BLUE, "segment"), "ack": ("^", style.GREEN, "ACK"),
    "delack": ("D", style.PURPLE, "delayed ACK fires"), "retransmit": ("X", style.VERMILLION, "retransmit"),
    "wakeup": ("o", style.GREY, "wake-up"), "read": ("1", style.BLACK, "read"), "timeout": ("P", style.VERMILLION, "retransmission timeout"),
}
MOST_ENDS = 4
MOST_MARKS = 400
OPENING_NS = 250e6


def draw(request: Request) -> Any:
    from matplotlib import pyplot as plt

    line = request.timeline
    if line is None:
        raise usage("figure timeline: a timeline file is needed; record one with --timeline")
    start, end = window(line, request)
    lanes = _lanes(line, start, end)
    if not lanes:
        raise usage(f"{line.path}: nothing happens between --from and --to; widen them")
    figure, ax = plt.subplots(figsize=(style.WIDTH, 1.15 + 0.42 * len(lanes)))
    scale, unit = units.best_unit(end - start, units.TIMES)
    used = _bands(ax, line, lanes, start, end, scale)
    marks = _marks(ax, line, lanes, start, end, scale)
    _axes(ax, line, lanes, (end - start) / scale, unit)
    _legend(ax, used, marks)
    style.title(ax, request.title or "Time line: what each end was doing")
    return figure


def window(line: Timeline, request: Request) -> Tuple[float, float]:
    """What was asked for, else the whole when short, else the 250 ms that hold the longest stall."""
    if request.start_ns is not None or request.end_ns is not None:
        start = line.start + (request.start_ns or 0.0)
        end = line.start + request.end_ns if request.end_ns is not None else line.end
        if end <= start:
            raise usage("--to must be later than --from; both count milliseconds from the first event")
        return start, min(end, line.end)
    if line.end - line.start <= OPENING_NS:
        return line.start, line.end
    stalls = [s for s in line.spans if s.state in STALL_STATES]
    middle = max(stalls, key=lambda s: s.end - s.start).start if stalls else line.start
    start = max(line.start, min(middle - OPENING_NS / 3, line.end - OPENING_NS))
    return start, start + OPENING_NS


def _lanes(line: Timeline, start: float, end: float) -> List[Tuple[str, str]]:
    seen = {(s.ep, s.ledger) for s in line.spans if s.end > start and s.start < end}
    order = list(line.endpoints) + sorted({e for e, _ in seen} - set(line.endpoints))
    ends = [e for e in order if any((e, d) in seen for d in ("tx", "rx"))][:MOST_ENDS]
    return [(e, d) for e in ends for d in ("tx", "rx") if (e, d) in seen]


def merged(spans: Sequence[Span], start: float, end: float, pixel: float) -> Dict[str, List[Tuple[float, float]]]:
    """(start, length) by state within the window; spans thinner than a pixel are joined to a neighbour of their state,
    so that 100,000 of them draw as fast as a thousand."""
    out: Dict[str, List[Tuple[float, float]]] = {}
    for s in spans:
        a, b = max(s.start, start), min(s.end, end)
        if b <= a:
            continue
        row = out.setdefault(s.state, [])
        if row and a - (row[-1][0] + row[-1][1]) < pixel and (b - a < pixel or row[-1][1] < pixel):
            row[-1] = (row[-1][0], b - row[-1][0])
        else:
            row.append((a, b - a))
    return out


def _bands(ax: Any, line: Timeline, lanes: Sequence[Tuple[str, str]], start: float, end: float, scale: float) -> List[str]:
    used = set()
    pixel = (end - start) / 2500.0
    least = (end - start) / 1000.0  # the width of a dot of a PNG: thinner, a state would vanish between two
    for i, (ep, ledger) in enumerate(lanes):
        rows = merged([s for s in line.spans if s.ep == ep and s.ledger == ledger], start, end, pixel)
        # Long states first, so that a short one beside them is not painted over.
        for state in sorted(rows, key=lambda k: -sum(w for _, w in rows[k])):
            spans = [((a - start) / scale, max(w, least) / scale) for a, w in rows[state]]
            ax.broken_barh(spans, (i - 0.36, 0.72), **style.state_patch(state), zorder=2)
            used.add(state)
    order = [*TX_STATES, *RX_STATES]
    return sorted(used, key=order.index)


def _marks(ax: Any, line: Timeline, lanes: Sequence[Tuple[str, str]], start: float, end: float, scale: float) -> List[str]:
    first: Dict[str, int] = {}
    for i, (ep, _) in enumerate(lanes):
        first.setdefault(ep, i)
    chosen: Dict[str, List[Mark]] = {}
    for m in line.marks:
        if start <= m.t <= end and m.ep in first and m.event in EVENTS:
            chosen.setdefault(m.event, []).append(m)
    for event, marks in chosen.items():
        marker, colour, _ = EVENTS[event]
        step = int(np.ceil(len(marks) / MOST_MARKS))
        ax.plot([(m.t - start) / scale for m in marks[::step]], [first[m.ep] - 0.43 for m in marks[::step]], linestyle="none",
                marker=marker, color=colour, markersize=6.0 if event == "delack" else 4.0, markeredgewidth=0.8 if marker == "|" else 0.0, clip_on=False,
                zorder=4 if event == "delack" else 5)
    return [e for e in EVENTS if e in chosen]


def _axes(ax: Any, line: Timeline, lanes: Sequence[Tuple[str, str]], width: float, unit: str) -> None:
    ax.set_yticks(range(len(lanes)))
    ax.set_yticklabels([f"{_short(line.endpoints.get(ep) or ep)} {ledger}" for ep, ledger in lanes])
    ax.set(xlim=(0, width), ylim=(len(lanes) - 0.45, -0.6), xlabel=f"time ({unit})")
    ax.tick_params(axis="y", length=0)
    ax.grid(False)
    ax.spines["left"].set_visible(False)


def _short(name: str) -> str:
    return name if len(name) <= 26 else name[:25] + "…"


def _legend(ax: Any, used: Sequence[str], events: Sequence[str]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: List[Any] = [Patch(**style.state_patch(s)) for s in used]
    names = [f"{s} (stall)" if s in STALL_STATES else s for s in used]
    for e in events:
        marker, colour, name = EVENTS[e]
        handles.append(Line2D([], [], linestyle="none", marker=marker, color=colour, markersize=4.5))
        names.append(name)
    style.legend_above(ax, 6, handles=handles, labels=names)
