# SPDX-License-Identifier: GPL-2.0-only
"""Every kind of figure on several data sets: no text on other text or off the page, the data drawn as it is, equal bytes."""

import os
import re
import subprocess
import sys
from itertools import product

import numpy as np
import pytest
import synth

from analysis.errors import AnalysisError
from analysis.figures import KINDS
from analysis.figures.render import to_bytes
from analysis.figures.timeline import rectangles, shares
from analysis.model import Span
from conftest import ROOT, thorough_but
from layout import off_page, overlaps, text_boxes

CASES = [
    ("throughput", "comb"), ("throughput", "comb-bare"), ("throughput", "comb-dense"), ("throughput", "comb-tiny"), ("throughput", "comb-cut"),
    ("throughput", "two-ccs"), ("throughput", "transports"), ("throughput", "long-names"), ("throughput", "pipes"),
    ("stall", "comb"), ("stall", "comb-bare"), ("stall", "comb-dense"), ("stall", "comb-tiny"), ("stall", "two-ccs"),
    ("ledger", "comb"), ("ledger", "comb-bare"), ("ledger", "comb-dense"), ("ledger", "comb-tiny"), ("ledger", "comb-cut"), ("ledger", "two-ccs"), ("ledger", "trace"),
    ("box", "transports"), ("box", "one-size"), ("box", "long-names"),
    ("cdf", "transports"), ("cdf", "one-size"), ("cdf", "long-names"),
    ("rank", "transports"), ("rank", "one-size"), ("rank", "long-names"), ("rank", "comb"),
    ("curve", "transports"), ("curve", "long-names"),
    ("heatmap", "pipes"), ("heatmap", "comb"),
    ("timeline", "line"), ("timeline", "line-long"), ("timeline", "line-cut"), ("timeline", "line-smooth"),
    ("waterfall", "way"), ("waterfall", "way-dgram"), ("waterfall", "way-slow"),
    ("flame", "stalls"), ("flame", "stalls-deep"),
    ("series", "line"), ("series", "line-long"), ("series", "line-smooth"),
]


FIRST_OF_EACH = list({kind: (kind, name) for kind, name in reversed(CASES)}.values())


@pytest.mark.parametrize("kind,name", thorough_but(FIRST_OF_EACH, CASES))
def test_text_does_not_overlap_or_leave_the_page(kind, name, draw):
    figure = draw(kind, name)
    boxes = text_boxes(figure)
    assert len(boxes) > 3
    assert overlaps(boxes) == []
    assert off_page(boxes, figure.bbox) == []


@pytest.mark.parametrize("kind,cut,whole", [("throughput", "comb-cut", "comb-tiny"), ("ledger", "comb-cut", "comb-tiny"), ("timeline", "line-cut", "line")])
def test_a_picture_says_that_its_file_was_cut_short(kind, cut, whole, draw):
    said = [any("interrupted" in text for text, *_ in text_boxes(draw(kind, name))) for name in (cut, whole)]
    assert said == [True, False]


def test_the_overlap_test_can_fail():
    from matplotlib import pyplot as plt

    figure, ax = plt.subplots()
    ax.text(0.5, 0.5, "one text")
    ax.text(0.52, 0.5, "another")
    ax.text(2.5, 0.5, "far away")
    boxes = text_boxes(figure)
    assert ("one text", "another") in overlaps(boxes) and "far away" in off_page(boxes, figure.bbox)


SAME_BYTES_CORE = [("svg", "throughput"), ("svg", "timeline"), ("png", "ledger")]


@pytest.mark.parametrize("form,kind",
                         thorough_but(SAME_BYTES_CORE, list(product(("svg", "png"), KINDS))))
def test_same_data_same_bytes(form, kind, draw):
    name = next(n for k, n in CASES if k == kind)
    first, second = (to_bytes(draw(kind, name), form) for _ in range(2))
    assert first == second


@pytest.mark.thorough
def test_same_bytes_in_another_process_with_another_configuration(corpus, tmp_path):
    (tmp_path / "matplotlibrc").write_text("font.size: 22\naxes.facecolor: red\nsvg.hashsalt: other\n")
    outs = []
    for i, env in enumerate(({}, {"MATPLOTLIBRC": str(tmp_path), "PYTHONHASHSEED": "77", "TZ": "Asia/Tokyo", "LC_ALL": "C"})):
        out = tmp_path / f"{i}.svg"
        subprocess.run([sys.executable, "-m", "analysis", "figure", "stall", corpus["comb"], "-o", str(out)], check=True, cwd=ROOT, env={**os.environ, **env})
        outs.append(out.read_bytes())
    assert outs[0] == outs[1]
    assert not re.search(rb"<dc:date>|20\d\d-\d\d-\d\dT", outs[0])


