# SPDX-License-Identifier: GPL-2.0-only
"""Which transport is fastest at which size, ties judged by a test."""

from __future__ import annotations

from typing import Callable, List, Optional, Sequence, Tuple

from . import units
from .model import Document, Point
from .series import all_points, group
from .stats.ranks import Contestant, Place, latency_contestant, rank, throughput_contestant

Row = Tuple[str, str, List[Place]]  # test, size, places
Make = Callable[[str, Sequence[Point]], Optional[Contestant]]
TESTS: Sequence[Tuple[str, Make, bool]] = (
    ("latency", latency_contestant, False), ("throughput", throughput_contestant, True))
CLASSIC_SIZES = (16, 1024, 65536)


def rows(documents: Sequence[Document]) -> List[Row]:
    out: List[Row] = []
    for test, make, larger in TESTS:
        points = tested(documents, test)
        series = group(points)
        for size in _sizes(points):
            made = (make(s.label, s.cells.get(float(size), [])) for s in series)
            field = [contestant for contestant in made if contestant is not None]
            if len(field) > 1:
                out.append((test, units.size_text(size), rank(field, larger)))
    return out


def tested(documents: Sequence[Document], test: str) -> List[Point]:
    return [p for p in all_points(documents) if p.test == test and p.size is not None]


def _sizes(points: Sequence[Point]) -> List[int]:
    """16 B, 1 KiB and 64 KiB where they were measured, else up to six of those that were."""
    have = sorted({p.size for p in points if p.size is not None})
    seeds = [s for s in CLASSIC_SIZES if s in have]
    if len(seeds) == len(CLASSIC_SIZES) or len(have) <= 6:
        return seeds if len(seeds) == len(CLASSIC_SIZES) else have
    return [have[round(i * (len(have) - 1) / 5)] for i in range(6)]


def value_text(test: str, place: Place) -> str:
    return units.rate_text(place.value) if test == "throughput" else units.time_text(place.value)
