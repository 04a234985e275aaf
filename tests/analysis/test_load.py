# SPDX-License-Identifier: GPL-2.0-only
"""Good files come in whole; bad ones are named on one line, with the right exit code, by every command."""

import copy
import json
import os

import pytest
import synth
from conftest import thorough_but

from analysis.errors import AnalysisError, DATA, NO_PERM, VERSION
from analysis.findings import find
from analysis.load import load, load_documents
from analysis.model import Document, Timeline
from analysis.series import group, pair_up, parse_fix, plain
from analysis.units import percent_text, time_text

POINT = synth.comb(sizes=(1453,), repeats=1, nodelays=(0,))[0]
SWEEP = synth.sweep(synth.comb(sizes=(1453, 3500), repeats=2))


def with_point(**changes):
    return synth.result([{**copy.deepcopy(POINT), **changes}])


def with_ledger(**changes):
    return with_point(ledger={**copy.deepcopy(POINT["ledger"]), **changes})


def header(**changes):
    return json.dumps({**synth.header("result"), "points": [POINT], **changes})


def lat(**changes):
    base = {"unit": "ns", "min": 1, "q1": 2, "median": 3, "q3": 4, "max": 5}
    return with_point(latency={**base, **changes})


BAD = {  # name: (content, exit code, what the line must say)
    "empty": ("", DATA, "empty"),
    "blank": ("\n \n", DATA, "empty"),
    "not json": ("hello\n", DATA, "not JSON"),
    "binary": (b"\x7fELF\x02\x01\x01\x00\xff\xfe", DATA, "UTF-8"),
    "half a document": (synth.result([POINT])[:-40], DATA, "not JSON"),
    "a list": ("[1, 2]", DATA, "object"),
    "a number": ("42", DATA, "object"),
    "null": ("null", DATA, "object"),
    "no schema": ('{"points": []}', DATA, "schema"),
    "foreign schema": (header(schema="iperf3"), DATA, "iperf3"),
    "schema of a wrong type": (header(schema=7), DATA, "schema"),
    "version 2": (header(version=2), VERSION, "version 2"),
    "version as text": (header(version="1"), VERSION, "version '1'"),
    "version true": (header(version=True), VERSION, "version"),
    "no version": (json.dumps({"schema": "ipcstall.result", "points": [POINT]}), VERSION, "version None"),
    "version 9 sweep": (SWEEP.replace('"version": 1', '"version": 9', 1), VERSION, "version 9"),
    "no points": (synth.result([]), DATA, "no points"),
    "points not a list": (header(points={"a": 1}), DATA, "points"),
    "point not an object": (header(points=[3]), DATA, "points[0]"),
    "size as text": (with_point(size="64K"), DATA, "size"),
    "size negative": (with_point(size=-4), DATA, "negative"),
    "size a fraction": (with_point(size=1.5), DATA, "whole number"),
    "size a list": (with_point(size=[4]), DATA, "size"),
    "mode a number": (with_point(mode=4), DATA, "mode"),
    "elapsed true": (with_point(elapsed_ns=True), DATA, "elapsed_ns"),
    "elapsed NaN": (synth.result([POINT]).replace(str(POINT["elapsed_ns"]), "NaN"), DATA, "NaN"),
    "elapsed Infinity": (synth.result([POINT]).replace(str(POINT["elapsed_ns"]), "-Infinity"), DATA, "Infinity"),
    "elapsed overflow": (synth.result([POINT]).replace(str(POINT["elapsed_ns"]), "1e999"), DATA, "number"),
    "elapsed absurdly long": (with_point(elapsed_ns=10**400), DATA, "number"),
    "latency a list": (with_point(latency=[1]), DATA, "latency"),
    "latency unit": (lat(unit="fortnight"), DATA, "fortnight"),
    "quartiles disordered": (lat(q1=9), DATA, "above"),
    "median text": (lat(median="fast"), DATA, "median"),
    "histogram pairs": (with_point(histogram=[[1, 2], [2, 3]]), DATA, "[low, high, count]"),
    "histogram words": (with_point(histogram=[["a", "b", "c"]]), DATA, "[low, high, count]"),
    "histogram ragged": (with_point(histogram=[[1, 2, 3], [4]]), DATA, "[low, high, count]"),
    "histogram null": (with_point(histogram=[[1, 2, None]]), DATA, "[low, high, count]"),
    "histogram overlapping": (with_point(histogram=[[1, 5, 1], [2, 6, 1]]), DATA, "overlap"),
    "histogram negative": (with_point(histogram=[[1, 2, -1]]), DATA, "below zero"),
    "histogram backwards": (with_point(histogram=[[5, 2, 1]]), DATA, "rise"),
    "throughput a number": (with_point(throughput=3), DATA, "throughput"),
    "trials words": (with_point(throughput={"bytes_per_s": 1, "trials": ["x"]}), DATA, "trials"),
    "ledger a list": (with_point(ledger=[]), DATA, "ledger"),
    "endpoints an object": (with_ledger(endpoints={}), DATA, "endpoints"),
    "endpoint null": (with_ledger(endpoints=[None]), DATA, "endpoints[0]"),
    "states a list": (with_ledger(endpoints=[{"tx": {"states": []}}]), DATA, "states"),
    "state a number": (with_ledger(endpoints=[{"tx": {"states": {"nagle": 3}}}]), DATA, "nagle"),
    "state negative": (with_ledger(endpoints=[{"tx": {"states": {"nagle": {"ns": -3}}}}]), DATA, "negative"),
    "stall text": (with_ledger(stall_ns="40ms"), DATA, "stall_ns"),
    "vars nested": (with_point(vars={"size": {"a": 1}}), DATA, "vars"),
    "vars a list": (with_point(vars=[1]), DATA, "vars"),
    "warnings numbers": (with_point(warnings=[3]), DATA, "warnings"),
    "nested to the depths": ("[" * 100000, DATA, "nested"),
    "sweep: header alone": (synth.sweep([], complete=False), DATA, "no points"),
    "sweep: header and end": (synth.sweep([]), DATA, "no points"),
    "sweep: bad line inside": (SWEEP.replace('\n{"mode"', '\n{"mode', 1), DATA, "line 2"),
    "sweep: line is a number": (SWEEP + "17\n", DATA, "object"),
    "sweep: other machine inside": (SWEEP + json.dumps(synth.header("sweep", machine={"hostname": "other"})) + "\n", DATA, "another machine"),
    "sweep: result header inside": (SWEEP + json.dumps(synth.header("result")) + "\n", DATA, "header inside"),
    "sweep: indented": (json.dumps({**synth.header("sweep"), "points": []}, indent=1), DATA, "line"),
    "timeline: empty": (json.dumps(synth.header("timeline")) + "\n", DATA, "no states"),
    "timeline: unknown state": (json.dumps(synth.header("timeline")) + '\n{"t":1,"ep":"1","ledger":"tx","state":"lunch"}\n', DATA, "lunch"),
    "timeline: rx state in tx": (json.dumps(synth.header("timeline")) + '\n{"t":1,"ep":"1","ledger":"tx","state":"unread"}\n', DATA, "unread"),
    "timeline: no time": (json.dumps(synth.header("timeline")) + '\n{"ep":"1","ledger":"tx","state":"idle"}\n', DATA, "time"),
    "timeline: backwards": (json.dumps(synth.header("timeline")) + '\n{"t":9,"ep":"1","ledger":"tx","state":"idle"}\n{"t":1,"ep":"1","ledger":"tx","state":"work"}\n', DATA, "backwards"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_file_is_one_line_and_a_code(name, save, run, tmp_path):
    content, code, word = BAD[name]
    path = save(content)
    for argv in (["summary", path], ["report", path, "-o", str(tmp_path / "r.html")]):
        got, out, err = run(*argv)
        assert got == code, err
        assert err.startswith("analysis: ") and err.count("\n") == 1 and word in err, err
        assert "; " in err, "the line must say what to do next"
        assert out == ""
    assert os.listdir(tmp_path) == ["data.json"], "a refused file must leave nothing behind"


def test_missing_file_directory_and_permission(run, save, tmp_path):
    assert run("summary", str(tmp_path / "none.json"))[0] == DATA
    assert run("summary", str(tmp_path))[0] == DATA
    assert run("summary", "a\0b")[0] != 0
    if os.geteuid() != 0:
        path = save(SWEEP)
        os.chmod(path, 0)
        assert run("summary", path)[0] == NO_PERM


def test_every_truncation_is_refused_or_marked(save):
    """Cut a sweep anywhere: it loads with the points whose lines are whole, and says so, or is refused; never anything else."""
    lines = SWEEP.splitlines(keepends=True)
    for cut in range(1, len(SWEEP), 97):
        path = save(SWEEP[:cut])
        whole = sum(1 for i in range(1, len(lines) - 1) if len("".join(lines[: i + 1]).rstrip("\n")) <= cut)
        try:
            doc = load(path)
        except AnalysisError as e:
            assert whole == 0, f"cut at {cut}: {e}"
            continue
        assert isinstance(doc, Document) and len(doc.points) == whole
        assert doc.remarks or cut >= len(SWEEP) - 1


def test_truncated_result_is_refused_everywhere(save):
    text = synth.result([POINT])
    for cut in range(1, len(text) - 1, 61):
        with pytest.raises(AnalysisError):
            load(save(text[:cut]))


def test_any_flipped_byte_never_escapes_as_another_exception(save):
    raw = bytearray(SWEEP.encode())
    for i in range(0, len(raw), 41):
        broken = bytes(raw[:i]) + bytes([raw[i] ^ 0x15]) + bytes(raw[i + 1:])
        try:
            load(save(broken))
        except AnalysisError as e:
            assert "\n" not in str(e)


def test_remarks(save):
    doc = load(save(synth.sweep(synth.comb(sizes=(1453,), repeats=1), complete=False)))
    assert any("interrupted" in r for r in doc.remarks)
    text = SWEEP.replace('"points": 8', '"points": 9')
    assert any("counts 9" in r for r in load(save(text)).remarks)
    text = SWEEP.replace('"complete": true', '"complete": false')
    assert any("stopped" in r for r in load(save(text)).remarks)
    assert load(save(SWEEP)).remarks == []


def test_what_was_cut_short_says_so(save, run, tmp_path):
    trace = json.loads(synth.trace())
    for replayed, words in (({"complete": False, "cut": True}, "cut off"), ({"complete": False, "cut": False}, "end cleanly"), ({"complete": True, "damaged_blocks": 3}, "3 damaged")):
        assert [words in r for r in load(save(json.dumps({**trace, "replayed": replayed}))).remarks] == [True]
    assert load(save(json.dumps({**trace, "replayed": {"complete": True, "cut": False, "damaged_blocks": 0}}))).remarks == []
    assert load(save(synth.timeline().replace('"complete": true', '"complete": false'))).remarks == ["interrupted: the recording did not end in good order"]
    path = save(synth.result([POINT], complete=False, warnings=["the run did not finish"]))
    assert run("figure", "throughput", path, "-o", str(tmp_path / "o.svg"))[2] == "analysis: data.json: the run did not finish\n"


def test_resumed_sweep_is_one_sweep(save):
    part = synth.sweep(synth.comb(sizes=(1453,), repeats=1), complete=False)
    doc = load(save(part + SWEEP.replace('"points": 8', '"points": 10')))
    assert len(doc.points) == 2 + 8 and doc.remarks == []


def test_mixed_machines_refused_then_marked(save):
    a = save(SWEEP, "a.ndjson")
    b = save(SWEEP.replace("bench1", "bench2"), "b.ndjson")
    with pytest.raises(AnalysisError, match="different machines"):
        load_documents([a, b])
    docs = load_documents([a, b], mixed=True)
    assert all(any("different machines" in r for r in d.remarks) for d in docs)
    assert load_documents([a, a])[0].remarks == []


def two_files(save, first, second, sizes=(1453, 3500, 5000, 6500, 8000, 9500)):
    points = synth.comb(sizes=sizes, repeats=1)
    paths = []
    for nodelay, options in ((0, first), (1, second)):
        chosen = [{**p, "vars": {}} for p in points if p["vars"]["nodelay"] == nodelay]
        paths.append(save(synth.result(chosen, options=options), f"run{nodelay}.json"))
    return load_documents(paths)


def test_options_that_differ_between_files_are_variables(save):
    docs = two_files(save, {"nodelay": False, "json": "a"}, {"nodelay": True, "json": "b"})
    pairs = pair_up(group([p for d in docs for p in d.points]))
    assert [(p.label, p.fix, p.fixed.label) for p in pairs] == [("nodelay=0", "nodelay=1", "nodelay=1")]


def test_what_one_file_varies_the_other_has_as_its_option(save):
    points = synth.comb(sizes=(1453, 3500), repeats=1)
    paths = [save(synth.sweep(points, options={"nodelay": False}), "sweep.ndjson"),
             save(synth.result([{**p, "vars": {}} for p in points if not p["vars"]["nodelay"]], options={"nodelay": False}), "run.json")]
    found = [p for d in load_documents(paths) for p in d.points]
    assert {p.value("nodelay") for p in found if p.source == paths[1]} == {False}
    assert all(plain(p.value("nodelay")) in ("0", "1") for p in found)


@pytest.mark.parametrize("fix", ["rto=200000000", "rto=200ms", "rto=200 ms", "RTO=1ms"])
def test_a_fix_is_named_as_the_file_has_it_or_as_it_is_shown(fix, save):
    points = [{**p, "vars": {"size": p["size"], "rto": (20_000_000, 200_000_000)[p["vars"]["nodelay"]]}} for p in synth.comb(sizes=(1453, 3500), repeats=1)]
    series = group(load(save(synth.sweep(points))).points)
    if fix.startswith("RTO"):
        with pytest.raises(AnalysisError, match="no curve has it"):
            pair_up(series, parse_fix(fix))
        return
    assert [(p.label, p.fix, p.fixed.label) for p in pair_up(series, parse_fix(fix))] == [("rto=20 ms", "rto=200 ms", "rto=200 ms")]


def test_of_two_files_alike_the_second_is_the_fix(save):
    docs = two_files(save, {}, {})
    pairs = pair_up(group([p for d in docs for p in d.points]))
    assert [(p.label, p.fix) for p in pairs] == [("run0", "run1")] and pairs[0].fixed is not None


def test_files_of_two_transports_are_two_curves(save):
    paths = [save(synth.result(synth.transports((m,), n=50)), f"{m}.json") for m in ("tcp", "udp")]
    series = group([p for d in load_documents(paths) for p in d.points])
    assert [s.label for s in series] == ["tcp", "udp"] and all(p.fixed is None for p in pair_up(series))


def test_values_arrive(save):
    doc = load(save(synth.result(synth.transports(("tcp",), (64,), n=100))))
    p = next(p for p in doc.points if p.test == "latency")
    assert p.size == 64 and p.histogram.total == 100 and p.ledger is None and p.stall_per_message_ns is None
    p = load(save(synth.result([POINT]))).points[0]
    assert p.ledger.endpoints[0].tx.states["nagle"].ns == 0
    assert p.stall_per_message_ns == 0.0, "an observed zero is not unknown"
    assert isinstance(load(save(synth.timeline())), Timeline)


def test_units_are_scaled(save):
    p = load(save(lat(unit="us"))).points[0]
    assert p.latency.median == 3000.0


UNRATED = {"comb": (synth.comb(sizes=synth.comb_sizes(12)), 5000), "transports": (synth.transports(("tcp", "udp"), sizes=(16, 1024, 65536), n=50), 2000),
           "pipes": (synth.pipes(), 1000)}


@pytest.mark.parametrize("every", [True, False], ids=["all", "some"])
@pytest.mark.parametrize("name", thorough_but(["transports"], list(UNRATED)))
def test_a_run_too_short_for_a_rate_is_unknown_everywhere(name, every, save, run, tmp_path):
    points, below = UNRATED[name]
    points = synth.unrated(points, float("inf") if every else below)
    path, out = save(synth.sweep(points)), str(tmp_path / "out")
    short = sum(p["throughput"] == synth.NO_RATE for p in points)
    code, text, _ = run("summary", path)
    assert code == 0 and f"{short} of {len(points)} points were over too soon" in text and "nan" not in text
    assert ("GB/s" in text or "MB/s" in text) is not every
    code, _, err = run("report", path, "-o", out + ".html")
    assert code == 0, err
    assert f"{short} of {len(points)} points were over too soon" in open(out + ".html", encoding="utf-8").read()
    for kind in ("throughput", "stall", "ledger", "box", "cdf", "rank", "heatmap", "curve"):
        argv = ("figure", kind, path, "-o", out + ".svg", *(("--y", "throughput") if kind == "curve" else ()))
        code, _, err = run(*argv)
        assert code == 0 if kind == "throughput" and not every else code in (0, 2) and err.count("\n") <= 1, (kind, err)


def test_the_point_of_a_short_run_has_no_rate_and_draws_none(save):
    document = load(save(synth.sweep(synth.unrated(synth.comb(sizes=synth.comb_sizes(12)), 5000))))
    points = document.points
    small = [p for p in points if p.size < 5000]
    assert small and all(p.bytes_per_s is None and p.ns_per_message for p in small)
    rates = [len(s.curve(lambda p: p.bytes_per_s)[0]) for s in group(points)]
    assert rates == [len({p.size for p in points if p.size >= 5000})] * 2
    sizes = {x for _, e in find([document]).explained for x in e.size}
    assert sizes and min(sizes) >= 5000


def test_three_figures_are_three():
    assert [time_text(v) for v in (999.4, 999.6, 99_960, 999_960, 1e6 - 1, 1e9 - 10, 0.9996, 0.5)] == ["999 ns", "1 µs", "100 µs", "1 ms", "1 ms", "1 s", "1 ns", "0.5 ns"]


def test_a_share_of_nothing_has_no_sign():
    assert [percent_text(v) for v in (-0.0003, 0.0, 0.0003, -0.02, 1.0, None)] == ["0 %", "0 %", "< 0.1 %", "-2.0 %", "100 %", "–"]