def test_throughput_draws_the_rates(draw):
    ax = draw("throughput", "comb").axes[0]
    lines = {line.get_label(): line for line in ax.get_lines()}
    x, y = lines["nodelay=1"].get_data()
    assert list(x) == synth.comb_sizes() and ax.get_ylabel() == "throughput (MB/s)"
    assert y[-1] == pytest.approx(11.8, rel=0.1)
    _, y = lines["nodelay=0"].get_data()
    stalled = np.asarray([synth.comb_stalls(s) for s in synth.comb_sizes()])
    assert y[stalled].max() < 0.3 * y[~stalled].max()


def test_dips_are_marked_where_the_rule_puts_them(draw):
    ax = draw("throughput", "comb").axes[0]
    spans = sorted((p.get_xy()[:, 0].min(), p.get_xy()[:, 0].max()) for p in ax.patches)
    assert len(spans) == 7
    for size in synth.comb_sizes():
        assert any(lo <= size <= hi for lo, hi in spans) == synth.comb_stalls(size), size


def test_stall_figure_states_r_and_share(draw):
    texts = " ".join(t for t, _ in text_boxes(draw("stall", "comb")))
    assert re.search(r"r = (1\.000|0\.99\d)", texts) and "of the dips" in texts and "95 %" in texts


def test_ledger_bars_fill_the_time(draw):
    ax = draw("ledger", "comb").axes[0]
    tops = {}
    for bar in ax.patches:
        tops[round(bar.get_x(), 3)] = max(tops.get(round(bar.get_x(), 3), 0), bar.get_y() + bar.get_height())
    assert len(tops) == 40 and all(t == pytest.approx(1.0, abs=1e-3) for t in tops.values())


def test_a_trace_is_a_bar_for_each_end_that_stirred(draw):
    ax = draw("ledger", "trace").axes[0]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["client ipcstall (100), tcp > 10.0.0.2:9", "server ipcstall (101), tcp > 10.0.0.1:4242"]
    nagle = [b for b in ax.patches if b.get_width() == pytest.approx(0.8)]
    assert len(nagle) == 1 and nagle[0].get_y() < 0.5


def test_box_whiskers_reach_minimum_and_maximum(draw, corpus):
    from analysis.load import load

    p = next(p for p in load(corpus["one-size"]).points if p.mode == "tcp" and p.latency)
    ax = draw("box", "one-size").axes[0]
    ys = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in ax.get_lines()])
    for key in ("min", "median", "max"):
        assert np.isclose(ys, p.latency.get(key)).any(), key


def test_cdf_reaches_one_and_rises(draw):
    ax = draw("cdf", "one-size").axes[0]
    curves = [line for line in ax.get_lines() if line.get_label() in ("pipe", "unix", "udp", "tcp")]
    assert len(curves) == 4
    for line in curves:
        y = np.asarray(line.get_ydata(), dtype=float)
        assert y[-1] == pytest.approx(1.0) and (np.diff(y) >= 0).all()


def test_rank_names_the_fastest_first(draw):
    texts = [t for t, _ in text_boxes(draw("rank", "one-size"))]
    assert texts.index("pipe") < texts.index("unix") < texts.index("tcp")


def test_heatmap_holds_every_cell(draw):
    figure = draw("heatmap", "pipes")
    mesh = figure.axes[0].collections[0]
    assert np.isfinite(np.asarray(mesh.get_array(), dtype=float)).sum() == 35


def test_timeline_bands_add_up(draw):
    ax = draw("timeline", "line").axes[0]
    area = sum(p.get_extents().width * p.get_extents().height for c in ax.collections for p in c.get_paths())
    length = ax.get_xlim()[1]
    assert area == pytest.approx(4 * 0.72 * length, rel=0.001)  # four lanes, each full


def test_timeline_of_states_too_short_to_see_shows_their_shares():
    spans = [Span("1", "tx", state, 40.0 * i + at, 40.0 * i + to) for i in range(30000) for state, at, to in (("work", 0, 10), ("idle", 10, 40))]
    area = {state: sum((b - a) * (high - low) for a, b, low, high in boxes)
            for state, boxes in rectangles(shares(spans, 0.0, 1200000.0), ["idle", "work"]).items()}
    assert area == pytest.approx({"work": 250, "idle": 750})
    part = shares([Span("1", "tx", "nagle", 100.0, 350.0)], 0.0, 1000.0, 10)["nagle"]
    assert list(part) == pytest.approx([0, 1, 1, 0.5, 0, 0, 0, 0, 0, 0])


