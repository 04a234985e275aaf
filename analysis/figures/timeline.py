# SPDX-License-Identifier: GPL-2.0-only
"""One connection against time: both ends, each ledger a row of coloured bands, messages and ACKs above them."""

from __future__ import annotations

from typing import Any, Dict, List, Sequence, Tuple

import numpy as np

from .. import style, units
from ..errors import usage
from .request import Request
from ..model import Floats, Mark, RX_STATES, STALL_STATES, Span, TX_STATES, Timeline

EVENTS: Dict[str, Tuple[str, str, str]] = {  # marker, colour, name
    "message": ("v", style.BLACK, "message"), "segment": ("|", style.BLUE, "segment"), "ack": ("^", style.GREEN, "ACK"),
    "delack": ("D", style.PURPLE, "delayed ACK"), "retransmit": ("X", style.VERMILLION, "retransmit"),
    "wakeup": ("o", style.GREY, "wake-up"), "read": ("1", style.BLACK, "read"), "timeout": ("P", style.VERMILLION, "timeout"),
    "transmit": ("2", style.SKY, "at the driver"), "arrival": ("|", style.BLUE, "arrival"),
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
    _axes(ax, line, lanes, [(t - line.start) / scale for t in (start, end, line.end)], unit)
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


DOTS = 1000  # across, of a PNG: what is thinner cannot be drawn beside its neighbours
Rectangle = Tuple[float, float, float, float]  # left, right, bottom, top; the height of a row is 1


def shares(spans: Sequence[Span], start: float, end: float, dots: int = DOTS) -> Dict[str, Floats]:
    """By state, the part of each of the window's `dots` equal pieces that was spent in it."""
    piece = (end - start) / dots
    out: Dict[str, Floats] = {}
    for s in spans:
        a, b = (max(s.start, start) - start) / piece, (min(s.end, end) - start) / piece
        if b <= a:
            continue
        row = out.setdefault(s.state, np.zeros(dots))
        first, last = min(int(a), dots - 1), min(int(b), dots - 1)
        if first == last:
            row[first] += b - a
            continue
        row[first] += first + 1 - a
        row[first + 1:last] += 1.0
        row[last] += b - last
    return out


def rectangles(part: Dict[str, Floats], order: Sequence[str]) -> Dict[str, List[Rectangle]]:
    """Where states took turns within a piece they stand on each other, each as high as its share; pieces that look alike are one."""
    out: Dict[str, List[Rectangle]] = {}
    floor = np.zeros(DOTS)
    for state in (s for s in order if s in part):
        top = floor + part[state]
        turns = np.flatnonzero((np.abs(np.diff(top)) > 1e-6) | (np.abs(np.diff(floor)) > 1e-6)) + 1
        for a, b in zip([0, *turns], [*turns, len(top)]):
            if top[a] - floor[a] > 1e-9:
                out.setdefault(state, []).append((float(a), float(b), float(floor[a]), float(top[a])))
        floor = top
    return out


def _bands(ax: Any, line: Timeline, lanes: Sequence[Tuple[str, str]], start: float, end: float, scale: float) -> List[str]:
    from matplotlib.collections import PolyCollection

    used = set()
    left, piece = (start - line.start) / scale, (end - start) / DOTS / scale
    for i, (ep, ledger) in enumerate(lanes):
        spans = [s for s in line.spans if s.ep == ep and s.ledger == ledger]
        for state, boxes in rectangles(shares(spans, start, end), TX_STATES if ledger == "tx" else RX_STATES).items():
            corners = [[(left + x * piece, i + 0.36 - 0.72 * y) for x, y in ((a, low), (b, low), (b, high), (a, high))]
                       for a, b, low, high in boxes]
            ax.add_collection(PolyCollection(corners, **style.state_patch(state), zorder=2))
            used.add(state)
    return sorted(used, key=[*TX_STATES, *RX_STATES].index)


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
        ax.plot([(m.t - line.start) / scale for m in marks[::step]], [first[m.ep] - 0.43 for m in marks[::step]], linestyle="none",
                marker=marker, color=colour, markersize=6.0 if event == "delack" else 4.0, markeredgewidth=0.8 if marker == "|" else 0.0, clip_on=False,
                zorder=4 if event == "delack" else 5)
    return [e for e in EVENTS if e in chosen]


def _axes(ax: Any, line: Timeline, lanes: Sequence[Tuple[str, str]], ends: Sequence[float], unit: str) -> None:
    """`ends`: of what is shown, and of the whole; all since the first event, as --from and --to are."""
    start, end, whole = ends
    part = "" if start <= 0 and end >= whole else f"; an excerpt of {whole:.4g} {unit}"
    ax.set_yticks(range(len(lanes)))
    ax.set_yticklabels([f"{_short(line.name(ep, ledger))} {ledger}" for ep, ledger in lanes])
    ax.set(xlim=(start, end), ylim=(len(lanes) - 0.45, -0.6), xlabel=f"time since the first event ({unit}){part}")
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
    style.legend_above(ax, 6, room=440, from_edge=True, handles=handles, labels=names)
