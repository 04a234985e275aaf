# SPDX-License-Identifier: GPL-2.0-only
"""Where a sender's time goes, as shares of its lifetime."""

from __future__ import annotations

from typing import Dict, List, Optional, Tuple

import numpy as np

from .model import Endpoint, Point


def sender(p: Point) -> Optional[Endpoint]:
    """The end that stalls most, else the one that sends most: for its time the message waits."""
    ends = [e for e in (p.ledger.endpoints if p.ledger else ()) if e.tx is not None and e.tx.states]
    if not ends:
        return None

    def busy(e: Endpoint) -> Tuple[float, float]:
        assert e.tx is not None
        idle = e.tx.states.get("idle")
        lifetime = e.tx.lifetime_ns or 0.0
        return e.tx.stall_ns, lifetime - ((idle.ns or 0.0) if idle else 0.0)

    return max(ends, key=busy)


def shares(points: List[Point]) -> Optional[Dict[str, float]]:
    """Mean share of each state over the repeats of a cell."""
    rows = []
    for p in points:
        end = sender(p)
        if end is None or end.tx is None:
            continue
        total = sum(s.ns or 0.0 for s in end.tx.states.values())
        if total > 0:
            rows.append({k: (s.ns or 0.0) / total for k, s in end.tx.states.items()})
    if not rows:
        return None
    states = dict.fromkeys(k for r in rows for k in r)
    return {k: float(np.mean([r.get(k, 0.0) for r in rows])) for k in states}
