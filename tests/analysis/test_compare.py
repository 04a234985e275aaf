# SPDX-License-Identifier: GPL-2.0-only
"""The judge judged: a right ledger passes, and each way of being wrong is seen."""
import copy
import io
import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "kernel"))
import compare as judge  # noqa: E402

MS = 1_000_000


def end(role, proto="tcp", **figures):
    base = {"role": role, "proto": proto, "pid": 10, "tid": 10, "inode": 0, "netns": 1, "local": "", "remote": "",
            "in_write_ns": 0, "in_read_ns": 0}
    return {**base, **figures}


@pytest.fixture
def known():
    """19 Nagle stalls of 44 ms, by the client; the server withholds its ACKs."""
    return {
        "endpoints": [end("client", local="127.0.0.1:1", remote="127.0.0.1:2", inode=7, in_write_ns=MS),
                      end("server", local="127.0.0.1:2", remote="127.0.0.1:1", inode=8, pid=11, tid=11)],
        "groups": [],
        "expect": [
            {"endpoint": "client", "ledger": "tx", "state": "nagle", "ns": 836 * MS, "tol_ns": MS, "tol_rel": 0.01},
            {"endpoint": "client", "ledger": "tx", "state": "nagle", "count_low": 19, "count_high": 20},
            {"endpoint": "client", "ledger": "tx", "state": "nagle", "of_stall_at_least": 0.97},
            {"endpoint": "client", "ledger": "tx", "state": "cwnd", "at_most_rel": 0.01, "of_ns": 840 * MS},
            {"endpoint": "client", "ledger": "tx", "state": "nagle+flight", "low_ns": 836 * MS, "high_ns": 840 * MS,
             "tol_ns": 0, "tol_rel": 0},
            {"endpoint": "server", "ledger": "rx", "beside": "delack_fires", "low": 19, "high": 19},
            {"endpoint": "client", "ledger": "tx", "beside": "blocked_ns", "ns": 5 * MS, "tol_ns": MS, "tol_rel": 0.01},
            {"endpoint": "client", "ledger": "tx", "state": "nagle", "blame": "server"},
        ],
    }


def side(**ns):
    return {"lifetime_ns": sum(ns.values()), "states": {k: {"ns": v, "count": 19, "max_ns": v} for k, v in ns.items()}}


@pytest.fixture
def doc():
    client = {"proto": "tcp", "local": "127.0.0.1:1", "remote": "127.0.0.1:2", "pid": 10, "inode": 7, "netns": 1,
              "tx": side(work=MS, nagle=836 * MS, idle=3 * MS), "rx": side(wait=840 * MS), "beside": {"blocked_ns": 5 * MS},
              "blame": [{"state": "nagle", "pid": 11, "ns": 836 * MS}]}
    server = {"proto": "tcp", "local": "127.0.0.1:2", "remote": "127.0.0.1:1", "pid": 11, "inode": 8, "netns": 1,
              "tx": side(idle=840 * MS), "rx": side(wait=840 * MS), "beside": {"delack_fires": 19}}
    return {"ledger": {"endpoints": [server, client], "observed": 100, "lost": 0, "unpaired": 0, "unaccounted_ns": 0}}


def run(known, doc, **tolerance):
    out = io.StringIO()
    report = judge.Report(out=out)
    judge.compare(known, doc, report, judge.Tolerance(**tolerance))
    return report.counts, out.getvalue()


def failures(text):
    return [line.split(":")[0].removeprefix("not ok ") for line in text.splitlines() if line.startswith("not ok")]


def client(doc):
    return doc["ledger"]["endpoints"][1]


def server(doc):
    return doc["ledger"]["endpoints"][0]


def test_right_ledger_passes(known, doc):
    counts, text = run(known, doc)
    assert not failures(text)
    assert counts["ok"] == 5 + 4 + len(known["expect"])


def lose_a_nanosecond(doc):
    client(doc)["tx"]["lifetime_ns"] += 1


def wrong_cause(doc):
    states = client(doc)["tx"]["states"]
    states["cwnd"] = states.pop("nagle")


def too_short(doc):
    states = client(doc)["tx"]["states"]
    states["nagle"]["ns"] -= 20 * MS
    states["nagle"]["max_ns"] = MS
    states["idle"]["ns"] += 20 * MS


def one_visit_less(doc):
    client(doc)["tx"]["states"]["nagle"]["count"] = 18


def one_fire_more(doc):
    server(doc)["beside"]["delack_fires"] = 20


def no_fires(doc):
    del server(doc)["beside"]["delack_fires"]


def blames_itself(doc):
    client(doc)["blame"][0]["pid"] = 10


