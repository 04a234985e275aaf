#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The sampled tier beside the ledger, on the same run of a known workload: does each share agree?

usage: beside.py [--budget PERCENT] [--min-share S] [--points P] [--repeat N] CASE [key=value...] [+ CASE ...]

Each state of each endpoint that has at least S of its time by either of the two (default 0.05) is a pair. It agrees where the ledger's share is within
the sampled interval, or within P points of the sampled share (default 2). Prints a line for each pair, and at the end how many agree and
how many intervals hold; with several cases that of each too. Exit: 0 all agree, 1 one does not, 2 nothing to compare or a tracer failed.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
IPCSTALL = os.environ.get("IPCSTALL", os.path.join(HERE, "../../ipcstall"))
KNOWN = os.environ.get("KNOWN", os.path.join(HERE, "../../build/O2/tests/kernel/known"))
TOLD = {"tx": {"rwnd", "cwnd", "nagle", "cork", "sndbuf", "pacing", "recovery"}, "rx": {"unread", "wait"}}  # what holds somebody up


def tracer(pid, out, *more):
    command = [IPCSTALL, "attach", "-p", str(pid), "--json", out, *more]
    p = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    for line in p.stderr:  # it says so when its programs are in place
        if "attached" in line:
            return p
    p.wait()
    sys.exit(f"beside: {' '.join(command)}: ended with {p.returncode} before it was attached")


def run(case, budget, folder):
    known = subprocess.Popen([KNOWN, "--wait", "--out", os.path.join(folder, "known.json"), *case], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    pid = int(known.stdout.readline().split()[1])
    paths = [os.path.join(folder, name) for name in ("ledger.json", "sampled.json")]
    tracers = [tracer(pid, paths[0], "--exact"), tracer(pid, paths[1], "--sampled", "--zoom-budget", "0", "--budget", budget)]
    # no traced program is at the other end
    inherited = {os.stat(f"/proc/{pid}/fd/{fd}").st_ino for fd in range(3)}
    known.send_signal(signal.SIGUSR1)
    known.communicate()
    for t in tracers:
        t.communicate()
        if t.returncode:
            sys.exit(f"beside: {' '.join(t.args)}: ended with {t.returncode}")
    return [without(inherited, json.load(open(p))["ledger"]) for p in paths]


def without(pipes, ledger):
    ledger["endpoints"] = [ep for ep in ledger["endpoints"]
                           if ep["proto"] != "pipe" or ep["inode"] not in pipes]
    return ledger


def key(ep):
    """The same end in both documents: by its addresses; without any by its inode, a pair's two ends by theirs."""
    return (ep["proto"], ep["local"], ep["remote"]) if ep["local"] else (ep["proto"], ep["inode"])


def by_key(ledger):
    found = {}
    for ep in ledger["endpoints"]:
        k = key(ep)
        found[k] = None if k in found else ep  # not to be told apart
    return {k: ep for k, ep in found.items() if ep}


def share(ep, side, state):
    ns = ep[side]["states"][state]["ns"]
    return None if ns is None or not ep[side]["lifetime_ns"] else ns / ep[side]["lifetime_ns"]


def same_life(a, b):
    """What one of the two saw much later than the other did something else meanwhile."""
    long, short = sorted((a["tx"]["lifetime_ns"], b["tx"]["lifetime_ns"]))[::-1]
    return short >= 0.9 * long


def true_share(exact, sampled, side, state):
    """The least and the most that the state had of the life that was sampled: a pipe, say, is found later than it began."""
    ns, life = exact[side]["states"][state]["ns"], sampled[side]["lifetime_ns"]
    if ns is None or not life:
        return None
    unseen = max(exact[side]["lifetime_ns"] - life, 0)
    return max(ns - unseen, 0) / life, min(ns / life, 1)


def pairs(ledger, sampled, least):
    exact, looked = by_key(ledger), by_key(sampled)
    for k in sorted(exact.keys() & looked.keys(), key=str):
        a, b = exact[k], looked[k]
        if not b["looks"] or b["looks"]["n"] < 2 or not same_life(a, b):
            continue
        for side in ("tx", "rx"):
            for state in a[side]["states"]:
                true, found = true_share(a, b, side, state), share(b, side, state)
                if state not in TOLD[side] or true is None or found is None or max(true[0], found) < least:
                    continue
                i = b["looks"][side].get(state, {"share_low": 0, "share_high": 0})
                yield k, side, state, true, found, i["share_low"], i["share_high"], b["looks"]["n"]


class Tally:
    """How many pairs there were, how many of them agree, and how many intervals hold the ledger's share."""

    def __init__(self):
        self.n = self.agree = self.held = 0

    def add(self, agrees, holds):
        self.n, self.agree, self.held = self.n + 1, self.agree + agrees, self.held + holds

    def __str__(self):
        share = f" ({self.held / self.n:.1%})" if self.n else ""
        return f"{self.agree} of {self.n} agree, {self.held} intervals hold{share}"


def cases(words):
    """CASE key=value + CASE: a list for each."""
    found = [[]]
    for word in words:
        if word == "+":
            found.append([])
        else:
            found[-1].append(word)
    return [case for case in found if case]


def compare(case, o, tallies):
    with tempfile.TemporaryDirectory() as folder:
        ledger, sampled = run(case, o.budget, folder)
    for k, side, state, true, found, low, high, looks in pairs(ledger, sampled, o.min_share):
        holds = low - 1e-9 <= true[1] and true[0] <= high + 1e-9
        ok = holds or max(true[0] - found, found - true[1]) * 100 <= o.points
        for tally in tallies:
            tally.add(ok, holds)
        had = " to ".join(dict.fromkeys(f"{t:.1%}" for t in true))
        print(f"{'ok' if ok else 'not ok'} {' '.join(map(str, k))} {side} {state}: "
              f"ledger {had}, sampled {found:.1%} "
              f"({low:.1%} to {high:.1%}, {looks} looks)", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--budget", default="5%")
    p.add_argument("--min-share", type=float, default=0.05)
    p.add_argument("--points", type=float, default=2)
    p.add_argument("--repeat", type=int, default=1)
    p.add_argument("case", nargs="+")
    o = p.parse_args()
    everything, each = Tally(), cases(o.case)
    for case in each:
        own = Tally()
        for _ in range(o.repeat):
            compare(case, o, (own, everything))
        if len(each) > 1:
            print(f"{' '.join(case)}: {own}", flush=True)
    print(everything)
    return 2 if not everything.n else 0 if everything.agree == everything.n else 1


if __name__ == "__main__":
    sys.exit(main())
