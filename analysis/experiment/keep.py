# SPDX-License-Identifier: GPL-2.0-only
"""Data small enough to stand in a repository: what figures and claims read, without the rest, gzipped without a date."""

from __future__ import annotations

import json
import os
import zlib
from typing import Any, Dict

from ..decode import parse, read_bytes
from .answer import data_file
from .plan import Plan
from ..output import make_directory, write

POINT = ("mode", "test", "size", "placement", "nodelay", "ack", "elapsed_ns", "messages", "bytes", "sent", "lost", "n", "latency", "histogram",
         "throughput", "rpc", "warnings", "vars", "repeat", "index")
HEADER = ("schema", "version", "tool", "machine", "clock", "options", "started", "trace", "vary", "order_seed", "repeats")
LEDGER = ("stall_ns", "stall_per_message_ns", "normalised_stall", "unaccounted_ns", "verdict")
END = ("role", "proto", "blame")
PRIVATE = ("hostname",)
DRAWN = 2  # repeats whose histograms a figure is drawn from


def _some(o: Dict[str, Any], keys: "tuple[str, ...]") -> Dict[str, Any]:
    return {k: o[k] for k in keys if k in o}


def _rounded(value: Any) -> Any:
    """Six figures: more than any of these was measured to."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    return [_rounded(v) for v in value] if isinstance(value, list) else value


def _side(side: Any) -> Any:
    if not isinstance(side, dict):
        return side
    states = {k: _some(s, ("ns", "count", "max_ns")) for k, s in (side.get("states") or {}).items() if s.get("ns") != 0}
    return {"lifetime_ns": side.get("lifetime_ns"), "states": states}


def _end(end: Dict[str, Any]) -> Dict[str, Any]:
    return {**_some(end, END), "tx": _side(end.get("tx")), "rx": _side(end.get("rx"))}


def compact(row: Dict[str, Any], histograms: float) -> Dict[str, Any]:
    if "schema" in row:
        out = _some(row, HEADER)
        out["machine"] = {k: v for k, v in (row.get("machine") or {}).items() if k not in PRIVATE}
        return out
    if "end" in row:
        return row
    out = _some(row, POINT)
    if row.get("repeat", 0) >= histograms:
        out["histogram"] = None
    ledger = row.get("ledger")
    if isinstance(ledger, dict):
        out["ledger"] = {**_some(ledger, LEDGER), "endpoints": [_end(e) for e in ledger.get("endpoints") or []]}
    found: Dict[str, Any] = _rounded(out)
    return found


def _histograms(plan: Plan) -> float:
    """Of so many repeats: claims need all of them, and a figure can be drawn again from a few."""
    if any(c["kind"] in ("rare", "one-sided", "comb") for c in plan.claims):
        return float("inf")
    return DRAWN if any(f.get("kind") in ("cdf", "rank") for f in plan.figures) else 0


def keep(plan: Plan, source: str, target: str) -> None:
    make_directory(target)
    for run in plan.runs:
        path = data_file(plan, source, run.name)
        rows = [parse(line, path) for line in read_bytes(path).split(b"\n") if line.strip()]
        lines = [json.dumps(compact(r, _histograms(plan)), separators=(",", ":"), ensure_ascii=False) for r in rows]
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        write(os.path.join(target, run.name + ".ndjson.gz"), packer.compress(("\n".join(lines) + "\n").encode()) + packer.flush())
