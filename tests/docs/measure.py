# SPDX-License-Identifier: GPL-2.0-only
"""The short measurements behind docs/figures: each returns its figures by name."""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
TOOL = os.environ.get("IPCSTALL", str(TOP / "ipcstall"))
KNOWN = os.environ.get("KNOWN", str(TOP / "build/O2/tests/kernel/known"))
DIPS = (2956, 5962, 8968, 14980, 20491)
EVEN = (4960, 7966, 10972, 16483)
RULE = "--pattern trailer=4 --ack message -t throughput --count 40 -L veth,rate=100mbit,tso=off,pingpong=10"


class CannotTrace(Exception):
    """This kernel, or who runs this, gets no ledger: exit codes 3 and 4."""


def tool(*args, ok=(0,), timeout=600, stdout=subprocess.PIPE):
    """The tool's run; its standard output and error are text."""
    run = subprocess.run([TOOL, *map(str, args)], stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=timeout, check=False, cwd=TOP,
                         stdin=subprocess.DEVNULL)
    if run.returncode in (3, 4) and run.returncode not in ok:
        raise CannotTrace(run.stderr.strip().splitlines()[-1])
    if run.returncode not in ok:
        raise RuntimeError(f"ipcstall {shlex.join(map(str, args))}: exit {run.returncode}: {run.stderr.strip()[-300:]}")
    return run


# --- README's screen ----------------------------------------------------------------------------------------------

def nagle(before=None):
    """The program of README's screen, traced: the screen's text and its document. Not into a pipe, which would be traced too.
    What else runs can only add to flight and idle: of several runs the one that waited most for the ACK counts."""
    with tempfile.NamedTemporaryFile(suffix=".json") as f:
        screen = tool("run", "--json", f.name, "--", KNOWN, "nagle", stdout=subprocess.DEVNULL).stderr
        document = json.load(open(f.name, encoding="utf-8"))
    found = {"screen": screen, "document": document, **nagle_figures(document)}
    return before if before and before["share"] > found["share"] else found


def nagle_figures(document):
    said = re.search(r"delayed ACK of known\[\d+\]: (\d+) times, .* in all \(([\d.]+) % of its time\), longest ([\d.]+) ms", document["ledger"]["findings"][0]["text"])
    ends = document["ledger"]["endpoints"]
    sender = max(ends, key=lambda e: e["tx"]["states"]["nagle"]["ns"] or 0)
    held = sender["tx"]["states"]["nagle"]
    return {"times": float(said[1]), "share": float(said[2]), "longest_ms": float(said[3]), "message_ms": held["ns"] / held["count"] / 1e6,
            "timer": max((e["beside"].get("tcp") or {}).get("delack_fires") or 0 for e in ends)}


# --- the comb -----------------------------------------------------------------------------------------------------

def sweep(sizes):
    sizes = ",".join(map(str, sorted(sizes)))
    with tempfile.NamedTemporaryFile(suffix=".ndjson") as f:
        tool("sweep", "-q", "-m", "tcp", *RULE.split(), "-V", f"size={sizes}", "-V", "nodelay=0,1", "-o", f.name)
        return [p for p in map(json.loads, open(f.name, encoding="utf-8")) if "vars" in p]


def per_message(point):
    return point["elapsed_ns"] / point["messages"]


def typical(key, sweeps):
    """
    Jitter of the machine sends an ACK earlier or later than the segments call for: it makes a stall where there is none, and spares one
    where there is. At a size with no dip, and without Nagle, the quickest of several sweeps tells; in a dip the one in the middle.
    """
    ordered = sorted(sweeps, key=per_message)
    size, nodelay = map(int, key.split("/"))
    return ordered[len(ordered) // 2 if size in DIPS and not nodelay else 0]


JITTER = 20  # at a size with no dip: more is lost than this, in per cent


def in_doubt(before):
    """The sizes at which no dip is foretold, and one was measured; of none all sizes."""
    return [s for s in EVEN if before and before[f"loss.{s}"] > JITTER] or DIPS + EVEN


def comb(before=None):
    """Nine of the comb's sizes; those that are in doubt once more where it was measured before."""
    sweeps = dict((before or {}).get("sweeps", {}))
    for p in sweep(in_doubt(before)):
        key = f"{p['size']}/{int(p['vars']['nodelay'])}"
        sweeps[key] = sweeps.get(key, []) + [p]
    return {"sweeps": sweeps, **comb_figures({key: typical(key, of) for key, of in sweeps.items()})}


def comb_figures(points):
    import numpy as np

    sizes = sorted({int(k.split("/")[0]) for k in points})
    slow, fast = ([per_message(points[f"{s}/{n}"]) for s in sizes] for n in (0, 1))
    stall = [points[f"{s}/0"]["ledger"]["stall_per_message_ns"] for s in sizes]
    excess = {s: a - b for s, a, b in zip(sizes, slow, fast)}
    in_dips = [i for i, s in enumerate(sizes) if s in DIPS]
    return {"r": float(np.corrcoef(stall, list(excess.values()))[0, 1]),
            "explained": 100 * sum(stall[i] for i in in_dips) / sum(excess[sizes[i]] for i in in_dips),
            "nagle": 100 * share_of("nagle", [points[f"{s}/0"] for s in DIPS]),
            **{f"loss.{s}": 100 * excess[s] / a for s, a in zip(sizes, slow)}}


def share_of(state, points):
    ends = [e["tx"] for p in points for e in p["ledger"]["endpoints"] if e["role"] == "client"]
    return sum(t["states"][state]["ns"] or 0 for t in ends) / sum(p["ledger"]["stall_ns"] for p in points)


# --- the demo's main job, a diagnosis, plain documents -------------------------------------------------------------

def main_job(before=None):
    with tempfile.NamedTemporaryFile(suffix=".json") as f:
        screen = tool("--mode", "tcp", "--size", "64K", "--duration", "100ms", "--json", f.name).stdout
        return {"screen": screen, "document": json.load(open(f.name, encoding="utf-8"))}


def case_options(name):
    """The options of a planted fault of tests/diagnosis/cases."""
    rows = [[w.strip() for w in line.split("|")] for line in (TOP / "tests/diagnosis/cases").read_text(encoding="utf-8").splitlines()]
    return next(shlex.split(r[5]) for r in rows if r[0] == name)


def diagnose(before=None):
    out = tool("diagnose", *case_options("nagle header 16, 1000 B"), "-d", "30ms", "--warmup", "2", "-q", "-j", "-", ok=(0, 10))
    found = json.loads(out.stdout)["diagnoses"][0]
    gains = [f["gain"] for f in found["fixes"] if f["name"] == "one-write" and f["verdict"] == "confirmed"]
    return {"outcome": found["outcome"], "cause": found["cause"], "gain": gains[0] if gains else 0.0}


MEASUREMENTS = {"nagle": nagle, "comb": comb, "main_job": main_job, "diagnose": diagnose}


def figure(facts, name):
    kind, key = name.split(".", 1)
    return facts[kind][key]


if __name__ == "__main__":
    json.dump({n: f() for n, f in MEASUREMENTS.items() if n in sys.argv[1:] or len(sys.argv) == 1}, sys.stdout, indent=1)
