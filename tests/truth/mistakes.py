#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The mistakes listed in tests/truth/mistakes, and the tests that show that each is fixed.

usage: tests/truth/mistakes.py --check | --run | --guests | --doc FILE

--check prints each named test that does not exist, and whether docs/TRUTH.md lacks a row. --run runs
the named tests here, but for those of tests/truth: `make test-truth` keeps what came of these.
--guests runs the known workloads in guests. --doc writes the document, with what came of the latest
runs.
"""
import argparse
import json
import pathlib
import platform
import re
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
TOP = TESTS.parent
KEPT = TOP / "build/truth"
CLASSES = {
    1: "MPTCP listeners",
    2: "Figures for what was not seen",
    3: "Names of the resolution",
    4: "connect()",
    5: "Queues of this host",
    6: "What counts as pacing",
    7: "accept() and the backlog",
    8: "Holes in what was received",
    9: "Data that a backend does not see",
    10: "Shares above 100 %",
    11: "Blame for another process",
    12: "Pauses",
    13: "No CPU, quotas and stops",
    14: "Readers that are held up themselves",
    15: "Datagrams",
    16: "Requests and their waits",
    17: "What limits a stream",
    18: "Attached in the middle",
    19: "Stacks",
    20: "Data left unread",
    21: "Holds in pieces",
    22: "Proxies and chains",
    23: "Deadlocks",
    24: "Small reads",
    25: "Full links",
    26: "Clients in epoll",
    27: "Trifles",
    28: "Lost bytes",
}


# --- the rows --------------------------------------------------------------------------------


class Row:
    """CLASS | WHAT WAS WRONG | TESTS | RESULT NOW"""

    def __init__(self, line):
        numbers, self.wrong, tests, self.now = (cell.strip() for cell in line.split("|"))
        self.classes = [int(number) for number in numbers.split(",")]
        self.tests = [] if tests.startswith("none: ") else re.findall(r"[\w-]+/[\w-]+", tests)
        self.shown = re.sub(r"([\w-]+/[\w-]+)", r"`\1`", tests) if self.tests else tests


def rows():
    lines = (TESTS / "truth/mistakes").read_text(encoding="utf-8").splitlines()
    return [Row(line) for line in lines if line.strip() and not line.startswith("#")]


def named(kind):
    tests = {test for row in rows() for test in row.tests}
    return sorted(test.split("/")[1] for test in tests if test.startswith(kind + "/"))


# --- do they exist? --------------------------------------------------------------------------


def corpus():
    lines = (TESTS / "corpus/cases").read_text(encoding="utf-8").splitlines()
    cases = (line for line in lines if "|" in line and not line.startswith("#"))
    return {case.split("|")[0].strip() for case in cases}


def known():
    """The workloads of tests/kernel, by the words of its sources."""
    text = "".join(f.read_text(encoding="utf-8") for f in (TESTS / "kernel").glob("*.[ch]"))
    return set(re.findall(r'"([a-z][a-z0-9-]+)"', text))


def programs():
    run = [sys.executable, "-B", str(TESTS / "truth/run"), "--list"]
    listed = subprocess.run(run, capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[1] for line in listed if line.startswith(("healthy ", "sick "))}


def lacking():
    kinds = {
        "unit": {f.stem.removeprefix("test_") for f in (TESTS / "unit").glob("test_*.c")},
        "cli": {f.stem for f in (TESTS / "cli").iterdir()},
        "corpus": corpus(), "truth": programs(), "known": known(),
    }
    for kind, exist in kinds.items():
        absent = (name for name in named(kind) if name not in exist)
        for name in absent:
            yield f"tests/truth/mistakes names {kind}/{name}, which is not there"
    listed = {number for row in rows() for number in row.classes}
    for number in sorted(set(CLASSES) - listed):
        yield f"tests/truth/mistakes has no row of class {number}"
    for number in sorted(listed - set(CLASSES)):
        yield f"tests/truth/mistakes has a row of class {number}, which has no name"


def without_results(document):
    without_summary = re.sub(r"(?m)^<!-- results -->\n(.*\n)*?\n", "", document)
    return re.sub(r" \| [^|\n]* \|$", "", without_summary, flags=re.M)


def check():
    faults = list(lacking())
    made = without_results((TOP / "docs/TRUTH.md").read_text(encoding="utf-8"))
    if made != without_results(document({})):
        faults.append("docs/TRUTH.md is not what tests/truth/mistakes says: make docs-truth")
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


# --- run them --------------------------------------------------------------------------------


def lines_of(command):
    """What a command prints, shown as it comes."""
    with subprocess.Popen(command, cwd=TOP, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True) as running:
        for line in running.stdout:
            print(line, end="", flush=True)
            yield line.rstrip("\n")


def words(lines, pattern):
    """Of lines "ok NAME" or "not ok NAME": what came of each NAME."""
    came = {}
    for line in lines:
        found = re.match(pattern, line)
        if found:
            word, name = found.groups()
            came[name] = word if came.get(name, word) == word else "not ok"
    return came


COMMANDS = {
    "unit": (["tests/run-unit"], "build/O2/tests/unit/test_{}", r"(ok|FAILED) +test_(\w+)"),
    "cli": (["tests/run-cli"], "{}", r"(ok|FAILED|skipped) +([\w-]+) "),
    "corpus": (["tests/corpus/run"], "{}", r"(ok|not ok) ([\w-]+)"),
    "known": (["tests/contain", "tests/kernel/retry"], "{}", r"(ok|not ok|skip) ([\w-]+)"),
}


def keep(name, results):
    KEPT.mkdir(parents=True, exist_ok=True)
    (KEPT / name).write_text(json.dumps(results, indent=1), encoding="utf-8")


def kept(name):
    file = KEPT / name
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def run():
    results = {"kernel": platform.release().split("-")[0]}
    for kind, (command, argument, pattern) in COMMANDS.items():
        came = words(lines_of(command + [argument.format(name) for name in named(kind)]), pattern)
        results.update({f"{kind}/{name}": came.get(name, "not run") for name in named(kind)})
        keep("mistakes.json", results)
    words_said = {word for test, word in results.items() if "/" in test}
    return 0 if words_said <= {"ok", "skip", "skipped"} else 1


def guests():
    """The known workloads, all of them, on each kernel with each backend."""
    command = ["tests/vm/run", "--jobs", "1", "--verbose", "--test", "known"]
    came = of_guests(lines_of(command))
    keep("guests.json", came)
    return 0 if came and all(word in ("ok", "skip") for word in came.values()) else 1


def of_guests(lines):
    """Of lines "KERNEL WORD known-BACKEND/CASE ...": what came of each case there. A skipped check
    of a case is not the case."""
    came = {}
    for line in lines:
        found = re.match(r"(\S+) +(ok|not ok|FAIL\w*|skip) +(known-\w+/[\w-]+)(\S*)", line)
        if found and (found[2] != "skip" or not found[4]):
            name = f"{found[1]} {found[3]}"
            came[name] = found[2] if came.get(name, "ok") == "ok" else came[name]
    return came


# --- the document ----------------------------------------------------------------------------


HEAD = """# Wrong figures and verdicts that were fixed

