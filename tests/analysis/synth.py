# SPDX-License-Identifier: GPL-2.0-only
"""Data whose answers are known: the comb by its rule, latencies from known distributions, timelines by construction."""

from __future__ import annotations

import json
from typing import Any, Dict, Iterable, List, Optional, Sequence

import numpy as np

MACHINE = {"hostname": "bench1", "cpu": "Example CPU 3.0 GHz", "cpus": 2, "kernel": "6.12.0-test", "arch": "x86_64"}
TOOL = {"name": "ipcstall", "version": "0.1.0", "git": "0000000000", "build": "O2"}
CLOCK = {"source": "CLOCK_MONOTONIC", "resolution_ns": 1, "cost_ns": 20}
MSS = 1448


def comb_stalls(size: int, mss: int = MSS, trailer: int = 4) -> bool:
    """A body write and a trailer write stall when a partial segment is left while an odd number of segments is out."""
    body = size - trailer
    return body % mss != 0 and -(-body // mss) % 2 == 1


def header(schema: str, **more: Any) -> Dict[str, Any]:
    base = {"schema": f"ipcstall.{schema}", "version": 1, "tool": TOOL, "machine": MACHINE, "clock": CLOCK,
            "options": {"mode": "tcp", "pattern": "trailer=4", "link": "veth,rate=100mbit,tso=off"},
            "started": "2026-01-01T00:00:00Z", "trace": {"backend": "fentry"}, "warnings": []}
    return {**base, **more}


def side(lifetime: float, **states: float) -> Dict[str, Any]:
    states.setdefault("idle", max(0.0, lifetime - sum(states.values())))
    rows = {k: {"ns": round(v), "count": 10, "max_ns": round(v / 4), "log2_hist": []} for k, v in states.items()}
    return {"lifetime_ns": sum(r["ns"] for r in rows.values()), "states": rows}


def ledger(elapsed: float, messages: int, stall: float, state: str = "nagle") -> Dict[str, Any]:
    tx = side(elapsed, work=0.004 * elapsed, device=0.02 * elapsed, flight=min(0.05 * elapsed, elapsed - stall), **{state: stall})
    ends = [
        {"role": "client", "proto": "tcp", "local": "10.0.0.1:4242", "remote": "10.0.0.2:9", "pid": 100, "comm": "ipcstall",
         "tx": tx, "rx": side(elapsed, wait=0.9 * elapsed, work=0.01 * elapsed), "beside": {"runq_ns": 1000}, "resolution": {"tx": "exact"}},
        {"role": "server", "proto": "tcp", "local": "10.0.0.2:9", "remote": "10.0.0.1:4242", "pid": 101, "comm": "ipcstall",
         "tx": side(elapsed, work=0.002 * elapsed), "rx": side(elapsed, wait=0.95 * elapsed, work=0.01 * elapsed), "beside": {}, "resolution": {}},
    ]
    share = stall / elapsed
    return {"endpoints": ends, "stall_ns": round(stall), "stall_per_message_ns": stall / messages, "normalised_stall": share,
            "unaccounted_ns": 0, "verdict": f"{state} ← peer delayed ACK" if share > 0.1 else "healthy"}


def trace(lost: int = 0) -> str:
    """What `run` and `attach` write: ledgers alone, with who is to blame."""
    found = ledger(3e9, 100, 2.4e9)
    found["endpoints"][0]["blame"] = [{"ledger": "tx", "state": "nagle", "by": "peer delayed ACK", "ns": 2.3e9, "count": 60, "pid": 101, "comm": "ipcstall"}]
    idle = {"proto": "udp", "local": None, "remote": None, "pid": None, "comm": None, "tx": side(3e9), "rx": side(3e9), "beside": {}, "blame": []}
    found["endpoints"] += [idle] * 3
    return json.dumps(header("trace", ledger={**found, "observed": 5000, "lost": lost, "overflow": 0}, command=["x"], exit_code=0))


def stalls(deep: int = 3) -> str:
    """A trace with single stalls of two programs, whose stacks are so deep."""
    frames = {"user_stack": [f"function_{i}+0x10 (app)" for i in range(deep)], "kernel_stack": ["tcp_sendmsg+0x161 [k]", "entry+0x76 [k]"]}
    held = {"serial": 1, "state": "nagle", "ns": 43_000_000, "pid": 7, "comm": "client", "blamed": "peer delayed ACK", "peer_pid": 8,
            "peer_comm": "server", "peer_user_stack": ["__read+0xd (libc.so.6)"], **frames}
    alone = {**held, "state": "cwnd", "blamed": None, "peer_pid": None, "comm": "uploader", "pid": 9, "ns": 9_000_000}
    short = {**held, "state": "rwnd", "ns": 400_000}
    return json.dumps({**json.loads(trace()), "stalls": [held, alone, held, short]})


def comb_point(size: int, nodelay: int, repeat: int, rng: np.random.Generator, stall_ns: float = 4.4e6, noise: float = 0.02) -> Dict[str, Any]:
    """100 Mbit/s and a fixed cost a message; a stall where the rule says so. 500 messages."""
    n = 500
    stalls = comb_stalls(size) and not nodelay
    healthy = (90e3 + size * 80.0) * float(np.exp(rng.normal(0, noise)))
    stall = stall_ns * float(np.exp(rng.normal(0, 0.01))) if stalls else 0.0
    elapsed = n * (healthy + stall)
    rate = size * n * 1e9 / elapsed
    return {"mode": "tcp", "test": "throughput", "size": size, "placement": "cross", "n": n, "elapsed_ns": round(elapsed),
            "messages": n, "bytes": size * n, "lost": 0, "latency": None, "histogram": None,
            "throughput": {"bytes_per_s": rate, "lo": rate * 0.98, "hi": rate * 1.02, "confidence": 0.95,
                           "trials": [rate * f for f in (0.99, 1.0, 1.01)]},
            "ledger": ledger(elapsed, n, stall * n), "warnings": [], "vars": {"size": size, "nodelay": nodelay}, "repeat": repeat}


# What the tool writes of a run that was over too soon to have a rate.
NO_RATE = {"bytes_per_s": None, "acked_bytes_per_s": None, "lo": None, "hi": None, "confidence": None, "method": None, "trials": []}


def unrated(points: List[Dict[str, Any]], below: float = float("inf")) -> List[Dict[str, Any]]:
    """The throughput points of smaller sizes as runs that were too short."""
    return [{**p, "throughput": NO_RATE} if p["test"] == "throughput" and p["size"] < below else p for p in points]


def comb_sizes(count: int = 40) -> List[int]:
    return [int(s) for s in np.unique(np.linspace(1453, 21000, count).astype(int))]


def comb(sizes: Optional[Iterable[int]] = None, repeats: int = 3, seed: int = 1, nodelays: Iterable[int] = (0, 1), **more: Any) -> List[Dict[str, Any]]:
    rng = np.random.default_rng(seed)
    sizes = comb_sizes() if sizes is None else list(sizes)
    plan = [(s, d, r) for r in range(repeats) for s in sizes for d in nodelays]
    rng.shuffle(plan)
    return [{**comb_point(s, d, r, rng, **more), "index": i} for i, (s, d, r) in enumerate(plan)]


def buckets(values: np.ndarray, precision: int = 64) -> List[List[int]]:
    """Log-linear buckets, `precision` to each doubling."""
    octave = np.floor(np.log2(values))
    step = np.maximum(2.0**octave / precision, 1.0)
    low = np.floor(values / step) * step
    low, first, counts = np.unique(low, return_index=True, return_counts=True)
    return [[int(a), int(b), int(c)] for a, b, c in zip(low, low + step[first], counts)]


def latency_point(mode: str, size: int, values: np.ndarray, test: str = "latency", repeat: int = 0, **vars_: Any) -> Dict[str, Any]:
    q = np.percentile(values, [0, 25, 50, 75, 90, 95, 99, 99.9, 100])
    mad = float(np.median(np.abs(values - q[2])))
    names = ("min", "q1", "median", "q3", "p90", "p95", "p99", "p999", "max")
    lat = {"unit": "ns", **{k: float(v) for k, v in zip(names, q)}, "mad": mad, "uncertainty": mad / np.sqrt(len(values)),
           "outliers": {"k": 5, "low": 0, "high": 3}}
    return {"mode": mode, "test": test, "size": size, "placement": "same", "n": len(values), "elapsed_ns": round(2 * values.sum()),
            "messages": len(values), "bytes": size * len(values), "lost": 0, "latency": lat, "histogram": buckets(values),
            "throughput": None, "ledger": None, "warnings": [], "vars": {"size": size, **vars_}, "repeat": repeat, "index": 0}


SEED_SIZES = (4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 524288)
BASE_NS = {"pipe": 2000.0, "unix": 3700.0, "udp": 4400.0, "tcp": 5800.0, "tcp6": 5850.0}


def transports(modes: Iterable[str] = ("pipe", "unix", "udp", "tcp"), sizes: Iterable[int] = SEED_SIZES, n: int = 2000, seed: int = 2) -> List[Dict[str, Any]]:
    rng = np.random.default_rng(seed)
    out = []
    for mode in modes:
        for size in sizes:
            middle = BASE_NS[mode] + size * 0.18
            out.append(latency_point(mode, size, middle * (1 + rng.gamma(2.0, 0.03, n))))
            rate = 1e9 * size / (0.3 * middle)
            trials = [rate * f for f in rng.normal(1, 0.01, 5)]
            out.append({**latency_point(mode, size, np.full(2, middle)), "test": "throughput", "latency": None, "histogram": None,
                        "throughput": {"bytes_per_s": rate, "lo": rate * 0.99, "hi": rate * 1.01, "confidence": 0.95, "trials": trials}})
    return out


def result(points: List[Dict[str, Any]], **more: Any) -> str:
    return json.dumps(header("result", **more) | {"points": points}, indent=1)


def sweep(points: List[Dict[str, Any]], complete: bool = True, **more: Any) -> str:
    vary: Dict[str, List[Any]] = {}
    for p in points:
        for k, v in p["vars"].items():
            if v not in vary.setdefault(k, []):
                vary[k].append(v)
    rows: List[Any] = [header("sweep", vary=vary, order_seed=1, repeats=3, **more), *points]
    if complete:
        rows.append({"end": {"points": len(points), "complete": True}})
    return "".join(json.dumps(r) + "\n" for r in rows)


def pipes(seed: int = 3) -> List[Dict[str, Any]]:
    """Throughput over pipe size and write size: best at 8 KiB, a further fall where the write is larger than the pipe."""
    rng = np.random.default_rng(seed)
    out = []
    for pipe in (4096, 16384, 65536, 262144, 1048576):
        for size in (256, 1024, 4096, 8192, 16384, 65536, 262144):
            rate = 5e9 / (1 + 3000.0 / size) / (1 + max(0.0, np.log2(size / 8192)) * 0.2) * min(1.0, 0.25 + (pipe / size) ** 0.5)
            point = comb_point(size, 1, 0, rng)
            point.update(mode="pipe", vars={"pipe-size": pipe, "size": size}, ledger=None)
            point["throughput"] = {"bytes_per_s": rate * float(np.exp(rng.normal(0, 0.02))), "trials": []}
            out.append(point)
    return out


def timeline(messages: int = 12, stall_every: int = 3, stall_ns: float = 40e6, gap_ns: float = 2e6, complete: bool = True) -> str:
    """A client sends; every few messages the tail is held until the peer's delayed ACK. Stall total: known by construction."""
    rows: List[Any] = [header("timeline", endpoints=[{"ep": "1", "role": "client", "comm": "ipcstall", "pid": 100},
                                                     {"ep": "2", "role": "server", "comm": "ipcstall", "pid": 101}])]
    t = 1_000_000_000.0

    def state(at: float, ep: str, which: str, name: str) -> None:
        rows.append({"t": round(at), "ep": ep, "ledger": which, "state": name})

    for ep in "12":
        state(t, ep, "tx", "idle")
        state(t, ep, "rx", "wait")
    for i in range(messages):
        rows.append({"t": round(t), "ep": "1", "event": "message", "bytes": 3500})
        state(t, "1", "tx", "work")
        t += 20e3
        state(t, "1", "tx", "device")
        t += 250e3
        rows.append({"t": round(t), "ep": "1", "event": "segment", "bytes": 2896})
        if i % stall_every == 0:
            state(t, "1", "tx", "nagle")
            t += stall_ns
            rows.append({"t": round(t), "ep": "2", "event": "delack", "bytes": 0})
            rows.append({"t": round(t), "ep": "2", "event": "ack", "bytes": 0})
        state(t, "1", "tx", "flight")
        state(t, "2", "rx", "work")
        t += 100e3
        state(t, "2", "rx", "wait")
        rows.append({"t": round(t), "ep": "2", "event": "ack", "bytes": 0})
        state(t, "1", "tx", "idle")
        t += gap_ns
    if complete:
        rows.append({"end": {"t": round(t), "events": len(rows) - 1, "lost": 0, "complete": True}})
    return "".join(json.dumps(r) + "\n" for r in rows)


# Stations of a message on its way, ns since its send call began.
WAY = {"driver": 1e3, "arrived": 3e3, "ran": 8e3, "read": 10e3}


def way(messages: int = 100, slow: float = 20e3, proto: str = "tcp", extra: Sequence[Dict[str, Any]] = (), lost: int = 0) -> str:
    """Messages of 100 bytes from 1 to 2, 1 ms apart: every tenth waits `slow` longer for its sleeping reader, every second is answered."""
    rows: List[Any] = []
    for i in range(messages):
        t, late = 1e9 + i * 1e6, slow if i % 10 == 9 else 0.0
        rows += [{"t": t, "ep": "1", "ledger": "tx", "state": "work"}, {"t": t + WAY["driver"], "ep": "1", "event": "transmit", "bytes": 100},
                 {"t": t + WAY["arrived"], "ep": "2", "event": "segment" if proto == "tcp" else "arrival", "bytes": 100 if proto == "tcp" else 0},
                 {"t": t + 4e3, "ep": "1", "ledger": "tx", "state": "idle"}, {"t": t + 5e3, "ep": "1", "event": "message", "bytes": 100},
                 {"t": t + WAY["ran"] + late, "ep": "2", "event": "wakeup", "bytes": 0},
                 {"t": t + WAY["read"] + late, "ep": "2", "event": "read", "bytes": 100}]
        if i % 2 == 0:
            rows += [{"t": t + 60e3, "ep": "2", "ledger": "tx", "state": "work"}, {"t": t + 65e3, "ep": "2", "ledger": "tx", "state": "idle"}]
    rows = sorted([*rows, *extra], key=lambda r: r["t"])
    ends = [{"ep": a, "role": role, "comm": "x", "pid": 100 + int(a), "peer": b, "proto": proto} for a, b, role in (("1", "2", "client"), ("2", "1", "server"))]
    end = {"end": {"t": rows[-1]["t"], "events": len(rows), "lost": lost, "complete": not lost}}
    return "".join(json.dumps(r) + "\n" for r in [header("timeline", endpoints=ends), *rows, end])
