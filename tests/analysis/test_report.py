# SPDX-License-Identifier: GPL-2.0-only
"""The report: one file, no network, verdict first, what was asked for in it; and exports, summary, usage."""

import base64
import gzip
import hashlib
import json
import re
import resource
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
import synth
from conftest import ROOT, thorough_but

from analysis.findings import find, timeline_findings
from analysis.load import load, load_timeline


class Page(HTMLParser):
    VOID = {"meta", "br", "hr", "img", "link", "input"}

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.tags = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for k, v in attrs:
            if k == "id":
                self.ids.append(v)
            if k in ("href", "src", "xlink:href", "action"):
                self.links.append(v)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open[-3:])
        self.open.pop()


@pytest.fixture
def report(corpus, run, tmp_path):
    def _report(*names, more=()):
        out = tmp_path / "report.html"
        code, _, err = run("report", *[corpus[n] for n in names], "-o", str(out), *more)
        assert code == 0, err
        return out.read_text()

    return _report


@pytest.mark.parametrize("names", thorough_but(
    ["transports", "trace", "comb line line-long"], ["comb", "comb-bare", "transports", "pipes", "line", "comb line line-long", "one-size", "trace"]))
def test_report_is_one_valid_offline_page(names, report):
    text = report(*names.split())
    page = Page(text)
    assert page.open == [] and len(page.ids) == len(set(page.ids))
    # The only link out of the page is to the data beside it; SVG's own names are no addresses.
    for link in page.links:
        assert link.startswith(("#", "data:")) or not re.match(r"[a-z]+:|//", link), link
    assert not {"iframe", "link", "img"} & set(page.tags)
    assert_inert(text)
    refs = set(re.findall(r'url\(#([^)]+)\)', text)) | {x[1:] for x in page.links if x.startswith("#")}
    assert refs <= set(page.ids)
    assert text.index('id="verdict"') < text.index("<svg") < text.index('id="method"') < text.index('id="machine"') < text.index('id="data"')


