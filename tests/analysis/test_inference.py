# SPDX-License-Identifier: GPL-2.0-only
"""Statistics against scipy on the same numbers, and against answers known by construction."""

import numpy as np
import pytest
import synth
from conftest import ROOT
from scipy import stats as ss

from analysis.errors import AnalysisError
from analysis.load import load
from analysis.model import Histogram, Span
from analysis.series import group, pair_up
from analysis.stats.correlate import pearson, spearman
from analysis.stats.dips import bands, holm, with_fix, without_fix
from analysis.stats.explain import explain
from analysis.stats.hist import cumulative, mann_whitney, mean_of_quickest, merge, quantile
from analysis.stats.lag import bin_stall, lagged
from analysis.stats.ranks import Contestant, _welch, rank, throughput_contestant

RNG = np.random.default_rng(5)


def hist(values):
    rows = np.asarray(synth.buckets(np.asarray(values)), dtype=float)
    return Histogram(rows[:, 0], rows[:, 1], rows[:, 2])


def test_correlations_agree_with_scipy():
    x = RNG.normal(size=60)
    y = np.round(0.7 * x + RNG.normal(size=60), 1)
    assert pearson(x, y).r == pytest.approx(ss.pearsonr(x, y)[0], abs=1e-12)
    assert spearman(x, y).r == pytest.approx(ss.spearmanr(x, y)[0], abs=1e-12)


def test_interval_covers_the_truth():
    """Of 200 samples of correlation 0.6, the 95 % interval holds it about 190 times."""
    hits = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=50)
        c = pearson(x, 0.6 * x + 0.8 * rng.normal(size=50))
        hits += c.lo <= 0.6 <= c.hi
    assert 175 <= hits <= 199


def test_correlation_unknown_rather_than_zero():
    assert pearson(np.ones(10), RNG.normal(size=10)).r is None
    assert pearson(np.asarray([1.0, 2.0]), np.asarray([1.0, 2.0])).r is None
    nan = np.asarray([1.0, np.nan, 3.0, 4.0, 5.0])
    assert pearson(nan, np.arange(5.0)).n == 4
    assert "unknown" in pearson(np.ones(10), np.ones(10)).text()


def test_interval_is_reproducible():
    x, y = RNG.normal(size=30), RNG.normal(size=30)
    assert pearson(x, y) == pearson(x, y)


def test_holm_known_values():
    assert holm(np.asarray([0.01, 0.04, 0.03])) == pytest.approx([0.03, 0.06, 0.06])
    assert (holm(np.asarray([0.9, 0.8])) <= 1).all()


def comb(save, **more):
    doc = load(save(synth.sweep(synth.comb(**more))))
    return [explain(p) for p in pair_up(group(doc.points))]


@pytest.mark.parametrize("nodelays", [(0, 1), (0,)], ids=["with fix", "without"])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("repeats", [1, 3])
def test_comb_dips_are_found_and_no_others(save, nodelays, seed, repeats):
    e = comb(save, nodelays=nodelays, seed=seed, repeats=repeats)[0]
    assert list(e.dip) == [synth.comb_stalls(int(s)) for s in e.size]
    assert e.pearson.r > 0.99
    assert np.nanmin(e.share) > 0.9 and np.nanmax(e.share) < 1.1
    assert e.depth[e.dip].min() > 0.7


def test_shallow_dips_are_found_when_noise_allows(save):
    e = comb(save, stall_ns=150e3, noise=0.01)[0]
    assert list(e.dip) == [synth.comb_stalls(int(s)) for s in e.size]


def test_no_dips_are_seen_in_noise():
    """100 healthy sweeps of 30 sizes: at the 1 % level about one may be called a dip."""
    false = 0
    size = np.linspace(1000, 20000, 30)
    for seed in range(100):
        rng = np.random.default_rng(seed)
        t = (9e4 + 80 * size) * np.exp(rng.normal(0, 0.05, 30))
        false += bool(without_fix(size, t, [t[i: i + 1] for i in range(30)]).dip.any())
    assert false <= 5


@pytest.mark.thorough
def test_fix_no_better_means_no_dips():
    false = 0
    size = np.linspace(1000, 20000, 30)
    for seed in range(100):
        rng = np.random.default_rng(seed)
        cells = [[(9e4 + 80 * s) * np.exp(rng.normal(0, 0.05, 3)) for s in size] for _ in range(2)]
        false += bool(with_fix(size, cells[0], cells[1]).dip.any())
    assert false <= 5


