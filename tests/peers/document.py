# SPDX-License-Identifier: GPL-2.0-only
"""The rows as a table on the screen and as docs/PEERS.md."""
import os
import platform
import re

from peers import programs

SCREEN = "{name:22} {placement:11} {peer:18} {ours:>9} {theirs:>9} {unit:4} {ratio:>6}  {won:>6}  {verdict}"
TITLES = {"name": "row", "placement": "placement", "peer": "against", "ours": "ipcstall", "theirs": "peer", "unit": "", "ratio": "ratio", "won": "won", "verdict": "verdict"}


def words(r):
    return dict(name=r["row"], placement=r["placement"], peer=r["peer"], ours=f"{r['ours']:.2f}" if r["unit"] == "us" else f"{r['ours']:.0f}",
                theirs=f"{r['theirs']:.2f}" if r["unit"] == "us" else f"{r['theirs']:.0f}", unit=r["unit"], ratio=f"{r['ratio']:.3f}",
                won=f"{r['wins']}/{r['pairs']}", verdict=r["verdict"] + (f" ({r['note']})" if r["note"] else ""))


def screen_head():
    return SCREEN.format(**TITLES)


def screen_line(r):
    return SCREEN.format(**words(r))


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        found = re.search(r"model name\s*: (.*)", f.read())
    return found.group(1) if found else platform.machine()


def control():
    with open("/proc/sys/net/ipv4/tcp_congestion_control", encoding="ascii") as f:
        return f.read().strip()


def tally(rows):
    return {v: sum(r["verdict"] == v for r in rows) for v in ("win", "tie", "LOSS")}


def table(rows):
    yield "| row | placement | against | ipcstall | peer | ratio | pairs won | bar | verdict |"
    yield "|---|---|---|---:|---:|---:|---:|---:|---|"
    for r in rows:
        w = words(r)
        bar = f"{'<=' if r['unit'] == 'us' else '>='} {r['bar']:g}"
        yield f"| {w['name']} | {w['placement']} | {w['peer']} | {w['ours']} {w['unit']} | {w['theirs']} {w['unit']} | {w['ratio']} | {w['won']} | {bar} | {w['verdict']} |"


def versions(rows):
    have = {r["program"]: programs.version(r["program"]) for r in rows if os.sep not in r["program"]}
    names = sorted(f"{n} {v}" for n, v in have.items() if v and v != "installed")
    plain = sorted(n for n, v in have.items() if v == "installed")
    return ", ".join(names + plain)


def markdown(rows, missing):
    yield "# Compared with other benchmarks"
    yield ""
    yield "Written by `make bench-peers DOC=1`; no figure is written by hand. The two programs run in turn, A B then B A, on the same CPUs. A row"
    yield "has the median of each, the median of the pairs' ratios (ipcstall / peer) and how many pairs ipcstall won. Latency is half a round trip"
    yield "(less is better), throughput is bytes received (more is better). A gap under 3 % is a tie. A p50 is compared with a p50, a mean with a"
    yield "mean. `bar` is this project's goal for the ratio; the verdict does not depend on it."
    yield ""
    yield f"{cpu_model()}, {os.cpu_count()} CPUs, Linux {platform.release().split('-')[0]}, TCP's default congestion control {control()}. Peers: {versions(rows)}."
    count = tally(rows)
    yield f"{count['win']} wins, {count['tie']} ties, {count['LOSS']} losses."
    for group in dict.fromkeys(r["group"] for r in rows):
        yield from ["", f"## {group}", ""]
        yield from table([r for r in rows if r["group"] == group])
    if missing:
        yield from ["", "Not compared, because not installed: " + ", ".join(sorted(missing)) + "."]
    yield from ["", "No packaged program measures pipe latency at 64 KiB; sockperf's and qperf's longest UDP message is one datagram."]