def test_timeline_window_is_obeyed(draw):
    ax = draw("timeline", "line-long", start_ns=100e6, end_ns=150e6).axes[0]
    assert ax.get_xlim() == pytest.approx((100, 150))  # the same times as those asked for
    assert "since the first event" in ax.get_xlabel() and "an excerpt of" in ax.get_xlabel()
    with pytest.raises(AnalysisError, match="later than"):
        draw("timeline", "line", start_ns=9e6, end_ns=1e6)


def test_series_finds_stall_against_throughput(draw):
    texts = " ".join(t for t, _ in text_boxes(draw("series", "line-long")))
    assert re.search(r"r = −0\.\d\d|r = −1", texts)


@pytest.mark.parametrize("kind,name", [("stall", "transports"), ("ledger", "transports"), ("cdf", "comb"), ("box", "comb"),
                                       ("heatmap", "transports"), ("rank", "comb-bare")])
def test_data_that_cannot_make_the_figure_is_refused(kind, name, draw):
    with pytest.raises(AnalysisError) as e:
        draw(kind, name)
    assert "; " in str(e.value) and e.value.code == 2


def test_states_have_looks_of_their_own():
    from analysis import style
    from analysis.model import RX_STATES, TX_STATES

    for states in (TX_STATES, RX_STATES):
        looks = [style.STATES[s] for s in states]
        assert len(set(looks)) == len(looks)


def test_a_curve_is_within_its_axes_and_named_once(save):
    from analysis.figures.request import Request
    from analysis.load import load_documents

    points = [{**p, "vars": {"mode": p["mode"], "size": p["size"]}} for p in synth.transports(("tcp", "udp"), n=100)]
    figure = KINDS["curve"].draw(Request(load_documents([save(synth.sweep(points))]), y="latency"))
    ax = figure.axes[0]
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["tcp", "udp"]
    lo, hi = ax.get_ylim()
    assert all(lo <= y <= hi for line in ax.lines for y in line.get_ydata())
    linear = KINDS["curve"].draw(Request(load_documents([save(synth.sweep([p for p in points if p["size"] < 2000]))]), y="latency")).axes[0]
    assert linear.get_ylim()[0] == 0 and linear.get_ylim()[1] > 4000 / 1e3


def test_a_curve_shows_what_was_measured(save):
    from analysis.figures.request import Request
    from analysis.load import load_documents

    timed = [{**p, "vars": {"size": p["size"]}} for p in synth.transports(("tcp",), n=100) if p["test"] == "latency"]
    for points, words in ((synth.comb(sizes=(1453, 3500, 5000)), "Throughput against message size"), (timed, "Median latency against message size")):
        assert KINDS["curve"].draw(Request(load_documents([save(synth.sweep(points))])))._suptitle.get_text() == words


def test_what_is_in_no_curve_is_told(save, run, tmp_path):
    out = str(tmp_path / "out.svg")
    points = [{**p, "vars": {**p["vars"], "cc": cc}} for cc in ("cubic", "1", "2", "inf", 1e300, None) for p in synth.comb(sizes=(1453, 3500, 5000), repeats=1)]
    code, _, err = run("figure", "curve", save(synth.sweep(points)), "--x", "cc", "--y", "throughput", "-o", out)
    assert code == 0 and err == "analysis: figure curve: 24 of 36 points are in no curve: their cc is no number (cubic, inf, 1e+300) or is unknown\n"
    points = [{**p, "size": None, "vars": {"nodelay": 0}} if p["size"] == 3500 else p for p in synth.comb(sizes=(1453, 3500, 5000), repeats=1)]
    path, words = save(synth.sweep(points)), "2 of 6 points are in no curve: their size is unknown"
    for kind in ("throughput", "stall", "ledger"):
        code, _, err = run("figure", kind, path, "-o", out)
        assert code == 0 and err == f"analysis: figure {kind}: {words}\n"
    assert f"! {words}\n" in run("summary", path)[1]
    code, _, err = run("report", path, "-o", out)
    assert code == 0 and err == "" and open(out, encoding="utf-8").read().count(words) == 1