def blames_nobody(doc):
    del client(doc)["blame"]


def lost_a_record(doc):
    doc["ledger"]["lost"] = 1


def silent_about_lost(doc):
    del doc["ledger"]["lost"]


def unpaired_missing(doc):
    doc["ledger"]["unpaired"] = None


def unaccounted(doc):
    doc["ledger"]["unaccounted_ns"] = 1


def no_client(doc):
    doc["ledger"]["endpoints"].pop()


def no_side(doc):
    client(doc)["tx"] = None


def time_without_visit(doc):
    server(doc)["tx"]["states"]["idle"]["count"] = 0


def short_life(doc):
    client(doc)["tx"] = side(idle=0)


WRONG = {
    lose_a_nanosecond: {"invariant"},
    wrong_cause: {"client-tx-nagle", "client-tx-nagle-count", "client-tx-nagle-cause", "client-tx-cwnd-absent"},
    too_short: {"client-tx-nagle"},
    one_visit_less: {"client-tx-nagle-count"},
    one_fire_more: {"server-rx-delack_fires"},
    no_fires: {"server-rx-delack_fires"},
    blames_itself: {"client-tx-nagle-blame"},
    blames_nobody: {"client-tx-nagle-blame"},
    lost_a_record: {"lost"},
    silent_about_lost: {"lost"},
    unpaired_missing: {"unpaired-printed"},
    unaccounted: {"unaccounted"},
    no_client: {"client-seen", "client-tx-nagle", "client-tx-blocked_ns"},
    no_side: {"client-tx-nagle"},
    time_without_visit: {"invariant"},
    short_life: {"client-tx-nagle"},
}


@pytest.mark.parametrize("mutate", WRONG, ids=lambda f: f.__name__)
def test_wrong_ledger_fails(known, doc, mutate):
    mutate(doc)
    counts, text = run(known, doc)
    assert WRONG[mutate] <= set(failures(text)), text
    assert counts["not ok"] == len(failures(text))


def test_unknown_is_skipped_not_passed(known, doc):
    server(doc)["beside"]["delack_fires"] = None
    client(doc)["tx"]["states"]["cwnd"] = None
    counts, text = run(known, doc)
    assert counts["skip"] >= 2 and not {"server-rx-delack_fires", "client-tx-cwnd-absent"} & set(failures(text))


def test_bytes_are_unknown_only_where_something_was_missed(known, doc):
    known["expect"] = [{"endpoint": "server", "ledger": "rx", "beside": "bytes", "low": 7, "high": 7}]
    server(doc)["beside"]["rx"] = {"bytes": None}
    assert "server-rx-bytes" in failures(run(known, doc)[1])
    doc["ledger"]["missed"] = 1
    assert "server-rx-bytes" not in failures(run(known, doc)[1])


@pytest.mark.parametrize("bytes_, messages, good", [(7, None, True), (9, None, True), (10, None, False), (6, None, False), (8, 3, False)])
def test_a_sockets_own_count_holds_a_syn_and_a_fin(known, doc, bytes_, messages, good):
    known["expect"] = [{"endpoint": "server", "ledger": "rx", "beside": "bytes", "low": 7, "high": 7}]
    server(doc)["beside"]["rx"] = {"bytes": bytes_, "messages": messages}
    assert ("server-rx-bytes" not in failures(run(known, doc)[1])) == good


def test_what_cannot_be_known_must_not_be_told(known, doc):
    known["expect"] = [{"endpoint": "server", "ledger": "rx", "beside": "messages", "low": 0, "high": 0, "unknown": 1}]
    server(doc)["beside"]["rx"] = {"bytes": 7, "messages": None}
    assert not failures(run(known, doc)[1])
    server(doc)["beside"]["rx"]["messages"] = 0
    assert failures(run(known, doc)[1])


def test_tolerance_widens(known, doc):
    too_short(doc)
    known["expect"] = known["expect"][:1]
    assert failures(run(known, doc)[1]) and not failures(run(known, doc, ns=10 * MS, rel=0.02)[1])


def test_feature_not_covered_skips_but_keeps_the_invariant(known, doc):
    known["expect"].insert(0, {"covers": "io_uring"})
    wrong_cause(doc)
    doc["ledger"]["not_covered"] = ["io_uring"]
    counts, text = run(known, doc)
    assert counts["skip"] == 1 and not failures(text)
    lose_a_nanosecond(doc)
    assert failures(run(known, doc)[1]) == ["invariant"]


