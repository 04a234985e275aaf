#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Hold a ledger against what a known workload's own clock saw.

    compare.py KNOWN.json LEDGER.json [--prefix NAME] [--tol-ns N] [--tol-rel R]
    compare.py --batch DIR...       known.json and ledger.json in each, in one go; a good one is one line

KNOWN.json is the line that `known` prints, LEDGER.json the document of `ipcstall run --json`. Prints `ok NAME`,
`not ok NAME: ...` or `skip NAME: ...` for each check and ends with `N passed, N failed, N skipped`.
"""
import argparse
import functools
import json
import os
import sys
from collections import Counter

STALLS = ("rwnd", "cwnd", "nagle", "cork", "pacing", "recovery", "sndbuf")
# The ring of a pipe being full, or empty, under its own name.
ALIASES = {"sndbuf": ("full-wait", "full_wait"), "wait": ("empty-wait", "empty_wait")}
# Which ledger tells one end of a pipe from the other.
OF_ROLE = {"writer": "tx", "reader": "rx"}


class Unknown(Exception):
    """A figure that the ledger says it could not observe: no failure, no success."""


class Absent(Exception):
    """A figure that a ledger has to have and this one has not."""


# --- reading a ledger ---------------------------------------------------------------------------------------------


def side(endpoint, ledger):
    return endpoint.get(ledger) or {}


def state(endpoint, ledger, name):
    """One state's {"ns", "count", "max_ns"}; a state that is not listed was never entered."""
    if not side(endpoint, ledger):
        raise Absent(f"no {ledger} ledger")
    states = side(endpoint, ledger).get("states")
    if states is None:
        raise Absent(f"no states in the {ledger} ledger")
    for key in (name, *ALIASES.get(name, ())):
        if key in states:
            if states[key] is None:
                raise Unknown(f"{name} was not observed")
            return states[key]
    return {"ns": 0, "count": 0, "max_ns": 0}


def known_ns(figures):
    """A state's time; one that this backend cannot see holds none of the lifetime."""
    return figures["ns"] or 0


def state_ns(endpoint, ledger, names):
    total = 0
    for name in names.split("+"):
        ns = state(endpoint, ledger, name)["ns"]
        if ns is None:
            raise Unknown(f"{name} was not observed")
        total += ns
    return total


def beside(endpoint, ledger, name):
    """A figure kept beside the states: in the ledger of that side, or in the endpoint's own set."""
    common = endpoint.get("beside") or {}
    for place, key in ((side(endpoint, ledger), name), (side(endpoint, ledger).get("beside") or {}, name),
                       (common.get(ledger) if isinstance(common.get(ledger), dict) else {}, name),
                       (common, f"{ledger}_{name}"), (common, name), (common.get("tcp") or {}, name)):
        if key not in place:
            continue
        value = place[key]
        if value is None:
            raise Unknown(f"{name} was not observed")
        if isinstance(value, dict) and value and all(v is None for v in value.values()):
            raise Unknown(f"{name} were not observed")
        if isinstance(value, dict):
            return sum(v for v in value.values() if v is not None)
        return value
    raise Absent(f"no figure '{name}'")


def blames(endpoint, ledger, name):
    """Those blamed for a state: lists of {"pid": ...} under the state, the ledger or the endpoint."""
    places = [state(endpoint, ledger, name).get("blame")]
    places += [[b for b in where.get("blame") or () if b.get("state") in (name, *ALIASES.get(name, ()))]
               for where in (side(endpoint, ledger), endpoint) if "blame" in where]
    if all(place is None for place in places):
        raise Absent("nobody is blamed")
    return [b for place in places if place for b in (place if isinstance(place, list) else [place])]


# --- whose ledger is whose ----------------------------------------------------------------------------------------


def same_family(end, endpoint):
    return str(endpoint.get("proto", "")).lower().startswith(end["proto"])


def fits(end, endpoint):
    """May this ledger be that end's? Inode, name space and addresses must not contradict."""
    if not same_family(end, endpoint):
        return False
    if end["inode"] and endpoint.get("inode") and endpoint["inode"] != end["inode"]:
        return False
    if end["proto"] == "pipe":
        return bool(endpoint.get("inode") and side(endpoint, OF_ROLE[end["role"]]))
    if end["netns"] and endpoint.get("netns") and endpoint["netns"] != end["netns"]:
        return False
    return all(not end[key] or not endpoint.get(key) or endpoint[key] == end[key] for key in ("local", "remote")) and bool(
        endpoint.get("inode") or (end["local"] and endpoint.get("local") == end["local"]))


