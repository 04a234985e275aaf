# SPDX-License-Identifier: GPL-2.0-only
"""Which texts of a figure run into each other or off the page: judged on what the renderer really drew. The figures' oracle."""

from __future__ import annotations

from typing import Any, List, Set, Tuple

Box = Tuple[str, Any]


def _visible_ticks(axis: Any) -> List[Any]:
    low, high = sorted(axis.get_view_interval())
    slack = (high - low) * 1e-6
    ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
    return [t for t in ticks if low - slack <= t.get_loc() <= high + slack]


def text_boxes(figure: Any) -> List[Box]:
    """(text, bounding box in pixels) of every text that shows."""
    from matplotlib.text import Text

    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    hidden: Set[int] = set()
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            shown = {id(t) for t in _visible_ticks(axis)}
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                if id(tick) not in shown or not ax.axison:
                    hidden.update((id(tick.label1), id(tick.label2)))
    out = []
    for text in figure.findobj(Text):
        if id(text) in hidden or not text.get_visible() or not text.get_text().strip():
            continue
        out.append((text.get_text(), text.get_window_extent(renderer)))
    return out


def overlaps(boxes: List[Box], slack: float = 0.5) -> List[Tuple[str, str]]:
    """Pairs of texts whose boxes intersect by more than `slack` pixels each way."""
    found = []
    for i, (a, box) in enumerate(boxes):
        for b, other in boxes[i + 1:]:
            wide = min(box.x1, other.x1) - max(box.x0, other.x0)
            high = min(box.y1, other.y1) - max(box.y0, other.y0)
            if wide > slack and high > slack:
                found.append((a, b))
    return found


def off_page(boxes: List[Box], page: Any, slack: float = 1.0) -> List[str]:
    return [t for t, b in boxes
            if b.x0 < page.x0 - slack or b.y0 < page.y0 - slack or b.x1 > page.x1 + slack or b.y1 > page.y1 + slack]