def assert_inert(text):
    """Two script elements: the data, which nothing ends before its time, and the program, which alone may run."""
    found = re.findall(r"<script([^>]*)>(.*?)</script>", text, flags=re.S)
    assert [a.strip() for a, _ in found] == ['type="application/json" id="views"', ""] and not re.search("[<>&]", found[0][1])
    json.loads(found[0][1])
    digest = base64.b64encode(hashlib.sha256(found[1][1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'\"" in text and "default-src 'none'" in text


def views(text):
    return json.loads(re.search(r'id="views">(.*?)</script>', text, flags=re.S).group(1))["sets"]


@pytest.mark.thorough
def test_files_that_do_not_belong_together_get_sections_of_their_own(corpus, run, tmp_path):
    out = tmp_path / "r.html"
    code, _, err = run("report", corpus["one-size"], corpus["comb"], corpus["trace"], corpus["line"], "-o", str(out))
    assert code == 0, err
    text = out.read_text()
    comb, transports, session = views(text)
    assert len(comb[0]["x"]) == 40 and comb[0]["dips"] and [c["label"] for c in comb[0]["curves"]] == ["nodelay=0", "nodelay=1"]
    assert all(len(v["x"]) == 1 for v in transports)
    assert [v["kind"] for v in session] == ["ledgers", "timeline"]  # the time line of the session joins its trace
    assert "times as fast" in re.search("<h1>(.*?)</h1>", text).group(1)


def test_a_point_is_opened_at_the_deepest_dip_with_its_ledger(report):
    view = views(report("comb"))[0][0]
    assert view["x"][view["picked"]] in view["dipped"]
    base, fixed = view["points"][view["picked"]]
    states = {row[0]: row[1] for row in base["ends"][0]["sides"][0]["states"]}
    assert states["nagle"] > 0.5 * base["ends"][0]["sides"][0]["life"] and "nagle" not in {r[0] for r in fixed["ends"][0]["sides"][0]["states"] if r[1]}


def test_the_command_that_was_typed_is_shown_quoted(save, run, tmp_path):
    out = tmp_path / "r.html"
    text = synth.sweep(synth.comb(sizes=(1453, 3500), repeats=1), invocation=["ipcstall", "sweep", "--vary", "size=1453:3500:+1", "a b"])
    assert run("report", save(text), "-o", str(out))[0] == 0
    assert "<code>sudo ipcstall sweep --vary size=1453:3500:+1 &#39;a b&#39;</code>" in out.read_text()


def test_report_says_what_the_data_says(report):
    text = report("comb")
    assert "19 of 40 sizes are in a dip" in text and "nagle" in text and "nodelay=1" in text
    assert "Example CPU 3.0 GHz" in text and "trailer=4" in text
    for figure in ("NIST Figs 1, 2", "NIST Fig. 3", "stacked by size"):
        assert figure in text


@pytest.mark.thorough
def test_report_is_reproducible(report):
    assert report("comb", "line") == report("comb", "line")


@pytest.mark.thorough
def test_the_fix_may_be_an_option_in_which_files_differ(save, run, tmp_path):
    out, paths = tmp_path / "r.html", []
    for nodelay in (0, 1):
        points = [{**p, "vars": {}} for p in synth.comb(repeats=1, nodelays=(nodelay,))]
        paths.append(save(synth.result(points, options={"nodelay": bool(nodelay)}), f"run{nodelay}.json"))
    code, _, err = run("report", *paths, "--fix", "nodelay=1", "-o", str(out))
    assert code == 0, err
    assert "nodelay=1 makes those sizes" in out.read_text() and "run0" not in out.read_text().split('class="set"')[0]


def test_data_inside_the_page_is_the_data(report, corpus):
    packed = re.search(r"data:application/gzip;base64,([^\"]+)", report("comb")).group(1)
    assert gzip.decompress(base64.b64decode(packed)) == open(corpus["comb"], "rb").read()


def test_hostile_text_stays_text(save, run, tmp_path):
    points = synth.comb(sizes=(1453, 3500, 5000), repeats=1)
    for p in points:
        p["warnings"] = ["<script>alert(1)</script>"]
        p["ledger"]["verdict"] = "<img src=http://x/>"
        p["mode"] = "$\\frac{1}{$ <b>tcp</b>"
    path = save(synth.sweep(points, machine={"hostname": "<b>h</b>"}))
    out = tmp_path / "r.html"
    code, _, err = run("report", path, "-o", str(out))
    assert code == 0, err
    assert "img" not in Page(out.read_text()).tags and "<script>alert" not in out.read_text() and "<b>tcp" not in out.read_text()
    assert_inert(out.read_text())


def test_times_among_the_options_have_units(save, run, tmp_path):
    out = tmp_path / "r.html"
    options = {"duration": 5_000_000, "timeout": 20_000_000_000, "rto": None, "warmup": 40}
    assert run("report", save(synth.result(synth.comb(sizes=(1453,), repeats=1), options=options)), "-o", str(out))[0] == 0
    cells = re.findall(r"<t[dh][^>]*>([^<]*)</t[dh]>", out.read_text())
    assert [cells[cells.index(k) + 1] for k in options] == ["5 ms", "20 s", "unknown", "40"]


CONTROLS = "\x1b]0;x\x07\n\u009b31m\u202e\u2028\ud800"


def rough(points):
    """The points with control characters in every text and name that is shown."""
    for p in points:
        p.update(mode="tcp" + CONTROLS, placement=CONTROLS, warnings=["warned" + CONTROLS], vars={**p["vars"], "cc" + CONTROLS: "reno" + CONTROLS * p["repeat"]})
        p["ledger"]["verdict"] = "nagle" + CONTROLS
        p["ledger"]["endpoints"][0].update(comm="x" + CONTROLS, remote=CONTROLS)
        p["ledger"]["endpoints"][0]["tx"]["states"]["new" + CONTROLS] = {"ns": 10**9, "count": 1, "max_ns": 10**9}
    return points


def shown(text):
    return all(c == "\n" or c.isprintable() for c in text)


@pytest.mark.parametrize("kind", thorough_but(["sweep"], ["sweep", "result"]))
def test_control_characters_do_not_reach_the_terminal(kind, save, run, tmp_path):
    head = {"machine": {"hostname": "h" + CONTROLS}, "started": CONTROLS, "warnings": ["as a whole" + CONTROLS]}
    sizes = (1453, 3500, 5000, 6500, 8000, 9500)
    text = getattr(synth, kind)(rough(synth.comb(sizes, repeats=2)), **head)
    path = save(text, "data\x1b[1m\udcff.json")
    out = tmp_path / "out"
    for argv in (("summary", path), ("figure", "ledger", path, "-o", f"{out}.svg"),
                 ("report", path, "-o", f"{out}.html"), ("summary", path, "--fix", "a\x1b=1")):
        code, said, err = run(*argv)
        assert code == (2 if "--fix" in argv else 0) and shown(said + err), (argv, said, err)
        assert argv[0] != "summary" or "h?]0;x???31m???" in said or "--fix" in argv
    for ending in ("svg", "html"):
        drawn = (tmp_path / f"out.{ending}").read_text()
        hidden = r"<style.*?</style>|<script>.*?</script>|\u00a0"
        assert shown(re.sub(hidden, "", drawn, flags=re.S))
    assert "data%1B%5B1m%FF.json" in Page((tmp_path / "out.html").read_text()).links


def test_control_characters_break_no_export(save, run):
    stall = {"serial": 1, "state": "nagle", "ns": 43_000_000, "pid": 7, "comm": "x\n9 9", "user_stack": ["main\n1 2"], "kernel_stack": []}
    code, out, _ = run("export", "folded", save(json.dumps({**json.loads(synth.trace()), "stalls": [stall]})), "-o", "-")
    assert code == 0 and out == "x?9_9[7];main?1_2;stall:nagle 43000\n"
    line = save(synth.timeline().replace('"ipcstall", "pid": 100', '"ipc\\nstall\\u001b\\ud800", "pid": 100'))
    code, out, _ = run("export", "folded", line, "-o", "-")
    assert code == 0 and out.startswith("client_ipc?stall??_(100);tx;") and out.count("\n") == 1
    code, out, _ = run("export", "chrome", line, "-o", "-")
    assert code == 0 and "client ipc?stall?? (100)" in {e["args"].get("name") for e in json.loads(out)["traceEvents"] if "args" in e}


def test_what_is_clean_is_left_as_it_is():
    from analysis.decode import parse
    from analysis.text import clean, clean_lines

    text = "µs ← ‘é’ 漢字 \U0001f600 ‐ ‧ ⁥\u2064"
    assert clean(text) == text and parse(json.dumps({"a\n": [text, "\t", 3, None]}).encode(), "x") == {"a?": [text, "?", 3, None]}
    assert clean_lines("a\tb\nc\r\n") == "a?b\nc?\n"


def test_caveats_are_shown(save, run, tmp_path):
    points = synth.comb(sizes=(1453, 3500, 5000), repeats=1)
    points[0]["warnings"] = ["host steal 12 %"]
    points[1]["ledger"]["unaccounted_ns"] = 5
    path = save(synth.sweep(points, complete=False))
    code, out, _ = run("summary", path)
    assert code == 0
    for words in ("host steal 12 %", "interrupted", "does not add up"):
        assert words in out


def test_summary_of_healthy_data_claims_no_dip(save):
    points = [p for p in synth.comb(nodelays=(1,))]
    verdict = " ".join(find([load(save(synth.sweep(points)))]).verdict)
    assert "No dips" in verdict and "in a dip" not in verdict


def test_unobserved_stall_is_not_blamed(save):
    points = [{**p, "ledger": None} for p in synth.comb()]
    verdict = " ".join(find([load(save(synth.sweep(points)))]).verdict)
    assert "in a dip" in verdict and "not observed" in verdict and "explains" not in verdict


def test_a_fix_that_cannot_be_judged_is_told(save):
    points = [p for p in synth.comb(sizes=(1453, 3500, 5000, 6500), repeats=1) if (p["vars"]["nodelay"] == 0) == (p["size"] < 4000)]
    assert "nodelay=0: no size was measured both without and with nodelay=1." in find([load(save(synth.sweep(points)))]).verdict
    points = [{**p, "mode": "udp" if p["vars"]["nodelay"] else "tcp"} for p in synth.comb(sizes=(1453, 3500), repeats=1)]
    alone = "No curve differs from another in nodelay alone: what nodelay=1 does cannot be told."
    assert alone in find([load(save(synth.sweep(points)))], "nodelay=1").verdict and alone not in find([load(save(synth.sweep(points)))]).verdict


def test_the_ledger_shown_is_of_the_point_that_stalled_most(save):
    from analysis.tables import ledger_table

    points = synth.comb(sizes=(1453, 3500), repeats=1)
    for p in points:
        p["ledger"].update(stall_ns=None, stall_per_message_ns=None, normalised_stall=None)
    assert "stalled most (size=3500, nodelay=0)" in ledger_table([load(save(synth.sweep(points)))]).title
    calm = [p for p in points if p["vars"]["nodelay"]]
    assert ledger_table([load(save(synth.sweep(calm)))]).title.startswith("Ledger of a point; none stalled (size=")
    for end in (e for p in calm for e in p["ledger"]["endpoints"]):
        end.update(tx=synth.side(0), rx=None)
    assert ledger_table([load(save(synth.sweep(calm)))]) is None


def test_blame_is_named(save):
    points = synth.comb()
    for p in points:
        first = p["ledger"]["endpoints"][0]
        first["blame"] = [{"ledger": "tx", "state": "nagle", "by": "peer delayed ACK", "ns": 0.97 * first["tx"]["states"]["nagle"]["ns"], "count": 9}]
    verdict = " ".join(find([load(save(synth.sweep(points)))]).verdict)
    assert "nagle ← peer delayed ACK (97.0 % of it)" in verdict


def test_trace_of_a_command(save, run):
    code, out, _ = run("summary", save(synth.trace()))
    assert code == 0 and "nagle ← peer delayed ACK" in out and "client ipcstall (100)" in out and "Beware" not in out
    assert "7 events were lost" in run("summary", save(synth.trace(lost=7)))[1]
    empty = json.dumps(synth.header("trace", ledger={"endpoints": []}))
    assert run("summary", save(empty))[0] == 9


def test_timeline_totals(corpus):
    line = load_timeline(corpus["line"])
    assert "nagle 160 ms in 4 stalls" in timeline_findings(line)[0]
    assert sum(s.end - s.start for s in line.spans if s.ep == "1" and s.ledger == "tx") == pytest.approx(line.end - line.start)


def test_chrome_export(corpus, run, tmp_path):
    out = tmp_path / "t.json"
    assert run("export", "chrome", corpus["line"], "-o", str(out))[0] == 0
    events = json.loads(out.read_text())["traceEvents"]
    stalls = [e for e in events if e.get("cat") == "stall"]
    assert len(stalls) == 4 and sum(e["dur"] for e in stalls) == pytest.approx(160e3)
    assert {e["ph"] for e in events} == {"M", "X", "i"}
    assert all(e["ts"] >= 0 and e["dur"] > 0 for e in events if e["ph"] == "X")


def test_folded_export(corpus, run):
    code, out, _ = run("export", "folded", corpus["line"], "-o", "-")
    stack, us = out.strip().rsplit(" ", 1)
    assert code == 0 and int(us) == 160000
    assert stack.split(";") == ["client_ipcstall_(100)", "tx", "nagle", "server_ipcstall_(101)", "rx", "wait"]


USAGE = [
    (), ("figure",), ("figure", "pie", "x", "-o", "y.svg"), ("figure", "throughput", "-o", "y.svg"), ("figure", "throughput", "F"),
    ("figure", "throughput", "F", "-o", "y.pdf"), ("figure", "throughput", "F", "-o", "y"), ("figure", "throughput", "F", "-o", "y.svg", "--dpi", "-3"),
    ("figure", "throughput", "F", "-o", "y.svg", "--dpi", "big"), ("figure", "throughput", "F", "-o", "y.svg", "--fix", "nodelay"),
    ("figure", "throughput", "F", "-o", "y.svg", "--fix", "moon=full"), ("figure", "timeline", "F", "-o", "y.svg"),
    ("figure", "timeline", "L", "L", "-o", "y.svg"), ("figure", "throughput", "L", "-o", "y.svg"), ("figure", "timeline", "L", "-o", "y.svg", "--from", "-1"),
    ("figure", "heatmap", "F", "-o", "y.svg", "--x", "moon"), ("report",), ("export", "dot", "L", "-o", "-"), ("export", "chrome", "F", "-o", "-"), ("nonsense",),
]


@pytest.mark.parametrize("argv", USAGE, ids=lambda a: " ".join(a) or "nothing")
def test_bad_usage(argv, run, corpus, tmp_path, monkeypatch):
    files = {"F": corpus["comb"], "L": corpus["line"]}
    monkeypatch.chdir(tmp_path)
    code, _, err = run(*[files.get(a, a) for a in argv])
    assert code == 2 and err.startswith("analysis: ") and err.count("\n") == 1, err
    assert list(tmp_path.iterdir()) == []


def test_unwritable_output(run, corpus):
    code, _, err = run("figure", "throughput", corpus["comb-tiny"], "-o", "/nonexistent/x.svg")
    assert code == 6 and err.count("\n") == 1
    code, _, err = run("figure", "throughput", corpus["comb-tiny"], "-o", "/proc/x.svg")
    assert code == 6


def test_full_disk_leaves_no_half_file(run, corpus):
    code, _, err = run("report", corpus["comb-tiny"], "-o", "/dev/full/x.html")
    assert code == 6 and "x.html" in err


@pytest.mark.thorough
def test_big_sweep_is_quick(save, tmp_path):
    """100 points of 100,000 samples each, in buckets as fine as the tool's: the whole program loads and reports them in under 10 s. Its CPU
    time counts: that is the wall clock's of a quiet machine."""
    rng = np.random.default_rng(4)
    points = []
    for size in np.unique(np.geomspace(16, 1 << 20, 50).astype(int)):
        for nodelay in (0, 1):
            values = (5800 + 0.2 * size) * (1 + rng.gamma(2, 0.2, 100_000))
            values[::97] *= rng.uniform(2, 2000, len(values[::97]))  # tails of milliseconds
            p = synth.latency_point("tcp", int(size), values, nodelay=nodelay)
            fine = {"unit": "ns", "relative_error": 1 / 256, "buckets": synth.buckets(values, 256)}
            points.append({**p, "histogram": fine, "throughput": {"bytes_per_s": float(size / values.mean() * 1e9)}, "ledger": synth.ledger(1e9, 100, 1e6)})
    path = save(synth.sweep(points))
    assert sum(n for p in points for _, _, n in p["histogram"]["buckets"]) == 10_000_000
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "analysis", "report", path, "-o", str(tmp_path / "big.html")], check=True, cwd=ROOT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime) < 10


def test_folded_stacks_of_a_trace(run, save):
    frames = {"user_stack": ["write+0x10 (libc.so.6)", "main+0x20 (app; beta)"], "kernel_stack": ["tcp_sendmsg+0x161 [k]", "entry+0x76 [k]"]}
    stall = {"serial": 1, "state": "nagle", "ns": 43_000_000, "pid": 7, "comm": "client x", "blamed": "peer delayed ACK", "peer_pid": 8,
             "peer_comm": "server", "peer_user_stack": ["__read+0xd (libc.so.6)"], **frames}
    alone = {**stall, "state": "cwnd", "blamed": None, "peer_pid": None, "user_stack": None, "kernel_stack": None, "ns": 2_000_000}
    found = {**json.loads(synth.trace()), "stalls": [stall, alone, stall]}
    code, out, err = run("export", "folded", save(json.dumps(found)), "-o", "-")
    assert code == 0, err
    assert out.splitlines() == ["client_x[7];main;write;k:entry;k:tcp_sendmsg;stall:nagle;by:server[8];delayed_ACK;__read 86000", "client_x[7];stall:cwnd 2000"]
    for bad in ({}, {"stalls": [3]}, {"stalls": [{**stall, "ns": "long"}]}):
        code, out, err = run("export", "folded", save(json.dumps({**found, "stalls": None, **bad})), "-o", "-")
        assert code in (2, 9) and out == "" and err.count("\n") == 1


def test_the_reader_of_a_pipe_is_named_at_its_own_ledger(save):
    from analysis.load import load_timeline
    from analysis.report.view import time_line

    head = json.loads(synth.timeline().splitlines()[0])
    head["endpoints"] = [{"ep": "1", "role": "pipe 34", "comm": "tar", "pid": 12, "reader_comm": "gzip", "reader_pid": 13}]
    rows = [{"t": 1, "ep": "1", "ledger": "tx", "state": "sndbuf"}, {"t": 2, "ep": "1", "ledger": "rx", "state": "unread"},
            {"t": 9, "ep": "1", "ledger": "tx", "state": None}, {"t": 9, "ep": "1", "ledger": "rx", "state": None}]
    text = "\n".join(json.dumps(row) for row in [head, *rows, {"end": {"complete": True}}])
    lanes = {lane["word"]: lane["name"] for lane in time_line(load_timeline(save(text)))["lanes"]}
    assert lanes == {"writes": "pipe 34 tar (12)", "reads": "pipe 34 gzip (13)"}


def test_a_row_stays_on_its_line_where_no_width_is_stated(save, run, monkeypatch):
    path, row = save(synth.sweep(synth.comb(sizes=(1453, 3500, 5000)))), r"nodelay=0 +1453 +3 .* [0-9.]+ [kMG]?B/s"
    monkeypatch.delenv("COLUMNS", raising=False)
    assert re.search(row, run("summary", path)[1])
    monkeypatch.setenv("COLUMNS", "40")
    out = run("summary", path)[1]
    assert not re.search(row, out) and max(map(len, out.splitlines())) <= 40
