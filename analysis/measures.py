# SPDX-License-Identifier: GPL-2.0-only
"""What a claim can be about: figures of a point, and which points are meant."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from . import units
from .errors import data
from .model import Point
from .series import as_number, plain, same


@dataclass(frozen=True)
class Measure:
    name: str
    words: str
    get: Callable[[Point], Optional[float]]
    more_is_better: bool
    text: Callable[[Optional[float]], str]


def _lat(name: str) -> Callable[[Point], Optional[float]]:
    return lambda p: p.latency.get(name) if p.latency is not None else None


def _rate_acked(p: Point) -> Optional[float]:
    """Delivered bytes over the sender's whole time: what counts where packets are lost on the way."""
    return p.bytes * 1e9 / p.elapsed_ns if p.bytes and p.elapsed_ns else None


def _best(p: Point) -> Optional[float]:
    """The best of the slices a run is cut into: what other load disturbed least."""
    return max(p.throughput.trials) if p.throughput is not None and p.throughput.trials else None


def _call(name: str) -> Callable[[Point], Optional[float]]:
    """The whole of it, of which a latency is half."""
    return lambda p: None if (half := _lat(name)(p)) is None else 2.0 * half


def _of_call(name: str) -> Callable[[Point], Optional[float]]:
    return lambda p: getattr(p.calls, name) if p.calls is not None else None


def _times(v: Optional[float]) -> str:
    return "-" if v is None else f"{v:.2f}"


ROWS: Sequence[Measure] = (
    Measure("latency", "median latency", _lat("median"), False, units.time_text),
    Measure("least", "least latency", _lat("min"), False, units.time_text),
    Measure("mean", "mean latency", _lat("mean"), False, units.time_text),
    Measure("throughput", "throughput", lambda p: p.bytes_per_s, True, units.rate_text),
    Measure("best", "throughput of the best slice", _best, True, units.rate_text),
    Measure("delivered", "delivered bytes per second", _rate_acked, True, units.rate_text),
    Measure("time", "time per message", lambda p: p.ns_per_message, False, units.time_text),
    Measure("stall", "stall per message", lambda p: p.stall_per_message_ns, False, units.time_text),
    Measure("call", "median call", _call("median"), False, units.time_text),
    Measure("call-mean", "mean call", _call("mean"), False, units.time_text),
    Measure("first", "first call", _of_call("first_call_ns"), False, units.time_text),
    Measure("marshal", "marshalling", _of_call("marshal_ns"), False, units.time_text),
    Measure("unmarshal", "unmarshalling", _of_call("unmarshal_ns"), False, units.time_text),
    Measure("overhead", "times a plain message", _of_call("overhead"), False, _times),
    Measure("held", "share of the time in which an end held data back", lambda p: p.held_share, False, units.percent_text),
    Measure("share", "stalled share of the time", lambda p: p.normalised_stall, False, units.percent_text),
)
MEASURES: Dict[str, Measure] = {m.name: m for m in ROWS}


def measure(claim: Mapping[str, Any], where: str) -> Measure:
    name = claim.get("metric")
    if name not in MEASURES:
        raise data(where, f"metric {name!r} is none of {', '.join(MEASURES)}")
    return MEASURES[str(name)]


def chosen(points: Sequence[Point], *filters: Optional[Mapping[str, Any]]) -> List[Point]:
    """Those which every filter lets through: {"mode": "tcp", "size": [4, 16]}, {"size": {"from": 1448}}."""
    return [p for p in points if all(_passes(p, name, wanted) for f in filters if f for name, wanted in f.items())]


def _passes(p: Point, name: str, wanted: Any) -> bool:
    value = p.repeat if name == "repeat" else p.value(name)
    if isinstance(wanted, dict):
        number = as_number(value)
        return number is not None and wanted.get("from", number) <= number <= wanted.get("to", number)
    many = wanted if isinstance(wanted, list) else [wanted]
    return any(_equal(name, value, w) for w in many)


def _equal(name: str, value: Any, wanted: Any) -> bool:
    x, y = as_number(value), as_number(wanted)
    return x == y if x is not None and y is not None else same(name, value, plain(wanted))


# "pushed off" is what older results say for "were preempted"
DISTURBED = re.compile(r"other processes used|the host took|were preempted|pushed off|changed speed")
ENOUGH = 3  # calm repeats of every cell


def disturbed(p: Point) -> bool:
    """Whether the tool itself said that another load was about."""
    return any(DISTURBED.search(w) for w in p.warnings)


def calm(points: Sequence[Point]) -> List[Point]:
    """Without the points another load disturbed, where enough repeats of every cell are left; else all. The rule looks at
    the load alone, not at the figures."""
    cells: Dict[str, int] = {}
    for p in points:
        key = repr((p.mode, p.test, p.size, sorted((k, str(v)) for k, v in p.vars.items() if k != "seed")))
        cells[key] = cells.get(key, 0) + (not disturbed(p))
    return [p for p in points if not disturbed(p)] if cells and min(cells.values()) >= ENOUGH else list(points)


def x_text(name: str, x: float) -> str:
    return units.value_text(name, x)
