# SPDX-License-Identifier: GPL-2.0-only
"""What the kernel takes for calling programs, whatever they do: no tracer with these hooks can cost less.

As a program: floor.py FLOOR IPCSTALL RESULT... Each RESULT is a traced run's document. The same run is repeated untraced, in pairs: with
programs that do nothing (FLOOR, from floor.c) at the raw tracepoints which the ledger had there, and without.
"""
import contextlib
import functools
import json
import random
import statistics
import subprocess
import sys

PAIRS = 9


def points(doc):
    """Where the ledger's hooks are, if all are raw tracepoints: programs of other kinds are called by other ways."""
    hooks = [h for h in (doc["trace"] or {}).get("hooks", []) if h["attached"]]
    return sorted({h["point"] for h in hooks}) if hooks and all(h["kind"] == "raw tracepoint" for h in hooks) else []


def once(ipcstall, test, size):
    """Nanoseconds for a message; both ends share one processor."""
    said = subprocess.run([ipcstall, "--mode", "tcp", "--test", test, "--size", str(size), "--placement", "same", "--duration", "300ms",
                           "--no-trace", "--quiet", "--json", "-"], capture_output=True, text=True, check=True).stdout
    point = json.loads(said)["points"][0]
    return point["latency"]["median"] if test == "latency" else point["elapsed_ns"] / point["messages"]


@contextlib.contextmanager
def with_nothing(floor, hooks):
    with subprocess.Popen([floor, *hooks], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        if p.stdout.readline() != "attached\n":
            sys.exit("floor.py: the programs that do nothing could not be attached")
        yield
        p.stdin.close()


def ratios_of(floor, hooks, run):
    """Time with programs to time without, of each pair."""
    ratios = []
    for _ in range(PAIRS):
        took = {}
        for nothing in random.sample((False, True), 2):
            with with_nothing(floor, hooks) if nothing else contextlib.nullcontext():
                took[nothing] = run()
        ratios.append(took[True] / took[False])
    return sorted(ratios)


def main():
    floor, ipcstall, *files = sys.argv[1:]
    for file in files:
        with open(file, encoding="utf-8") as f:
            doc = json.load(f)
        point, hooks = doc["points"][0], points(doc)
        if not hooks:
            continue
        ratios = ratios_of(floor, hooks, functools.partial(once, ipcstall, point["test"], point["size"]))
        print(f"# {point['test']} of {point['size']} B with programs that do nothing at these {len(hooks)} hooks: "
              f"time x {statistics.median(ratios):.3f} [{ratios[1]:.3f}, {ratios[-2]:.3f}]")


if __name__ == "__main__":
    main()
