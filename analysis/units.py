# SPDX-License-Identifier: GPL-2.0-only
"""Numbers as people read them. Unknown is a dash."""

from __future__ import annotations

from typing import Optional, Sequence, Tuple


def bytes_text(n: float) -> str:
    """1453 -> 1453, 4096 -> 4K, 65536 -> 64K, 1 MiB -> 1M: only whole multiples are shortened."""
    for unit, scale in (("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)):
        if n >= scale and n % scale == 0:
            return f"{n / scale:.0f}{unit}"
    return f"{n:.0f}"


def size_text(n: float) -> str:
    """The same with its unit: 16 B, 64 KiB."""
    short = bytes_text(n)
    return f"{short[:-1]} {short[-1]}iB" if short[-1:].isalpha() else f"{short} B"


def at_size(n: float) -> str:
    """For a sentence: " at 64 KiB"; nothing where there was no message, as in a connect."""
    return f" at {size_text(n)}" if n else ""


def _significant(v: float) -> str:
    if v >= 100:
        return f"{v:.0f}"
    return f"{v:.3g}" if v >= 1 else f"{v:.2g}"


TIMES: Sequence[Tuple[float, str]] = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
RATES: Sequence[Tuple[float, str]] = ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s"))


def _scaled(v: Optional[float], units: Sequence[Tuple[float, str]]) -> str:
    if v is None or v != v:
        return "–"
    for scale, unit in units:
        if abs(v) >= 0.9995 * scale:  # which three figures round up
            return f"{'−' if v < 0 else ''}{_significant(abs(v) / scale)} {unit}"
    scale, unit = units[-1]
    return f"{v / scale:.2g} {unit}" if v else f"0 {unit}"


def time_text(ns: Optional[float]) -> str:
    return _scaled(ns, TIMES)


def rate_text(bytes_per_s: Optional[float]) -> str:
    return _scaled(bytes_per_s, RATES)


# Options by what they hold, in the units of a result (user/bench/bench_options.c).
TIME_OPTIONS = frozenset(("duration", "timeout", "delack-max", "reader-pause", "rto"))
BYTES_ENDINGS = ("size", "buf", "bytes")


def _exact(v: float, units: Sequence[Tuple[float, str]]) -> str:
    """A value that was asked for, not measured: all its figures."""
    scale, unit = best_unit(v, units)
    return f"{v / scale:.12g} {unit}" if v else "0"


def value_text(name: str, v: float) -> str:
    """A value of an option: rto 20 ms, sndbuf 64K, pacing 12.5 MB/s, rate 1000/s; others are bare numbers."""
    if name in TIME_OPTIONS:
        return _exact(v, TIMES)
    if name == "pacing":
        return _exact(v, RATES)
    if name.endswith(BYTES_ENDINGS) and v == int(v):
        return bytes_text(v)
    return f"{v:.12g}/s" if name == "rate" else f"{v:.12g}"


def percent_text(share: Optional[float]) -> str:
    if share is None or share != share:
        return "–"
    v = 100.0 * share
    if 0 < v < 0.05:
        return "< 0.1 %"
    if -0.05 < v <= 0:
        return "0 %"
    return f"{v:.0f} %" if abs(v) >= 99.95 else f"{v:.1f} %"


def best_unit(largest: float, units: Sequence[Tuple[float, str]]) -> Tuple[float, str]:
    """The unit an axis is best labelled in."""
    for scale, unit in units:
        if largest >= scale:
            return scale, unit
    return units[-1]