def used(endpoint, ledger):
    """Has this side seen anything but idling?"""
    states = side(endpoint, ledger).get("states") or {}
    return any(name != "idle" and value and value.get("ns") for name, value in states.items())


def rank(end, endpoint):
    """Of those that fit, the best has the role, the used side, the pid of the end."""
    ledger = OF_ROLE.get(end["role"])
    return (endpoint.get("role") in (end["role"], ledger), bool(ledger) and used(endpoint, ledger),
            bool(ledger) and bool(side(endpoint, ledger)), endpoint.get("pid") in (end["pid"], end["tid"]))


def match(known, endpoints):
    """{role: endpoint}, each endpoint given once; a pipe's two ends are the two ledgers of one endpoint."""
    inodes = {end["inode"] for end in known["endpoints"]}
    found, left = {}, [e for e in endpoints if not e.get("inode") or e["inode"] in inodes or 0 in inodes]
    for end in known["endpoints"]:
        candidates = [e for e in left if fits(end, e)]
        if not candidates:
            continue
        best = max(candidates, key=lambda e, end=end: rank(end, e))
        found[end["role"]] = best
        if end["proto"] != "pipe":
            left = [e for e in left if e is not best]
    return found


# --- the checks ----------------------------------------------------------------------------------------------------


def ms(ns):
    return f"{ns / 1e6:.3f} ms"


class Report:
    def __init__(self, prefix="", out=None, terse=False):
        self.prefix, self.out, self.counts, self.terse = prefix, out or sys.stdout, Counter(), terse
        self.blind = 0  # stretches in which the kernel ran no program: what is wrong may be what nobody could see

    def say(self, verdict, name, why=""):
        self.counts[verdict] += 1
        if self.terse and verdict == "ok":
            return
        print(f"{verdict} {self.prefix}{name}" + (f": {why}" if why else ""), file=self.out)

    def check(self, good, name, why):
        self.say("ok" if good else "not ok", name, "" if good else why + (f" [blind {self.blind}]" if self.blind else ""))

    def closing(self):
        return f"{self.counts['ok']} passed, {self.counts['not ok']} failed, {self.counts['skip']} skipped"


def not_running(known):
    """How long the ends were woken and had no processor, or the machine had none: the application's clock counts that to whatever
    it waited for, the ledger to what held when it could go on. Both figures are the kernel's own, none the ledger's."""
    return sum(end.get("runq_ns") or 0 for end in known["endpoints"]) + (known.get("steal_ns") or 0)


class Tolerance:
    """What an expectation allows: its own, at least `ns` and `rel`, and `late` for the processor that was not there. `left_out`: runs of
    programs that were left out (docs/KERNEL_NOTES.md) where the backend may not see from elsewhere that a call has ended. `gaps`: all that
    the ledger says it did not see."""

    def __init__(self, ns=0, rel=0.0, late=0, left_out=0, gaps=0):
        self.ns, self.rel, self.late, self.left_out, self.gaps = ns, rel, late, left_out, gaps

    def of(self, expect, value):
        return max(self.ns, expect["tol_ns"]) + max(self.rel, expect["tol_rel"]) * value + self.late


def broken_side(endpoint, ledger):
    """What is wrong with one ledger's arithmetic, or nothing."""
    part = endpoint.get(ledger)
    if part is None:
        return ""
    states = [v for k, v in (part.get("states") or {}).items() if v and v["ns"] is not None and k != part.get("now")]
    if any(v["ns"] < 0 or v.get("count", 0) < 0 for v in states):
        return f"{ledger} has a negative figure"
    if any(v["ns"] and v.get("count") == 0 or v.get("max_ns") is not None and v["max_ns"] > v["ns"] for v in states):
        return f"{ledger} has time without a visit, or a maximum above the sum"
    total = sum(known_ns(v) for v in (part.get("states") or {}).values() if v)
    unseen = any(v["ns"] is None for v in (part.get("states") or {}).values() if v)  # the rest may be theirs
    if total > part.get("lifetime_ns") or total != part.get("lifetime_ns") and not unseen:
        return f"{ledger}: the states sum to {total} ns, the lifetime is {part.get('lifetime_ns')} ns"
    return ""