Made by `make docs-truth` from tests/truth/mistakes. One row for each mistake found with real programs, by class. Each
test failed before and passes now: `known/NAME` is a known workload of tests/kernel (`make test-native TEST=NAME`),
`cli/NAME` a test of tests/cli (`make test-cli TEST=NAME`), `unit/NAME` one of tests/unit (`make test-unit TEST=NAME`),
`corpus/NAME` a recording (`make test-corpus TEST=NAME`), and `truth/NAME` a program of tests/truth (`make test-truth
TEST=NAME`). docs/TRUTH-PROGRAMS.md lists those programs with their verdicts.
"""


def in_guests_of(test, in_guests):
    """What came of a known workload, by kernel and backend."""
    kind, name = test.split("/")
    if kind != "known":
        return {}
    return {guest: word for guest, word in in_guests.items() if guest.endswith("/" + name)}


def result_of(row, results, in_guests):
    if not row.tests:
        return ""
    missed, guests_passed = [], 0
    for test in row.tests:
        missed += [f"{test} {results.get(test, 'not run')}"] if results.get(test) != "ok" else []
        of_test = in_guests_of(test, in_guests)
        missed += [f"{guest} {word}" for guest, word in of_test.items() if word != "ok"]
        guests_passed += sum(word == "ok" for word in of_test.values())
    also = f", also in {guests_passed} runs in guests" if guests_passed else ""
    return ", ".join(missed) or "passed" + also


def count(came):
    return f"{sum(word == 'ok' for word in came.values())} of {len(came)} passed"


def summary(results, in_guests):
    """What ran, where, and what came of it."""
    here = {test: word for test, word in results.items() if "/" in test}
    kernels = sorted({name.split()[0] for name in in_guests}, key=lambda k: [int(n) for n in k.split(".")])
    return [f"Latest run, Linux {results.get('kernel', '?')}, raw tracepoints and samples: {count(here)}.",
            f"The known workloads in guests, Linux {', '.join(kernels)}, every backend: {count(in_guests)}."]


def section(number, of_class, results, in_guests):
    out = [f"## {number} {CLASSES[number]}", "", "| what was wrong | test | result now | latest run |", "|---|---|---|---|"]
    for row in of_class:
        also = row.classes[1:]
        wrong = row.wrong + (f" (also {', '.join(map(str, also))})" if also else "")
        out.append(f"| {wrong} | {row.shown} | {row.now} | {result_of(row, results, in_guests)} |")
    return out + [""]


def document(results, in_guests=None):
    out = [HEAD]
    if results:
        out += ["<!-- results -->", *summary(results, in_guests or {}), ""]
    for number in CLASSES:
        of_class = [row for row in rows() if row.classes[0] == number]
        if of_class:
            out += section(number, of_class, results, in_guests or {})
    return "\n".join(out)


def write(file):
    of_programs = {f"truth/{name}": came["word"] for name, came in kept("results.json").items() if name in named("truth")}
    pathlib.Path(file).write_text(document({**kept("mistakes.json"), **of_programs}, kept("guests.json")), encoding="utf-8")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true", help="does each test exist, and is the document up to date?")
    what.add_argument("--run", action="store_true", help="run the tests here, and keep what came of each")
    what.add_argument("--guests", action="store_true", help="run the known workloads in guests, and keep what came of each")
    what.add_argument("--doc", metavar="FILE", help="write the document with what was kept")
    args = parser.parse_args()
    if args.doc:
        return write(args.doc)
    return check() if args.check else run() if args.run else guests()


if __name__ == "__main__":
    sys.exit(main())