def test_every_size_stalling_is_seen_against_the_fix():
    """Header and payload in two writes: nothing is healthy without the fix, so only the comparison can tell."""
    size = np.linspace(100, 1400, 12)
    rng = np.random.default_rng(3)
    base = [(44e6 + 50 * s) * np.exp(rng.normal(0, 0.01, 2)) for s in size]
    fixed = [(6e3 + 2 * s) * np.exp(rng.normal(0, 0.02, 2)) for s in size]
    assert with_fix(size, base, fixed).dip.all()


def test_one_deep_dip_among_few_sizes():
    size = np.asarray([4.0, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 524288])
    t = 5800 + 0.2 * size
    t[5] = 44e6
    d = without_fix(size, t * np.exp(np.random.default_rng(1).normal(0, 0.03, 10)), [t[i: i + 1] for i in range(10)])
    assert list(np.flatnonzero(d.dip)) == [5]


def test_too_few_sizes_claim_nothing():
    d = without_fix(np.asarray([1.0, 2, 3]), np.asarray([1.0, 9, 1]), [np.ones(1)] * 3)
    assert not d.dip.any() and "too few" in d.method


def test_bands_join_neighbours():
    size = np.asarray([1.0, 2, 3, 4, 5])
    found = bands(size, np.asarray([False, True, True, False, True]))
    assert found == [(1.5, 3.5, [1, 2]), (4.5, 5.5, [4])]


def test_a_repeat_that_strays_spoils_neither_share_nor_dip(save):
    """One repeat of three stalled in part: time and stall are told by the same repeat, so the share stays near 1."""
    points = synth.comb()
    for p in points:
        if p["vars"] == {"size": 5963, "nodelay": 0} and p["repeat"] > 0:
            part = 0.3 * p["repeat"] * p["ledger"]["stall_per_message_ns"]
            p["elapsed_ns"] -= round((p["ledger"]["stall_per_message_ns"] - part) * p["messages"])
            p["ledger"]["stall_per_message_ns"] = part
    e = explain(pair_up(group(load(save(synth.sweep(points))).points))[0])
    at = list(e.size).index(5963)
    assert 0.9 < e.share[at] < 1.1


def test_time_and_stall_are_of_the_same_messages(save):
    """One repeat stalled less, in another a stall was not seen: the third tells both."""
    points = synth.comb()
    for p in points:
        if p["vars"] != {"size": 5963, "nodelay": 0}:
            continue
        stall = p["ledger"]["stall_per_message_ns"]
        if p["repeat"] == 0:
            p["elapsed_ns"] -= round(0.6 * stall * p["messages"])
            p["ledger"]["stall_per_message_ns"] = 0.4 * stall
        if p["repeat"] == 1:
            p["elapsed_ns"] = round(1.01 * p["elapsed_ns"])
            p["ledger"]["stall_per_message_ns"] = 0.8 * stall
    e = explain(pair_up(group(load(save(synth.sweep(points))).points))[0])
    assert 0.95 < e.share[list(e.size).index(5963)] < 1.05


def test_share_is_relative_to_the_fixed_run(save):
    """A stall the fix leaves in place is no part of the dip."""
    points = synth.comb(repeats=1)
    for p in points:
        p["ledger"]["stall_per_message_ns"] += 1e6
    e = explain(pair_up(group(load(save(synth.sweep(points))).points))[0])
    assert np.nanmax(np.abs(e.share - 1)) < 0.1


def test_one_repeat_of_three_that_strays_is_no_dip(save, run):
    """Many quiet sizes make the noise small, and the mean of a cell follows a single repeat: what the others do not lose is not lost."""
    points = synth.comb(noise=0.002)
    quiet = next(p["vars"]["size"] for p in points if not synth.comb_stalls(p["vars"]["size"]))
    stray = next(p for p in points if p["vars"] == {"size": quiet, "nodelay": 0} and p["repeat"] == 1)
    stray["elapsed_ns"] = round(stray["elapsed_ns"] * 2.3)
    stray["throughput"].update(lo=None, hi=None)
    path = save(synth.sweep(points))
    e = explain(pair_up(group(load(path).points))[0])
    assert [int(s) for s in e.size[e.dip]] == [s for s in synth.comb_sizes() if synth.comb_stalls(s)]
    assert (e.excess[e.dip] > 0).all() and np.nanmin(e.share) > 0.9 and np.nanmax(e.share) < 1.1
    text = run("summary", path)[1]
    assert "-0 %" not in text and "19 of 40 sizes are in a dip" in text


