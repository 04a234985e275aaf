# SPDX-License-Identifier: GPL-2.0-only
"""The figures: one row each. A figure is a module with draw(Request) -> matplotlib Figure."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Dict, Sequence

from .request import Request


@dataclass(frozen=True)
class Kind:
    name: str
    module: str
    timeline: bool
    help: str

    def draw(self, request: Request) -> Any:
        from .. import style

        with style.use():
            figure = import_module(f".{self.module}", __package__).draw(request)
            style.beware(figure, request.cut_short())
            return figure


ROWS: Sequence[Kind] = (
    Kind("throughput", "throughput", False, "throughput against size, with and without the fix, dips marked (NIST Figs 1, 2)"),
    Kind("stall", "stall", False, "normalised stall over throughput, correlation, share explained (NIST Fig. 3)"),
    Kind("ledger", "ledger", False, "the sender's states stacked by size"),
    Kind("curve", "curve", False, "any figure (--y latency, mean, stall ...) against any variable (--x)"),
    Kind("box", "boxes", False, "latency by size: minimum, quartiles, maximum"),
    Kind("cdf", "cdf", False, "cumulative distribution of latency"),
    Kind("rank", "rank", False, "rank table of transports, ties judged by a test"),
    Kind("heatmap", "heatmap", False, "throughput over two variables, such as pipe size and write size"),
    Kind("timeline", "timeline", True, "one connection against time: both ends, states as bands"),
    Kind("waterfall", "waterfall", True, "the path of a message, layer by layer: at the median and at 99 %"),
    Kind("flame", "flame", False, "flame graph of a trace's single stalls: who waited, from where, for whom"),
    Kind("series", "series", True, "throughput and stall against time, lagged correlation"),
)
KINDS: Dict[str, Kind] = {k.name: k for k in ROWS}
