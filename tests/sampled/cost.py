#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What the sampled tier costs a conversation: 64 B messages to and fro, with `attach -a --sampled` beside it and without, in turn.

usage: cost.py [--pairs N] [--messages N] [--budget PERCENT]

Prints each pair, the median ratio of the times (with over without) and its 95 % interval, by order statistics over the pairs.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
IPCSTALL = os.environ.get("IPCSTALL", os.path.join(HERE, "../../ipcstall"))
KNOWN = os.environ.get("KNOWN", os.path.join(HERE, "../../build/O2/tests/kernel/known"))


def conversation(messages):
    out = subprocess.run([KNOWN, "pingpong", f"n={messages}", "size=64"], capture_output=True, text=True, check=True).stdout
    said = json.loads(out)
    return said["elapsed_ns"] / messages, said["truth"]["cpu_ns_per_message"]


def beside(budget, messages):
    t = subprocess.Popen([IPCSTALL, "attach", "-a", "--sampled", "--zoom-budget", "0", "--budget", budget], stderr=subprocess.PIPE, text=True)
    for line in t.stderr:
        if "attached" in line:
            break
    ns = conversation(messages)
    t.terminate()
    t.communicate()
    return ns


def interval(ratios):
    """The k-th from either end holds the median in 95 of 100 cases."""
    n, v = len(ratios), sorted(ratios)
    k = max(i for i in range(n // 2) if 2 * sum(math.comb(n, j) for j in range(i + 1)) / 2**n <= 0.05) if n >= 6 else 0
    return v[k], v[n - 1 - k]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--pairs", type=int, default=11)
    p.add_argument("--messages", type=int, default=40000)
    p.add_argument("--budget", default="0.5%")
    o = p.parse_args()
    ratios = []
    for i in range(o.pairs):
        order = [lambda: conversation(o.messages), lambda: beside(o.budget, o.messages)]
        first, second = [f() for f in (order if i % 2 else order[::-1])]
        alone, sampled = (first, second) if i % 2 else (second, first)
        ratios.append([b / a for a, b in zip(alone, sampled)])
        print(f"{alone[0]:.0f} ns and {alone[1]} ns of CPU alone, {sampled[0]:.0f} and {sampled[1]} sampled: {ratios[-1][0]:.3f}, {ratios[-1][1]:.3f}", flush=True)
    for what, column in (("times", 0), ("CPU times", 1)):
        v = [r[column] for r in ratios]
        low, high = interval(v)
        print(f"ratio of {what} {statistics.median(v):.3f} ({low:.3f} to {high:.3f}), {o.pairs} pairs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