def test_a_dip_in_most_repeats_is_one(save):
    """The stray the other way: one repeat of three of a stalling size did not stall."""
    points = synth.comb()
    for p in points:
        if p["vars"] == {"size": 5963, "nodelay": 0} and p["repeat"] == 0:
            p["elapsed_ns"] -= round(p["ledger"]["stall_per_message_ns"] * p["messages"])
            p["ledger"]["stall_per_message_ns"] = 0
    e = explain(pair_up(group(load(save(synth.sweep(points))).points))[0])
    assert e.dip[list(e.size).index(5963)]


def test_every_dip_of_the_kept_comb_lost_something():
    """Real strays: of three repeats one took twice as long at a size where nothing stalls."""
    points = load(str(ROOT / "docs/experiments/results/nagle-comb/comb.ndjson.gz")).points
    e = explain(pair_up(group(points))[0])
    assert e.dip.any() and e.depth[e.dip].min() > 0.01 and 0.9 < np.nanmin(e.share) <= np.nanmax(e.share) < 1.1


def test_without_ledger_stall_is_unknown(save):
    points = [{**p, "ledger": None} for p in synth.comb(repeats=1)]
    e = explain(pair_up(group(load(save(synth.sweep(points))).points))[0])
    assert not e.observed and e.pearson.r is None and e.overall_share() is None and e.dip.any()


