# SPDX-License-Identifier: GPL-2.0-only
"""Which transport is fastest where, ties judged by a test."""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Sequence, Tuple

from .. import style, units
from ..errors import usage
from .request import Request
from ..model import Document, Point
from ..series import all_points, group
from ..stats.ranks import Contestant, Place, latency_contestant, rank, throughput_contestant

Row = Tuple[str, str, List[Place]]  # test, size, places
Make = Callable[[str, Sequence[Point]], Optional[Contestant]]
TESTS: Sequence[Tuple[str, Make, bool]] = (("latency", latency_contestant, False), ("throughput", throughput_contestant, True))
CLASSIC_SIZES = (16, 1024, 65536)
MOST_NAMES = 8


def rows(documents: Sequence[Document]) -> List[Row]:
    out: List[Row] = []
    for test, make, larger in TESTS:
        points = _tested(documents, test)
        series = group(points)
        for size in _sizes(points):
            field = [c for s in series if (c := make(s.label, s.cells.get(float(size), []))) is not None]
            if len(field) > 1:
                out.append((test, units.size_text(size), rank(field, larger)))
    return out


def _tested(documents: Sequence[Document], test: str) -> List[Point]:
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


def draw(request: Request) -> Any:
    from matplotlib import pyplot as plt

    table = rows(request.documents)
    if not table:
        raise usage(f"{request.names()}: a rank needs at least two transports measured at one size; pass the files of both")
    columns = min(max(len(places) for *_, places in table), MOST_NAMES)
    height = 0.75 + 0.42 * (len(table) + 1)
    figure, ax = plt.subplots(figsize=(style.WIDTH, height))
    ax.set(xlim=(0, columns + 1.05), ylim=(len(table) + 0.05, -0.9))
    ax.set_axis_off()
    colours = _colours(request.documents)
    for j in range(columns):
        word = f"{j + 1}" + (" (fastest)" if j == 0 else "")
        ax.text(j + 1.55, -0.35, word, ha="center", va="center", fontweight="bold", fontsize=7.5)
    for i, (test, size, places) in enumerate(table):
        ax.text(0.02, i + 0.5, f"{test}\n{size}", va="center", fontsize=7.5)
        for j, place in enumerate(places[:columns]):
            _cell(ax, i, j, test, place, colours[place.name], columns)
    style.title(ax, request.title or "Rank by size; an equals sign marks a tie")
    return figure


def _colours(documents: Sequence[Document]) -> dict[str, str]:
    """As in the curves and boxes of the same files: in the series' own order, whoever is the fastest."""
    names = list(dict.fromkeys(s.label for test, *_ in TESTS for s in group(_tested(documents, test))))
    return {n: style.CURVES[i % len(style.CURVES)][0] for i, n in enumerate(names)}


def _cell(ax: Any, i: int, j: int, test: str, place: Place, colour: str, columns: int) -> None:
    from matplotlib.patches import Rectangle

    ax.add_patch(Rectangle((j + 1.08, i + 0.08), 0.94, 0.84, facecolor=colour, alpha=0.16, linewidth=0))
    ax.add_patch(Rectangle((j + 1.08, i + 0.08), 0.03, 0.84, facecolor=colour, linewidth=0))
    room = int(66 / columns)
    name = place.name if len(place.name) <= room else place.name[: room - 1] + "…"
    ax.text(j + 1.57, i + 0.32, name, ha="center", va="center", fontsize=7)
    ax.text(j + 1.57, i + 0.70, f"{place.rank}{'=' if place.tied else ''}   {value_text(test, place)}", ha="center",
            va="center", fontsize=6.3, color="#333333")
