#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""detect.py: how soon `ipcstall watch` finds one stalled conversation among many that are well.

usage: detect.py [--rounds N] [--connections N] [--limit SECONDS]

A crowd of connections carries a message each second. In each round every fault is planted once,
each beside a new watch, which has to report it, with the ledger's proof, within the limit, and
nothing else. Prints a line for each, and how many were found.

Exit: 0 at least 95 % were found and nothing else was reported, 1 not.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
IPCSTALL = os.environ.get("IPCSTALL", os.path.join(HERE, "../../ipcstall"))
KNOWN = os.environ.get("KNOWN", os.path.join(HERE, "../../build/O2/tests/kernel/known"))
CROWD = os.environ.get("CROWD", os.path.join(HERE, "../../build/O2/tests/cli/crowd"))
RECALL = 0.95
# What is planted, and which cause may be reported; each goes on for longer than the limit.
FAULTS = {
    "nagle": (["nagle", "n=100000"], {"nagle"}),
    "a slow reader": (["rwnd", "n=120", "nap_ms=200"], {"rwnd"}),
    "a small send buffer": (["sndbuf", "n=1000000"], {"sndbuf"}),
    "a cork": (["cork", "n=100000"], {"cork"}),
    "pacing": (["pacing", "n=100", "size=10000", "rate=40000"], {"pacing"}),
    "a full Unix socket": (["unix-slow-reader", "type=stream", "n=1000000", "nap_ms=50"],
                           {"sndbuf"}),
}


def wait_for(path, words, process, limit):
    """The first line of the file with these words; None: not in time."""
    end = time.monotonic() + limit
    while time.monotonic() < end and process.poll() is None:
        with open(path, encoding="utf-8") as f:
            for line in f:
                if words in line and line.endswith("\n"):
                    return line
        time.sleep(0.02)
    return None


def end(process):
    process.terminate()
    process.wait()


def plant(folder, crowd, fault, limit):
    """Seconds until it was reported (None: not in time), and what else was."""
    words, causes = FAULTS[fault]
    go, out, err = (os.path.join(folder, name) for name in ("go", "out", "err"))
    with open(out, "w", encoding="utf-8") as o, open(err, "w", encoding="utf-8") as e:
        known = subprocess.Popen([KNOWN, "--go", go, *words],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        watch = subprocess.Popen([IPCSTALL, "watch", "-p", str(crowd), "-p", str(known.pid)],
                                 stdout=o, stderr=e)
    try:
        if not wait_for(err, "watching", watch, 60):
            sys.exit(f"detect: {open(err, encoding='utf-8').read().strip()}")
        began = time.monotonic()
        open(go, "w", encoding="utf-8").close()
        line = wait_for(out, '"type":"stall"', watch, limit)
        took = time.monotonic() - began
    finally:
        end(watch)
        end(known)
        os.unlink(go)
    if not line:
        return None, None
    told = json.loads(line)
    said = told["ledger"]["findings"][0]
    proven = told["proof"] and told["proof"]["outcome"] == "stalled"
    if said["pid"] == known.pid and said["cause"] in causes and proven:
        return took, None
    return None, f"{told['ledger']['verdict']}; proof: {told['proof'] and told['proof']['verdict']}"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rounds", type=int, default=6)
    p.add_argument("--connections", type=int, default=1000)
    p.add_argument("--limit", type=float, default=10)
    o = p.parse_args()
    n, took, others = 0, [], 0
    crowd = subprocess.Popen([CROWD, str(o.connections), str(o.connections), "36000"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    crowd.stdout.readline()
    with tempfile.TemporaryDirectory() as folder:
        for r in range(o.rounds):
            for fault in FAULTS:
                seconds, other = plant(folder, crowd.pid, fault, o.limit)
                n, others = n + 1, others + (other is not None)
                took += [seconds] if seconds else []
                late = other or f"not within {o.limit:g} s"
                print(f"{r + 1} {fault}: " + (f"{seconds:.1f} s" if seconds else late), flush=True)
    end(crowd)
    middle = f", in {statistics.median(took):.1f} s in the middle" if took else ""
    print(f"found {len(took)} of {n} ({len(took) / n:.1%}) within {o.limit:g} s{middle}; "
          f"{others} reports of something else")
    return 0 if len(took) >= RECALL * n and not others else 1


if __name__ == "__main__":
    sys.exit(main())