def test_histogram_shares_and_quantiles():
    values = RNG.gamma(3.0, 2000.0, 20000) + 1000
    h = hist(values)
    for q in (0.05, 0.5, 0.99):
        assert quantile(h, q) == pytest.approx(np.quantile(values, q), rel=1 / 64)
    v, share = cumulative(h)
    assert share[-1] == pytest.approx(1.0) and (np.diff(share) > 0).all()
    at = np.asarray([np.mean(values < x) for x in v])
    assert np.abs(at - share).max() < 1e-9
    assert abs(mean_of_quickest(h, 0.9) / np.sort(values)[:len(values) * 9 // 10].mean() - 1) < 0.02
    both = merge([h, hist(values + 50)])
    assert both.total == 40000 and (np.diff(both.low) >= 0).all()


def test_mann_whitney_agrees_with_scipy():
    a, b = np.floor(RNG.normal(100, 10, 400)), np.floor(RNG.normal(102, 10, 300))

    def exact(v):
        u, c = np.unique(v, return_counts=True)
        return Histogram(u.astype(float), u.astype(float), c.astype(float))

    expected = ss.mannwhitneyu(b, a, alternative="greater", method="asymptotic", use_continuity=False).pvalue
    assert mann_whitney(exact(a), exact(b)) == pytest.approx(expected, rel=1e-6)


def test_ranks_and_ties():
    def one(name, middle):
        return Contestant(name, middle, hist(middle * (1 + RNG.gamma(2, 0.02, 3000))))

    places = rank([one("slow", 9000), one("a", 5000), one("b", 5060)], False)
    assert [(p.rank, p.tied, p.name) for p in places] == [(1, True, "a"), (1, True, "b"), (3, False, "slow")]


def test_repeated_runs_are_the_units_of_a_rank():
    """Of one thing, whose runs come in two kinds: each run's slices agree with one another, and the runs do not."""
    def one(name, runs):
        slices = tuple(r * f for r in runs for f in np.linspace(0.99, 1.01, 20))
        return Contestant(name, float(np.median(runs)), None, slices, (), None, tuple(runs))

    alike = rank([one("a", (22.8, 21.5, 33.3, 36.3, 35.3)), one("b", (35.8, 22.4, 21.9, 34.7, 22.6))], True)
    assert [(p.rank, p.tied) for p in alike] == [(1, True), (1, True)]
    assert [p.rank for p in rank([one("a", (33.1, 33.3, 33.2)), one("b", (22.4, 22.5, 22.6))], True)] == [1, 2]
    quick, slow = (Contestant(n, v[1], None, runs=v) for n, v in (("quick", (5.0, 5.1, 5.2)), ("slow", (9.0, 9.1, 9.3))))
    assert [(p.rank, p.name) for p in rank([slow, quick], False)] == [(1, "quick"), (2, "slow")]


def test_throughput_ranks_by_trials_and_by_intervals():
    def trials(name, rate):
        return Contestant(name, rate, trials=tuple(rate * f for f in (0.99, 1.0, 1.01)))

    assert [p.rank for p in rank([trials("a", 100.0), trials("b", 101.0), trials("c", 50.0)], True)] == [1, 1, 3]
    wide = [Contestant("a", 100.0, interval=(80.0, 120.0)), Contestant("b", 90.0, interval=(70.0, 110.0))]
    assert all(p.tied for p in rank(wide, True))
    assert [p.name for p in rank([trials("x", 5.0), trials("y", 9.0)], True)] == ["y", "x"]


def test_slices_count_as_long_as_they_lasted(save):
    """Short slices in which a buffer was emptied say little of a run that waited for most of its time."""
    def point(mode, trials, trial_ns):
        rate = float(np.average(trials, weights=trial_ns or None))
        return {**synth.comb_point(1024, 1, 0, np.random.default_rng(6)), "mode": mode, "vars": {}, "throughput": {"bytes_per_s": rate, "trials": trials, "trial_ns": trial_ns}}

    steady = [6e7 * f for f in (0.99, 1.0, 1.01) * 4]
    uneven, lasted = [4e7 * f for f in (0.99, 1.0, 1.01) * 2] + [1e8] * 6, [1e9] * 6 + [1e7] * 6

    def places(*points):
        contestants = [throughput_contestant(p.mode, [p]) for p in load(save(synth.result(list(points)))).points]
        return [(p.rank, p.name) for p in rank(contestants, True)]

    assert places(point("a", steady, [1e8] * 12), point("b", uneven, lasted)) == [(1, "a"), (2, "b")]
    assert places(point("a", steady, []), {**point("b", uneven, lasted), "throughput": {"bytes_per_s": 4e7, "trials": uneven}}) == [(1, "a"), (1, "b")]
    with pytest.raises(AnalysisError, match="2 times of 12 trials"):
        places(point("a", steady, [1e8] * 12), {**point("b", uneven, lasted), "throughput": {"bytes_per_s": 4e7, "trials": uneven, "trial_ns": [1, 2]}})


@pytest.mark.parametrize("weights", [(), (7.0,) * 12])
def test_slices_alike_are_tested_as_ever(weights):
    rng = np.random.default_rng(6)
    good, bad = rng.uniform(95, 105, 12), rng.uniform(93, 103, 12)
    p = _welch(Contestant("a", 1.0, trials=tuple(good), weights=weights), Contestant("b", 1.0, trials=tuple(bad)), 0.01)
    assert p == pytest.approx(ss.ttest_ind(np.log(good), np.log(bad) + np.log1p(0.01), equal_var=False, alternative="greater").pvalue)
    assert _welch(Contestant("a", 1.0, trials=(9.0, 8.0), weights=(1e9, 1.0)), Contestant("b", 1.0, trials=(1.0, 1.1)), 0.0) == 1.0


def test_nothing_testable_is_a_tie():
    assert all(p.tied for p in rank([Contestant("a", 1.0), Contestant("b", 100.0)], False))


def test_bin_stall_is_exact():
    spans = [Span("1", "tx", "nagle", 5.0, 25.0), Span("1", "tx", "idle", 25.0, 40.0), Span("1", "tx", "rwnd", 40.0, 42.0),
             Span("2", "tx", "nagle", 0.0, 1.0)]
    got = bin_stall(spans, np.asarray([0.0, 10, 20, 30, 40, 50]))
    assert got == pytest.approx([0.5, 1.0, 0.5, 0.0, 0.2])


def test_lag_is_found_with_its_sign():
    rng = np.random.default_rng(8)
    stall = rng.random(300)
    rate = np.roll(1 - stall, 4) + 0.05 * rng.random(300)
    lag, r = lagged(stall, rate).strongest()
    assert lag == 4 and r < -0.9


def test_lag_noise_band_holds():
    """White noise leaves the band, at any lag at all, about one time in twenty; and the band is no wider than it must be."""
    strayed = near = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        c = lagged(rng.random(200), rng.random(200))
        strayed += bool((np.abs(c.r) > c.noise).any())
        near += bool((np.abs(c.r) > 0.7 * c.noise).any())
    assert 1 <= strayed <= 20 and near > 100
