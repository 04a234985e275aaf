# SPDX-License-Identifier: GPL-2.0-only
"""compare: what changed between two files is told, what is chance is not, and what cannot be tested says so."""

from __future__ import annotations

import json

import numpy as np
import pytest

from analysis.changes import compare
from analysis.errors import AnalysisError
from analysis.load import load
from analysis.stats.change import of_histograms, of_values
from analysis.stats.hist import Histogram

import synth


def runs(seed: int, factor: float = 1.0, repeats: int = 5, sizes=(64, 4096)) -> str:
    rng = np.random.default_rng(seed)
    points = [synth.latency_point("tcp", size, factor * 1e4 * np.exp(rng.normal(0, 0.01) + rng.normal(0, 0.02, 500)), repeat=r)
              for size in sizes for r in range(repeats)]
    return synth.sweep(points)


def told(save, a: str, b: str) -> str:
    return compare(load(save(a, "a.ndjson")), load(save(b, "b.ndjson")))


def test_a_change_is_told_with_its_interval(save):
    text = told(save, runs(1), runs(2, 1.5))
    assert "2 of 2 figures changed: 0 better in B, 2 worse." in text
    assert text.count(" worse") >= 2 and "1.5" in text


def test_chance_is_no_change(save):
    assert "Nothing changed beyond 3 % and chance" in told(save, runs(1), runs(2))


def test_a_small_change_stays_within_the_margin(save):
    assert "Nothing changed beyond 3 % and chance" in told(save, runs(1), runs(2, 1.01))


def test_false_alarms_are_rare(save):
    wrong = sum("figures changed" in told(save, runs(2 * seed), runs(2 * seed + 1)) for seed in range(40))
    assert wrong <= 4


def test_single_runs_say_that_they_are_single(save):
    text = told(save, runs(1, repeats=1), runs(2, 2.0, repeats=1))
    assert "worse, by one run" in text and "not of how two runs differ" in text


def test_cells_of_one_file_alone_are_named(save):
    assert "1 of 2 cells of A are not in the other file" in told(save, runs(1), runs(2, sizes=(64,)))


def test_nothing_in_common_is_refused(save):
    with pytest.raises(AnalysisError, match="no point in common"):
        told(save, runs(1, sizes=(64,)), runs(2, sizes=(128,)))


def test_traces_are_set_side_by_side_without_a_test(save):
    quiet = json.loads(synth.trace())
    for e in quiet["ledger"]["endpoints"]:
        e["tx"]["states"].pop("nagle", None)
    text = told(save, synth.trace(), json.dumps(quiet))
    assert "Senders stalled" in text and "there is no test" in text and "nagle" in text


def test_a_trace_and_a_sweep_are_refused(save):
    with pytest.raises(AnalysisError, match="two of one kind"):
        told(save, synth.trace(), runs(1))


def test_the_interval_holds_the_truth():
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(200):
        a, b = np.exp(rng.normal(0, 0.1, 12)), 1.2 * np.exp(rng.normal(0, 0.1, 12))
        c = of_values(a, b, True)
        held += c.low <= 1.2 <= c.high
    assert 180 <= held <= 200


def test_of_histograms_finds_the_ratio_of_medians():
    def hist(scale):
        edges = scale * 1000 * 1.01 ** np.arange(200)
        count = np.exp(-((np.arange(199) - 100) / 20.0) ** 2) * 1000
        return Histogram(edges[:-1], edges[1:], np.round(count))

    c = of_histograms(hist(1.0), hist(1.3))
    assert c.low <= 1.3 <= c.high and abs(c.ratio - 1.3) < 0.02 and c.p < 1e-6


def test_too_few_runs_have_no_interval():
    c = of_values([1.0, 1.1], [2.0, 2.1], True)
    assert c.low is None and c.p is None and not c.is_certain(1)