@pytest.mark.parametrize("kind,name", [("throughput", "comb"), ("box", "transports"), ("cdf", "transports"), ("ledger", "trace"), ("curve", "transports"), ("cdf", "trace")])
def test_where_all_is_drawn_nothing_is_said_to_be_left_out(kind, name, corpus, run, tmp_path):
    code, _, err = run("figure", kind, corpus[name], "-o", str(tmp_path / "out.svg"))
    assert "no curve" not in err and "no curve" not in run("summary", corpus[name])[1]


RTOS = (100_000, 250_000, 1_000_000, 20_000_000, 200_000_000, 3_000_000_000)


def times_varied(save, name="rto", values=RTOS, sizes=(1453, 3500)):
    points = [{**p, "vars": {name: v, "size": p["size"]}} for v in values for p in synth.comb(sizes=sizes, repeats=1, nodelays=(1,))]
    return save(synth.sweep(points, options={name: values[0], "timeout": 20_000_000_000, "window": 4}))


@pytest.mark.parametrize("kind,more", [("throughput", {}), ("curve", {"x": "rto", "y": "throughput"}), ("heatmap", {"x": "rto", "y": "size"}), ("rank", {}), ("ledger", {})])
def test_times_that_vary_have_units(kind, more, save):
    from analysis.figures.request import Request
    from analysis.load import load_documents

    figure = KINDS[kind].draw(Request(load_documents([times_varied(save)]), **more))
    boxes = text_boxes(figure)
    texts = " | ".join(t for t, _ in boxes)
    assert "3 s" in texts and ("100 µs" in texts or "200 ms" in texts) and "00000" not in texts and "e+" not in texts, texts
    assert overlaps(boxes) == [] and off_page(boxes, figure.bbox) == []


@pytest.mark.parametrize("name,values,words", [("reader-pause", (0, 1_500_000), ("reader-pause=0", "reader-pause=1.5 ms")), ("sndbuf", (8192, 8193), ("sndbuf=8K", "sndbuf=8193")),
                                               ("delack-max", (None, 1_000_001), ("delack-max=default", "delack-max=1.000001 ms")), ("rate", (1000, 2500.5), ("rate=1000/s", "rate=2500.5/s")),
                                               ("pacing", (12_500_000, 4294967295), ("pacing=12.5 MB/s", "pacing=4.294967295 GB/s")), ("seed", (1234567, 1234568), ("seed=1234567", "seed=1234568")),
                                               ("nodelay", (False, True), ("nodelay=0", "nodelay=1")), ("drop", (0.5, 2.5), ("drop=0.5", "drop=2.5"))])
def test_curves_are_named_in_units_and_tell_values_apart(name, values, words, save):
    from analysis.load import load
    from analysis.series import group

    assert [s.label for s in group(load(times_varied(save, name, values)).points)] == list(words)


def test_heatmap_axes_keep_fractions(save):
    from analysis.figures.request import Request
    from analysis.load import load_documents

    ax = KINDS["heatmap"].draw(Request(load_documents([times_varied(save, "drop", (0.5, 1, 2.5))]))).axes[0]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["0.5", "1", "2.5"]


def connects(sizes=(64, 1024), modes=("tcp",), own=0):
    """Connects of a sweep over the size, which they do not have."""
    rng = np.random.default_rng(9)
    return [{**synth.latency_point(m, own, 30e3 * (1 + i + rng.gamma(2, 0.05, 200)), "connect"), "vars": {"size": s}} for m in modes for i, s in enumerate(sizes)]


def test_a_connect_has_no_size(save, run, tmp_path):
    from analysis.figures.cdf import distributions
    from analysis.figures.request import Request
    from analysis.load import load_documents

    path = save(synth.sweep(connects()))
    request = Request(load_documents([path]))
    code, out, _ = run("summary", path)
    assert code == 0 and re.search(r"tcp: median handshake 4\d(\.\d)? µs\.\n", out) and "0 B" not in out and re.search(r"\n  –\s+2 ", out)
    shown = distributions(request)
    assert [name for name, _ in shown.curves] == ["tcp"] and shown.title == "Handshake latency: share of connections at or below"
    for kind in ("box", "cdf"):
        texts = [t for t, _ in text_boxes(KINDS[kind].draw(request))]
        assert not {"0", "0 B", "message size (bytes)", "share of messages"} & set(texts), texts
    both = Request(load_documents([save(synth.sweep(connects(modes=("tcp", "udp"))))]))
    assert distributions(both).title == "Handshake latency: share of connections at or below"