def broken(doc):
    """Every ledger whose arithmetic is wrong."""
    return [f"{e.get('proto')} {e.get('local') or e.get('inode')}: {b}" for e in doc["endpoints"]
            for b in (broken_side(e, "tx"), broken_side(e, "rx")) if b]


def check_invariant(doc, wrong, report):
    report.check(not wrong, "invariant", f"{len(wrong)} broken, first {wrong[:1]}")
    report.check(doc.get("unaccounted_ns") == 0, "unaccounted", f"want 0, got {doc.get('unaccounted_ns')}")
    report.check(doc.get("lost") == 0, "lost", f"want 0, got {doc.get('lost')}")
    for key in ("observed", "unpaired"):
        report.check(isinstance(doc.get(key), int), f"{key}-printed", f"want a number, got {doc.get(key)!r}")


def within(got, low, high, slack, unit=ms):
    return low - slack <= got <= high + slack, f"want {unit(low)}..{unit(high)} (± {unit(slack)}), got {unit(got)}"


def judge_longest(expect, endpoint):
    got = state(endpoint, expect["ledger"], expect["state"]).get("max_ns")
    if got is None:
        raise Unknown("the longest visit was not observed")
    return got >= expect["longest_low"], f"want a visit of {ms(expect['longest_low'])}, got {ms(got)}"


def judge_state(expect, endpoint, tolerance):
    """(good, why) of an expectation on states."""
    if "longest_low" in expect:
        return judge_longest(expect, endpoint)
    got = state_ns(endpoint, expect["ledger"], expect["state"])
    if "ns" in expect:
        return within(got, expect["ns"], expect["ns"], tolerance.of(expect, expect["ns"]))
    if "low_ns" in expect:
        return within(got, expect["low_ns"], expect["high_ns"], tolerance.of(expect, expect["high_ns"]))
    if "at_most_rel" in expect:
        limit = max(expect["at_most_rel"], tolerance.rel) * expect["of_ns"] + tolerance.late
        return got <= limit, f"want at most {ms(limit)}, got {ms(got)}"
    if "of_stall_at_least" in expect:
        return judge_share(expect, endpoint, got)
    if "count_low" in expect:
        return judge_count(expect, endpoint)
    raise ValueError(f"an expectation of no known kind: {expect}")


def judge_share(expect, endpoint, got):
    stall = sum(known_ns(state(endpoint, expect["ledger"], name)) for name in STALLS)
    good = stall > 0 and got >= expect["of_stall_at_least"] * stall
    return good, f"want {expect['of_stall_at_least']:.0%} of the stall time, got {ms(got)} of {ms(stall)}"


def judge_count(expect, endpoint):
    got = state(endpoint, expect["ledger"], expect["state"]).get("count")
    if got is None:
        raise Unknown("visits were not counted")
    low, high = expect["count_low"], expect["count_high"]
    return low <= got <= high, f"want {low}..{high} visits, got {got}"


def judge_unknown(expect, endpoint):
    try:
        return False, f"want no figure, got {beside(endpoint, expect['ledger'], expect['beside'])}"
    except Unknown:
        return True, ""


def syn_and_fin(expect, endpoint):
    """Where calls went unseen, a TCP socket's own count stands for their bytes."""
    mine = (endpoint.get("beside") or {}).get(expect["ledger"]) or {}
    return 2 if expect["beside"] == "bytes" and endpoint["proto"] == "tcp" and mine.get("messages", 0) is None else 0


def judge_beside(expect, endpoint, tolerance):
    if expect.get("unknown"):
        return judge_unknown(expect, endpoint)
    got = beside(endpoint, expect["ledger"], expect["beside"])
    if "ns" in expect:
        return within(got, expect["ns"], expect["ns"], tolerance.of(expect, expect["ns"]))
    if tolerance.left_out and endpoint["proto"] != "tcp" and expect["beside"] in ("bytes", "messages") and got < expect["low"]:
        raise Unknown(f"{got} of {expect['low']} seen, and {tolerance.left_out} runs of programs were left out by this kernel")
    return within(got, expect["low"], expect["high"] + syn_and_fin(expect, endpoint), 0, unit=str)


