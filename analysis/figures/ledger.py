# SPDX-License-Identifier: GPL-2.0-only
"""Where the time goes: the sender's states stacked by size, as shares of its lifetime or per message."""

from __future__ import annotations

from typing import Any, Dict, List, Tuple

import numpy as np

from .. import style, units
from ..errors import usage
from .request import Request
from ..model import Endpoint, Floats, Point, STALL_STATES, TX_STATES
from ..series import Series, all_points, of_all, spread
from ..shares import shares

MOST_PANELS = 3
MOST_BARS = 14


def draw(request: Request) -> Any:
    from matplotlib import pyplot as plt

    if all(d.kind == "trace" for d in request.documents):
        return _of_endpoints(request)
    every = [(s, t) for s in request.curves(_points(request)) if (t := _table(s))[1]]
    panels = spread(every, MOST_PANELS)
    if not panels:
        raise usage(f"{request.names()}: no point has a ledger; run where ipcstall check allows tracing")
    figure, grid = plt.subplots(len(panels), 1, figsize=(style.WIDTH, 0.7 + 2.4 * len(panels)), squeeze=False, sharex=False)
    used = _used([t for _, t in panels])
    for i, (ax, (s, (xs, rows))) in enumerate(zip(grid[:, 0], panels)):
        _stack(ax, xs, rows, used)
        if s.key:
            ax.set_ylabel(f"share of the time\n{s.label}")
        if i == 0:
            style.legend_above(ax, 6)
    grid[-1, 0].set_xlabel("message size (bytes)")
    style.title(grid[0, 0], request.title or "Where the sender's time goes" + of_all(len(panels), len(every)))
    return figure


def _points(request: Request) -> List[Point]:
    """Of one test: what a sender waits for is another thing in each."""
    points = all_points(request.documents)
    return request.tested([p for p in points if p.ledger is not None] or points, "throughput", "latency", "oneway", "connect")


def _of_endpoints(request: Request) -> Any:
    """A trace has no sizes: a bar for each end, the most stalled first."""
    from matplotlib import pyplot as plt

    ends = [e for p in all_points(request.documents) for e in (p.ledger.endpoints if p.ledger else ()) if e.tx and e.tx.lifetime_ns]
    ends = [e for e in ends if _stirred(e)] or ends
    ends = sorted(ends, key=lambda e: -(e.tx.stall_ns if e.tx else 0.0))[:MOST_BARS]
    if not ends:
        raise usage(f"{request.names()}: no end lived long enough to have a ledger; trace for longer")
    rows = [{k: (s.ns or 0.0) / (e.tx.lifetime_ns or 1.0) for k, s in e.tx.states.items()} for e in ends if e.tx]
    figure, ax = plt.subplots(figsize=(style.WIDTH, 1.2 + 0.36 * len(ends)))
    base: Floats = np.zeros(len(ends))
    for name in _used([([], rows)]):
        w = np.asarray([r.get(name, 0.0) for r in rows])
        ax.barh(np.arange(len(ends)), w, 0.7, left=base, label=f"{name} (stall)" if name in STALL_STATES else name, **style.state_patch(name))
        base = base + w
    ax.set_yticks(range(len(ends)))
    ax.set_yticklabels([_cut(f"{e.name}, {e.proto}" + (f" > {e.remote}" if e.remote else "")) for e in ends])
    ax.tick_params(axis="y", length=0)
    ax.grid(False)
    ax.set(xlim=(0, 1), ylim=(len(ends) - 0.5, -0.5), xlabel="share of the time")
    ax.xaxis.set_major_formatter(lambda v, _: f"{100 * v:.0f} %")
    style.legend_above(ax, 5, room=280)
    style.title(ax, request.title or "Where each sender's time goes")
    return figure


def _stirred(e: Endpoint) -> bool:
    """Whether it ever sent anything that took time."""
    return e.tx is not None and sum(s.ns or 0.0 for name, s in e.tx.states.items() if name != "idle") > 0


def _cut(text: str) -> str:
    return text if len(text) <= 44 else text[:43] + "…"


Table = Tuple[List[float], List[Dict[str, float]]]


def _table(s: Series) -> Table:
    rows = [(x, found) for x in s.xs() if (found := shares(s.cells[x])) is not None]
    return [x for x, _ in rows], [r for _, r in rows]


def _used(tables: List[Table]) -> List[str]:
    """States that hold anywhere for long enough to be seen; in order."""
    seen = {k for _, rows in tables for r in rows for k, v in r.items() if v > 0.001}
    return [k for k in TX_STATES if k in seen] + sorted(seen - set(TX_STATES))


def _stack(ax: Any, xs: List[float], rows: List[Dict[str, float]], used: List[str]) -> None:
    at = np.arange(len(xs), dtype=np.float64)
    base: Floats = np.zeros(len(xs))
    for name in used:
        h = np.asarray([r.get(name, 0.0) for r in rows])
        label = f"{name} (stall)" if name in STALL_STATES else name
        ax.bar(at, h, 0.84 if len(xs) < 60 else 1.0, bottom=base, label=label, **style.state_patch(name))
        base = base + h
    step = max(1, int(np.ceil(len(xs) * _widest(xs) / 62.0)))
    shown = at[::step].astype(int)
    ax.set_xticks(shown)
    ax.set_xticklabels([units.bytes_text(xs[i]) for i in shown])
    ax.set(ylim=(0, 1), xlim=(-0.6, len(xs) - 0.4), ylabel="share of the time")
    ax.yaxis.set_major_formatter(lambda v, _: f"{100 * v:.0f} %")


def _widest(xs: List[float]) -> int:
    return max(len(units.bytes_text(x)) for x in xs) + 1
