# SPDX-License-Identifier: GPL-2.0-only
"""Which transport is fastest where, ties judged by a test."""

from __future__ import annotations

from typing import Any, Sequence

from .. import style
from ..errors import usage
from .request import Request
from ..model import Document
from ..series import group
from ..standings import TESTS, rows, tested, value_text
from ..stats.ranks import Place

MOST_NAMES = 8


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
    series = [s for test, *_ in TESTS for s in group(tested(documents, test))]
    names = list(dict.fromkeys(s.label for s in series))
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