def judge_blame(expect, endpoint, known):
    want = {i for end in known["endpoints"] if end["role"] == expect["blame"] for i in (end["pid"], end["tid"])}
    got = blames(endpoint, expect["ledger"], expect["state"])
    most = max((b.get("ns", 0) for b in got if b.get("pid") in want), default=0)
    total = state_ns(endpoint, expect["ledger"], expect["state"])
    return bool(want & {b.get("pid") for b in got}) and 2 * most >= total, (
        f"want pid {sorted(want)} of {expect['blame']} for half of {total / 1e6:.1f} ms, got "
        + (", ".join(f"{b.get('pid')} for {b.get('ns', 0) / 1e6:.1f} ms" for b in got) or "nobody"))


def judge(expect, endpoint, known, tolerance):
    if "beside" in expect:
        return judge_beside(expect, endpoint, tolerance)
    if "blame" in expect:
        return judge_blame(expect, endpoint, known)
    return judge_state(expect, endpoint, tolerance)


def name_of(expect):
    what = expect.get("state") or expect["beside"]
    kind = "blame" if "blame" in expect else "absent" if "at_most_rel" in expect else "count" if "count_low" in expect \
        else "cause" if "of_stall_at_least" in expect else ""
    return "-".join(filter(None, (expect["endpoint"], expect["ledger"], what, kind)))


def may_be_unknown(expect, tolerance):
    """Bytes are known, but where the ledger says that it missed something."""
    return expect.get("beside") not in ("bytes", "messages") or tolerance.gaps


def check_expectation(expect, found, known, report, tolerance):
    name = name_of(expect)
    if expect["endpoint"] not in found:
        report.say("not ok", name, "no ledger for this end")
        return
    try:
        good, why = judge(expect, found[expect["endpoint"]], known, tolerance)
    except Unknown as unknown:
        report.say("skip" if may_be_unknown(expect, tolerance) else "not ok", name, str(unknown))
    except Absent as absent:
        report.say("not ok", name, str(absent))
    else:
        report.check(good, name, why)


def uncovered(known, doc):
    """Features the workload rests on which this run's ledger says it does not see."""
    declared = " ".join([line for part in (doc, doc.get("ledger"), doc.get("trace")) for line in (part or {}).get("not_covered") or ()])
    return sorted({e["covers"] for e in known["expect"] if "covers" in e and e["covers"] in declared.split()})


def check_ends(known, found, report, tolerance):
    """Each end has a ledger, which spans what the application did with it."""
    for end in known["endpoints"]:
        endpoint = found.get(end["role"])
        report.check(endpoint is not None, f"{end['role']}-seen", "no ledger for this end")
        if endpoint is None:
            continue
        ledger = OF_ROLE.get(end["role"], "tx")
        lived = side(endpoint, ledger).get("lifetime_ns", 0)
        active = max(end["in_write_ns"] if ledger == "tx" else 0, end["in_read_ns"] if ledger == "rx" else 0)
        slack = max(tolerance.ns, 1e6) + max(tolerance.rel, 0.01) * active
        report.check(lived + slack >= active, f"{end['role']}-lifetime", f"{ms(lived)}, but in calls for {ms(active)}")


def port_of(address):
    return int(address.rsplit(":", 1)[1]) if address and ":" in address else None


def check_group(group, doc, report):
    """
    Every one of many endpoints is there once, with the bytes that it alone had. A kernel with preemption leaves out a program that
    another thread of the same CPU is in the midst of (__bpf_prog_enter_recur()); what the ledger says it missed may be missing here.
    """
    missed = doc["missed"]
    mine = [e for e in doc["endpoints"] if same_family(group, e) and e.get("pid") == group["pid"]
            and port_of(e.get(group["port_of"])) == group["port"] and port_of(e.get("remote")) not in (None, 0)]
    name = f"many-{group['role']}"
    report.check(0 <= group["endpoints"] - len(mine) <= missed, f"{name}-endpoints", f"want {group['endpoints']}, got {len(mine)}, {missed} missed")
    try:
        got = Counter(beside(e, group["ledger"], "bytes") for e in mine)
    except (Absent, Unknown) as why:
        report.say("not ok", f"{name}-bytes", str(why))
        return
    first, step, n = group["bytes_first"], group["bytes_step"], group["endpoints"]
    want = Counter(first + i * step for i in range(n))
    more, fewer = got - want, want - got
    wrong = list(more.items())[:3], list(fewer.items())[:3]
    report.check(more.total() <= missed and fewer.total() <= missed, f"{name}-bytes",
                 f"too many of {wrong[0]}, too few of {wrong[1]} (bytes, endpoints), {missed} missed")


