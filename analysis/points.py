# SPDX-License-Identifier: GPL-2.0-only
"""One point of a result or sweep, from its JSON."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np

from . import fields
from .errors import data
from .model import Blame, Calls, Endpoint, Histogram, Latency, Ledger, Point, Side, State, Throughput, Value

QUANTILES = ("min", "q1", "median", "q3", "p90", "p95", "p99", "p999", "max", "mad", "uncertainty", "mean")
SCALE = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def read_point(item: Any, where: str, source: str) -> Point:
    o = fields.obj(item, where)
    latency = fields.sub(o, "latency", where)
    return Point(
        mode=fields.text(o, "mode", where, "unknown"),
        test=fields.text(o, "test", where, "unknown"),
        size=fields.whole(o, "size", where),
        placement=fields.text(o, "placement", where),
        n=fields.whole(o, "n", where),
        elapsed_ns=fields.number(o, "elapsed_ns", where),
        messages=fields.number(o, "messages", where),
        bytes=fields.number(o, "bytes", where),
        lost=fields.number(o, "lost", where),
        latency=_latency(latency, where),
        histogram=_histogram(o, latency, where),
        throughput=_throughput(fields.sub(o, "throughput", where), where),
        ledger=read_ledger(fields.sub(o, "ledger", where), where),
        warnings=tuple(fields.texts(o, "warnings", where)),
        vars=_vars(fields.sub(o, "vars", where) or {}, where),
        repeat=fields.whole(o, "repeat", where) or 0,
        source=source,
        calls=_calls(fields.sub(o, "rpc", where), where),
    )


def _calls(o: Optional[fields.Object], where: str) -> Optional[Calls]:
    names = ("connect_ns", "first_call_ns", "marshal_ns", "unmarshal_ns", "overhead")
    return None if o is None else Calls(**{n: fields.number(o, n, f"{where}: rpc") for n in names})


def _vars(o: Mapping[str, Any], where: str) -> Dict[str, Value]:
    for key, value in o.items():
        if isinstance(value, (dict, list)):
            raise data(f"{where}: vars: {key}", "a single value was expected")
    return dict(o)


def _latency(o: Optional[fields.Object], where: str) -> Optional[Latency]:
    if o is None:
        return None
    scale = SCALE.get(fields.text(o, "unit", where, "ns"))
    if scale is None:
        raise data(f"{where}: latency: unit", f"{o['unit']!r} is none of {', '.join(SCALE)}")
    values: Dict[str, Optional[float]] = {}
    for name in QUANTILES:
        found = fields.number(o, name, f"{where}: latency")
        values[name] = None if found is None else found * scale
    _check_order(values, f"{where}: latency")
    return Latency(values)


def _check_order(values: Mapping[str, Optional[float]], where: str) -> None:
    known = [(k, v) for k in ("min", "q1", "median", "q3", "max") if (v := values.get(k)) is not None]
    for (a, x), (b, y) in zip(known, known[1:]):
        if x > y:
            raise data(where, f"{a} ({x:g}) is above {b} ({y:g})")


def _histogram(o: fields.Object, latency: Optional[fields.Object], where: str) -> Optional[Histogram]:
    found = o.get("histogram")
    if found is None and latency is not None:
        found = latency.get("histogram")
    if found is None:
        return None
    where = f"{where}: histogram"
    rows = found if isinstance(found, list) else fields.array(fields.obj(found, where), "buckets", where)
    return None if not rows else _bins(rows, where)


def _bins(rows: List[Any], where: str) -> Histogram:
    """Buckets are [low, high, count]; ascending, not overlapping."""
    try:
        table = np.asarray(rows, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        raise data(where, "each bucket must be [low, high, count]") from None
    if table.ndim != 2 or table.shape[1] != 3 or not np.isfinite(table).all():
        raise data(where, "each bucket must be [low, high, count]")
    low, high, count = table[:, 0], table[:, 1], table[:, 2]
    if (count < 0).any() or (high < low).any() or (low < 0).any() or (low[1:] < high[:-1]).any():
        raise data(where, "the buckets must rise, not overlap, and count nothing below zero")
    return Histogram(low, high, count)


def _throughput(o: Optional[fields.Object], where: str) -> Optional[Throughput]:
    if o is None:
        return None
    where = f"{where}: throughput"
    trials = tuple(fields.positive(v, f"{where}: trials") for v in fields.array(o, "trials", where))
    lasted = tuple(fields.positive(v, f"{where}: trial_ns") for v in fields.array(o, "trial_ns", where))
    if lasted and len(lasted) != len(trials):
        raise data(f"{where}: trial_ns", f"{len(lasted)} times of {len(trials)} trials")
    return Throughput(fields.number(o, "bytes_per_s", where), fields.number(o, "lo", where),
                      fields.number(o, "hi", where), fields.number(o, "confidence", where), trials, lasted)


def read_ledger(o: Optional[fields.Object], where: str) -> Optional[Ledger]:
    if o is None:
        return None
    where = f"{where}: ledger"
    ends = tuple(_endpoint(e, f"{where}: endpoints[{i}]") for i, e in enumerate(fields.array(o, "endpoints", where)))
    return Ledger(ends, fields.number(o, "stall_ns", where), fields.number(o, "stall_per_message_ns", where),
                  fields.number(o, "normalised_stall", where), fields.number(o, "unaccounted_ns", where),
                  _verdict(o.get("verdict")), fields.text(o, "outcome", where), fields.sub(o, "card", where) or {})


def _verdict(value: Any) -> str:
    """A text, or an object that carries one."""
    if isinstance(value, dict):
        value = value.get("text")
    return value if isinstance(value, str) else ""


def _endpoint(item: Any, where: str) -> Endpoint:
    o = fields.obj(item, where)
    return Endpoint(fields.text(o, "role", where), fields.text(o, "proto", where), fields.text(o, "local", where),
                    fields.text(o, "remote", where), fields.whole(o, "pid", where), fields.text(o, "comm", where),
                    _side(fields.sub(o, "tx", where), f"{where}: tx"), _side(fields.sub(o, "rx", where), f"{where}: rx"),
                    fields.sub(o, "beside", where) or {}, _blame(o, where))


def _blame(o: fields.Object, where: str) -> Tuple[Blame, ...]:
    out = []
    for i, item in enumerate(fields.array(o, "blame", where)):
        at = f"{where}: blame[{i}]"
        b = fields.obj(item, at)
        out.append(Blame(fields.text(b, "state", at), fields.text(b, "by", at), fields.number(b, "ns", at) or 0.0))
    return tuple(out)


def trace_point(ledger: Any, where: str, source: str) -> Point:
    """What a command's trace holds is one ledger and nothing measured beside it."""
    return read_point({"mode": "trace", "test": "trace", "ledger": ledger}, where, source)


def _side(o: Optional[fields.Object], where: str) -> Optional[Side]:
    if o is None:
        return None
    states = {}
    for name, value in (fields.sub(o, "states", where) or {}).items():
        at = f"{where}: {name}"
        s = fields.obj(value, at)
        states[name] = State(fields.number(s, "ns", at), fields.number(s, "count", at), fields.number(s, "max_ns", at))
    return Side(fields.number(o, "lifetime_ns", where), states)
