# SPDX-License-Identifier: GPL-2.0-only
"""A timeline's lines, added up again and held against the ledger they belong to."""
import json


class Wrong(Exception):
    pass


def demand(ok, why):
    if not ok:
        raise Wrong(why)


def did_anything(end):
    beside = end["beside"]
    return beside["tx"]["bytes"] or beside["rx"]["bytes"] or any(
        s["ns"] for side, quiet in (("tx", ("idle",)), ("rx", ("idle",))) for n, s in end[side]["states"].items() if n not in quiet)


def rebuilt(text):
    """{(endpoint, ledger): {state: ns}} from a timeline file, what is open at its end, and its end record."""
    rows = [json.loads(line) for line in text.splitlines()]
    demand(rows[0]["schema"] == "ipcstall.timeline" and rows[0]["version"] == 1, "not a timeline")
    out, now, last = {}, {}, 0
    for row in rows[1:-1]:
        demand(row["t"] >= last, f"time runs backwards at {row['t']}")
        last = row["t"]
        if "event" in row:
            continue
        key = (row["ep"], row["ledger"])
        if now.get(key):
            state, since = now[key]
            out.setdefault(key, {}).setdefault(state, 0)
            out[key][state] += row["t"] - since
        now[key] = (row["state"], row["t"]) if row["state"] else None
    return out, now, rows[-1]["end"]


def timeline_adds_up(text, ledger):
    """To the nanosecond, for every endpoint that did anything. Their number."""
    sums, open_, end = rebuilt(text)
    demand(end["lost"] == 0 and ledger["events_lost"] == 0, f"{end['lost']} steps were lost")
    n = 0
    for e in filter(did_anything, ledger["endpoints"]):
        for side in ("tx", "rx"):
            want = {s: v["ns"] for s, v in e[side]["states"].items() if v["ns"]}
            key = (str(e["serial"]), side)
            got = dict(sums.get(key, {}))
            if open_.get(key):  # an endpoint that lives on: its last state goes up to the snapshot
                state, since = open_[key]
                got[state] = got.get(state, 0) + e["born_ns"] + e[side]["lifetime_ns"] - since
            got = {s: ns for s, ns in got.items() if ns}
            demand(got == want, f"endpoint {e['serial']} {side}: the timeline says {got}, the ledger {want}")
            demand(sum(got.values()) == e[side]["lifetime_ns"], f"endpoint {e['serial']} {side}: not the whole life")
            n += 1
    return n
