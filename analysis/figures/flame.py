# SPDX-License-Identifier: GPL-2.0-only
"""A flame graph of single stalls: who waited, from which call stack, in which state, and for whom. Width is time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Tuple

from .. import style, units
from ..errors import usage
from ..stacks import chains
from .request import Request

ROW = 0.17  # inches
LETTER = 3.8  # points of one, on average
NARROWEST = 3  # letters: less names nothing
DEEPEST = 48


@dataclass
class Frame:
    name: str
    ns: float = 0.0
    above: Dict[str, Frame] = field(default_factory=dict)

    def depth(self) -> int:
        return 1 + max((f.depth() for f in self.above.values()), default=0)


def draw(request: Request) -> Any:
    from matplotlib import pyplot as plt

    root = _grown(request)
    rows = min(root.depth() - 1, DEEPEST)
    if root.depth() - 1 > DEEPEST:
        request.remarks.append(f"stacks deeper than {DEEPEST} frames are cut off")
    scale, unit = units.best_unit(root.ns, units.TIMES)
    figure, ax = plt.subplots(figsize=(style.WIDTH, 0.75 + ROW * rows))
    room = 72 * (style.WIDTH - 0.3) / root.ns
    for row, start, frame in _laid_out(root):
        if row < rows:
            _box(ax, row, start / scale, frame.ns / scale, frame.name, int(frame.ns * room / LETTER) - 1)
    ax.set(xlim=(0, root.ns / scale), ylim=(-0.1, rows + 0.1), xlabel=f"stall ({unit})")
    ax.set_yticks([])
    ax.grid(False)
    ax.spines["left"].set_visible(False)
    style.title(ax, request.title or "Stall by program, call stack and whom it waited for")
    return figure


def _grown(request: Request) -> Frame:
    root = Frame("")
    for doc in request.documents:
        for chain, ns in sorted(chains(doc).items()):
            at = root
            at.ns += ns
            for name in chain:
                at = at.above.setdefault(name, Frame(name))
                at.ns += ns
    if not root.ns:
        raise usage(f"{request.names()}: its single stalls add up to no time; record it with --threshold or --stacks")
    return root


def _laid_out(frame: Frame, row: int = 0, start: float = 0.0) -> Iterator[Tuple[int, float, Frame]]:
    """Each above the one that called it, the widest first."""
    waiting: List[Tuple[Frame, int, float]] = [(frame, row, start)]
    while waiting:
        below, row, at = waiting.pop()
        for f in sorted(below.above.values(), key=lambda f: (-f.ns, f.name)):
            yield row, at, f
            waiting.append((f, row + 1, at))
            at += f.ns


def _box(ax: Any, row: int, left: float, width: float, name: str, letters: int) -> None:
    colour, ink, label = _look(name)
    ax.barh(row + 0.5, width, left=left, height=0.92, facecolor=colour, edgecolor="white", linewidth=0.4)
    if letters >= NARROWEST:
        text = label if len(label) <= letters else label[:letters - 1] + "…"
        ax.text(left + width / 2, row + 0.5, text, ha="center", va="center", fontsize=6.2, color=ink)


def _look(name: str) -> Tuple[str, str, str]:
    """Colour, ink and label: the stall is the loudest, then who waited and for whom; the kernel's functions are darker than the program's."""
    if name.startswith("stall:"):
        return style.VERMILLION, "white", name.removeprefix("stall:")
    if name.startswith(("by:", "peer:")):
        return style.BLUE, "white", "for " + name.partition(":")[2]
    if name.startswith("k:"):
        return "#C9D1D6", style.BLACK, name.removeprefix("k:")
    if name.endswith("]"):
        return style.BLUE, "white", name
    return style.PALE, style.BLACK, name
