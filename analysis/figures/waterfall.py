# SPDX-License-Identifier: GPL-2.0-only
"""The path of a message, layer by layer: of the one at the median, and of one among the slowest."""

from __future__ import annotations

from typing import Any, List, Sequence

from .. import style, units
from ..errors import usage
from .request import Request
from ..waterfall import ANSWER, AWAKE, STATIONS, Layer, Message, Way, ways

RANKS = ((0.5, "at the median"), (0.99, "at 99 %"))
COLOURS = dict(zip((*(name for _, name in STATIONS), AWAKE, ANSWER), (style.BLUE, style.PURPLE, style.VERMILLION, style.GREEN, style.GREY, style.SKY)))
MOST_WAYS = 2


def draw(request: Request) -> Any:
    from matplotlib import pyplot as plt

    line = request.timeline
    if line is None:
        raise usage("figure waterfall: a timeline file is needed; record one with --timeline")
    found = ways(line)
    request.remarks += [r for w in found for r in w.remarks]
    drawn = [w for w in found if w.messages][:MOST_WAYS]
    if not drawn:
        raise usage(f"{line.path}: no message can be followed from one end to the other"
                    + (f": {found[0].remarks[0]}" if found else "; record both ends, from the beginning of their conversation"))
    figure, grid = plt.subplots(len(drawn), len(RANKS), squeeze=False, figsize=(style.WIDTH, 0.6 + 1.75 * len(drawn)))
    for row, way in zip(grid, drawn):
        for ax, (rank, name) in zip(row, RANKS):
            _fall(ax, way, way.at(rank))
            ax.set_title(f"{_ends(line.endpoints, way)}, {name}", fontsize=7.5, fontweight="normal")
    for ax in grid[:, 1:].flat:
        ax.tick_params(labelleft=False)
    style.title(grid[0][0], request.title or f"The path of a message, layer by layer ({sum(len(w.messages) for w in drawn)} messages)")
    return figure


def _ends(labels: Any, way: Way) -> str:
    roles = [(labels.get(e) or e).split(" ")[0] for e in dict.fromkeys((way.sender, way.reader))]
    return " to ".join(roles)


def _fall(ax: Any, way: Way, message: Message) -> None:
    """Every layer a row, each where the one above it ended."""
    rows = way.layers()
    shown: List[Layer] = list(message.layers)
    start, whole = shown[0].start, message.total
    scale, unit = units.best_unit(whole, units.TIMES)
    for layer in shown:
        i = rows.index(layer.name)
        left, width = (layer.start - start) / scale, layer.ns / scale
        ax.barh(i, width, left=left, height=0.62, color=COLOURS[layer.name])
        _label(ax, i, left, width, whole / scale, f" {units.time_text(layer.ns)} ")
    ax.set(ylim=(len(rows) - 0.5, -0.5), xlim=(0, whole / scale), xlabel=f"since {'its send call began' if message.from_call else 'it was first seen'} ({unit})")
    ax.set_yticks(range(len(rows)))
    ax.set_yticklabels([_folded(r) for r in rows])
    ax.grid(True, axis="x")
    ax.grid(False, axis="y")
    ax.tick_params(axis="y", length=0)


def _label(ax: Any, row: int, left: float, width: float, whole: float, text: str) -> None:
    """Beside its bar where there is room, else on it."""
    if width > whole / 2:
        ax.text(left + width / 2, row, text, ha="center", va="center", fontsize=6.5, color="white")
    elif (left + width) / whole > 0.7:
        ax.text(left, row, text, ha="right", va="center", fontsize=6.5)
    else:
        ax.text(left + width, row, text, ha="left", va="center", fontsize=6.5)


def _folded(name: str, most: int = 26) -> str:
    lines: List[str] = [""]
    for word in name.split(" "):
        lines[-1:] = _next(lines[-1], word, most)
    return "\n".join(lines)


def _next(line: str, word: str, most: int) -> Sequence[str]:
    if line and len(line) + 1 + len(word) > most:
        return line, word
    return (f"{line} {word}".strip(),)