def test_tests_are_not_mixed(save, run, tmp_path):
    from analysis.figures.curve import draw
    from analysis.figures.request import Request
    from analysis.load import load_documents

    points = [{**p, "test": test, "ledger": synth.ledger(1e9, 100, stall * 1e9)} for test, factor, stall in (("oneway", 1, 0.5), ("latency", 10, 0.25), ("throughput", 100, 0.0))
              for p in (synth.latency_point("tcp", s, np.full(50, 1e6 * factor)) for s in (64, 1024))]
    path = save(synth.sweep(points))

    def drawn(y, test=None):
        request = Request(load_documents([path]), y=y, test=test)
        return [float(v) for line in draw(request).axes[0].lines for v in line.get_ydata()], request.remarks

    assert drawn("latency") == ([10.0, 10.0], ["this is of test latency; for oneway or throughput give --test"])
    assert drawn("share") == ([0.0, 0.0], ["this is of test throughput; for oneway or latency give --test"])
    assert drawn("share", "oneway") == ([0.5, 0.5], [])
    request = Request(load_documents([path]), test="latency")
    bars = [b.get_height() for b in KINDS["ledger"].draw(request).axes[0].patches]
    assert any(h == pytest.approx(0.25) for h in bars) and not any(h == pytest.approx(0.5) for h in bars)
    for kind in ("box", "cdf", "curve", "ledger"):
        code, _, err = run("figure", kind, path, "--test", "connect", "-o", str(tmp_path / "out.svg"))
        assert code == 2 and err.endswith("no point of test connect has what this figure shows; give --test oneway or latency or throughput\n")


def test_tests_unknown_here_are_not_mixed_either():
    from analysis.series import of_test

    class Of:
        def __init__(self, test):
            self.test = test

    points = [Of("new"), Of("newer"), Of("new")]
    assert of_test(points, "latency") == [points[0], points[2]] and of_test([], "latency") == []


def test_a_heatmap_says_what_its_cells_are_medians_of(save, draw):
    from analysis.figures.request import Request
    from analysis.load import load_documents

    points = [{**p, "mode": m, "vars": {**p["vars"], "seed": m}} for m in ("pipe", "unix") for p in synth.pipes()]
    texts = [t for t, _ in text_boxes(KINDS["heatmap"].draw(Request(load_documents([save(synth.sweep(points))]))))]
    assert "Throughput by write size and pipe size, median over mode, seed" in texts
    assert "Throughput by write size and pipe size" in [t for t, _ in text_boxes(draw("heatmap", "pipes"))]
    with pytest.raises(AnalysisError, match="two varied numbers"):
        draw("heatmap", "pipes", x="size", y="size")


@pytest.mark.filterwarnings("error")
def test_a_single_point_and_a_single_instant(save, run, tmp_path):
    out = str(tmp_path / "out.svg")
    assert run("figure", "stall", save(synth.sweep(synth.comb(sizes=(1453,), repeats=1, nodelays=(1,)))), "-o", out)[0] == 0
    head, mark = synth.timeline().split("\n", 1)[0], '{"t": 5, "ep": "1", "event": "message", "bytes": 9}\n'
    path = save(f"{head}\n{mark}{mark}")
    code, _, err = run("figure", "series", path, "-o", out)
    assert code == 2 and err.splitlines()[-1].endswith("all that it holds happened at one instant; record for longer")
    assert run("report", path, "-o", out)[0] == 0


def test_a_flame_is_as_wide_as_its_stall(draw):
    ax = draw("flame", "stalls").axes[0]
    rows = {}
    for bar in ax.patches:
        rows.setdefault(round(bar.get_y(), 2), []).append(bar.get_width())
    whole = (2 * 43 + 9 + 0.4) * 1e6
    assert sorted(rows[min(rows)], reverse=True) == pytest.approx([86.4, 9.0]) and sum(rows[min(rows)]) == pytest.approx(whole / 1e6)
    assert len(rows) == 1 + 3 + 2 + 1 + 3
    texts = [t for t, _ in text_boxes(ax.figure)]
    assert {"client[7]", "tcp_sendmsg", "nagle", "for server[8]", "delayed ACK"} <= set(texts)
    assert ax.get_xlabel() == "stall (ms)"


def test_a_flame_needs_single_stalls(draw):
    with pytest.raises(AnalysisError, match="record it with --threshold"):
        draw("flame", "trace")