def pipe_pair():
    known = {"endpoints": [end("writer", "pipe", inode=5), end("reader", "pipe", inode=5, pid=11, tid=11)], "groups": [],
             "expect": [{"endpoint": "writer", "ledger": "tx", "state": "sndbuf", "ns": 190 * MS, "tol_ns": 0, "tol_rel": 0},
                        {"endpoint": "reader", "ledger": "rx", "state": "wait", "ns": 7 * MS, "tol_ns": 0, "tol_rel": 0}]}
    reader = {"proto": "pipe", "inode": 5, "pid": 11, "tx": None, "rx": side(**{"empty-wait": 7 * MS})}
    writer = {"proto": "pipe", "inode": 5, "pid": 10, "tx": side(**{"full-wait": 190 * MS}), "rx": None}
    other = {"proto": "pipe", "inode": 6, "pid": 10, "tx": side(sndbuf=MS), "rx": side(wait=MS)}
    return known, {"endpoints": [other, reader, writer], "observed": 1, "lost": 0, "unpaired": 0, "unaccounted_ns": 0}


def test_pipe_ends_are_told_apart_and_aliases_known():
    known, doc = pipe_pair()
    assert not failures(run(known, doc)[1])
    doc["endpoints"][1]["pid"] = doc["endpoints"][2]["pid"] = 10    # both opened by one process
    assert not failures(run(known, doc)[1])
    doc["endpoints"][2]["inode"] = 9
    assert "writer-seen" in failures(run(known, doc)[1])


def crowd(n):
    known = {"endpoints": [], "expect": [], "groups": [{
        "role": "client", "proto": "tcp", "pid": 10, "port_of": "remote", "port": 2, "ledger": "tx", "endpoints": n,
        "bytes_first": 100, "bytes_step": 1}]}
    ends = [{"proto": "tcp", "pid": 10, "local": f"127.0.0.1:{1000 + i}", "remote": "127.0.0.1:2", "tx": side(idle=MS),
             "beside": {"tx_bytes": 100 + i}} for i in range(n)]
    return known, {"endpoints": ends, "observed": 1, "lost": 0, "unpaired": 0, "missed": 0, "unaccounted_ns": 0}


def test_group_none_merged_none_lost():
    known, doc = crowd(50)
    assert not failures(run(known, doc)[1])
    merged = copy.deepcopy(doc)
    merged["endpoints"][3]["beside"]["tx_bytes"] += merged["endpoints"].pop()["beside"]["tx_bytes"]
    assert failures(run(known, merged)[1]) == ["many-client-endpoints", "many-client-bytes"]
    swapped = copy.deepcopy(doc)
    swapped["endpoints"][3]["beside"]["tx_bytes"] += 1
    assert failures(run(known, swapped)[1]) == ["many-client-bytes"]
    lost = copy.deepcopy(doc)
    lost["endpoints"].pop()
    assert failures(run(known, lost)[1]) == ["many-client-endpoints", "many-client-bytes"]
    lost["missed"] = 1  # as far as the ledger itself says so, and no further
    assert not failures(run(known, lost)[1])
    lost["endpoints"].pop()
    assert failures(run(known, lost)[1]) == ["many-client-endpoints", "many-client-bytes"]


def test_command_line(tmp_path, capsys):
    a, b = tmp_path / "a", tmp_path / "b"
    known, doc = crowd(2)
    a.write_text("noise\n" + judge.json.dumps(known) + "\n")
    b.write_text(judge.json.dumps({"ledger": doc}))
    assert judge.main([str(a), str(b), "--prefix", "x/"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "7 passed, 0 failed, 0 skipped"
    b.write_text("")
    assert judge.main([str(a), str(b)]) == 1
    assert "not ok documents" in capsys.readouterr().out


@pytest.mark.parametrize("blind, options, status, said", [
    (0, ["--all-seen"], 0, ""), (2, ["--all-seen"], 1, "not ok blind: want 0, got 2 [blind 2]"), (2, [], 0, "")])
def test_blind_stretches(tmp_path, capsys, known, doc, blind, options, status, said):
    """Nothing may go unseen on a kernel that runs what is attached; elsewhere it is said where something is wrong."""
    doc["ledger"]["blind"] = blind
    paths = [tmp_path / "known.json", tmp_path / "ledger.json"]
    for path, document in zip(paths, (known, doc)):
        path.write_text(json.dumps(document))
    assert judge.main([*map(str, paths), *options]) == status
    assert said in capsys.readouterr().out


def test_blame_for_less_than_half_of_the_state_fails(known, doc):
    client(doc)["blame"] = [{"state": "nagle", "pid": 11, "ns": 400 * MS}, {"state": "nagle", "pid": 12, "ns": 436 * MS}]
    _, text = run(known, doc)
    assert failures(text) == ["client-tx-nagle-blame"]