def left_out(doc):
    return doc.get("ledger", doc).get("missed") if (doc.get("trace") or {}).get("backend") == "rawtp" else 0


def compare(known, doc, report, tolerance, wrong=None):
    blind, skipped = uncovered(known, doc), left_out(doc)
    doc = doc.get("ledger", doc)
    tolerance = Tolerance(tolerance.ns, tolerance.rel, not_running(known), skipped, (doc.get("missed") or 0) + (doc.get("unpaired") or 0))
    check_invariant(doc, broken(doc) if wrong is None else wrong, report)
    found = match(known, doc["endpoints"])
    if blind:
        report.say("skip", "expectations", f"this backend does not cover {', '.join(blind)}, and says so")
        return
    check_ends(known, found, report, tolerance)
    for expect in known["expect"]:
        if "covers" not in expect:
            check_expectation(expect, found, known, report, tolerance)
    for group in known["groups"]:
        check_group(group, doc, report)


@functools.lru_cache(maxsize=1)
def read_ledger(path, _stamp):
    doc = last_object(path)
    return doc, broken(doc.get("ledger", doc))


def ledger_of(path):
    """A document and what is broken in it, read once: many workloads under one tracer have one document."""
    path = os.path.realpath(path)
    return read_ledger(path, os.stat(path).st_mtime_ns)


def last_object(path):
    """The document in a file: all of it, or its last line that is an object."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    try:
        return json.loads(text)
    except ValueError:
        lines = [line for line in text.splitlines() if line.startswith("{")]
        if not lines:
            raise
        return json.loads(lines[-1])


def compare_files(known_path, ledger_path, report, tolerance, all_seen=False):
    try:
        known, (doc, wrong) = last_object(known_path), ledger_of(ledger_path)
    except (OSError, ValueError) as why:
        report.say("not ok", "documents", str(why))
    else:
        blind = doc.get("ledger", doc).get("blind")
        report.blind = blind or 0
        compare(known, doc, report, tolerance, wrong)
        if all_seen:
            report.check(blind == 0, "blind", f"want 0, got {blind}")


def batch(dirs, tolerance, all_seen):
    """Python is slow to start on an emulated machine: one start for all."""
    total = Report()
    for path in dirs:
        name = path.rstrip("/").rsplit("/", 1)[-1]
        report = Report(name + "/", terse=True)
        compare_files(path + "/known.json", path + "/ledger.json", report, tolerance, all_seen)
        if not report.counts["not ok"]:
            print(f"ok {name} ({report.counts['ok']} checks)", flush=True)
        total.counts += report.counts
    return total


def main(argv=None):
    p = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    p.add_argument("paths", nargs="+")
    p.add_argument("--batch", action="store_true", help="the paths are folders")
    p.add_argument("--prefix", default="", help="put before each check's name")
    p.add_argument("--tol-ns", type=float, default=0, help="at least this tolerance (ns)")
    p.add_argument("--tol-rel", type=float, default=0, help="and at least this share")
    p.add_argument("--all-seen", action="store_true", help="this kernel always runs what is attached: the ledger is blind at no time")
    args = p.parse_args(argv)
    tolerance = Tolerance(args.tol_ns, args.tol_rel)
    if args.batch:
        report = batch(args.paths, tolerance, args.all_seen)
    elif len(args.paths) == 2:
        report = Report(args.prefix)
        compare_files(*args.paths, report, tolerance, args.all_seen)
    else:
        p.error("expected KNOWN.json and LEDGER.json")
    print(report.closing())
    return 1 if report.counts["not ok"] else 0


if __name__ == "__main__":
    sys.exit(main())
