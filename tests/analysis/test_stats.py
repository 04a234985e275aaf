# SPDX-License-Identifier: GPL-2.0-only
"""user/lib's statistics against numpy and scipy, on the same samples."""
import json
import os
import pathlib
import shlex
import subprocess

import pytest

np = pytest.importorskip("numpy")
stats = pytest.importorskip("scipy.stats")

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ["tests/unit/stats_driver.c"] + [
    f"user/lib/{name}.c" for name in ("stats", "sort", "bootstrap", "special", "compare", "rng")
]


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    exe = tmp_path_factory.mktemp("stats") / "driver"
    cc = shlex.split(os.environ.get("CC", "cc"))
    subprocess.run(cc + ["-std=gnu11", "-O2", "-D_GNU_SOURCE", "-Iuser", *SOURCES, "-lm", "-o", str(exe)], cwd=ROOT,
                   check=True)

    def run(x, y):
        text = f"{len(x)} {len(y)}\n" + "\n".join(repr(float(v)) for v in [*x, *y]) + "\n"
        out = subprocess.run([str(exe)], input=text, capture_output=True, text=True, check=True)
        return json.loads(out.stdout)

    return run


def samples():
    rng = np.random.default_rng(20240229)
    latency = np.round(rng.lognormal(9, 0.4, 1001))
    latency[:12] *= 60
    return {
        "latencies with outliers": latency,
        "normal, even n": rng.normal(50, 3, 500),
        "heavy ties": rng.integers(0, 5, 333).astype(float),
        "exponential": rng.exponential(1e3, 2000),
        "tiny": np.array([3.0, 1.0, 2.0]),
        "two": np.array([7.0, 4.0]),
    }


SAMPLES = samples()
close = pytest.approx


def check(got, want, rel=1e-12):
    assert got == close(float(want), rel=rel, abs=1e-300)


@pytest.mark.parametrize("name", SAMPLES)
def test_summary(driver, name):
    x = SAMPLES[name]
    got = driver(x, x)
    q = {"min": 0, "q1": 25, "median": 50, "q3": 75, "p90": 90, "p95": 95, "p99": 99, "p999": 99.9, "max": 100}
    for key, percent in q.items():
        check(got[key], np.percentile(x, percent))
    check(got["mean"], np.mean(x))
    check(got["stddev"], np.std(x, ddof=1))
    mad = stats.median_abs_deviation(x)
    check(got["mad"], mad)
    check(got["uncertainty"], mad / np.sqrt(len(x)))
    for k in (3, 5, 10, 20, 50):
        beyond = np.abs(x - np.median(x)) > k * mad
        assert got[f"outliers{k}"] == (int(beyond.sum()) if mad > 0 else 0)


@pytest.mark.parametrize("name", [n for n in SAMPLES if len(SAMPLES[n]) > 10])
@pytest.mark.parametrize("key,statistic", [("ci_median", np.median), ("ci_mean", np.mean)])
def test_bootstrap(driver, name, key, statistic):
    """Two Monte-Carlo intervals agree when their ends differ by little against their width."""
    x = SAMPLES[name]
    got = driver(x, x)[key]
    want = stats.bootstrap((x,), statistic, method="percentile", n_resamples=4000, vectorized=True, axis=0,
                           random_state=5).confidence_interval
    slack = 0.15 * (want.high - want.low) + 1e-12 * abs(want.high)
    assert got["lo"] == close(want.low, abs=slack)
    assert got["hi"] == close(want.high, abs=slack)


def comparisons():
    rng = np.random.default_rng(7)
    return {
        "exact": (rng.normal(0, 1, 8), rng.normal(1, 1, 6)),
        "exact, unequal": (rng.normal(0, 1, 2), rng.normal(0, 1, 8)),
        "exact, one": (rng.normal(0, 1, 1), rng.normal(0, 1, 1)),
        "small with ties": (np.array([1.0, 2, 2, 3]), np.array([2.0, 3, 4])),
        "shifted": (rng.normal(0, 1, 200), rng.normal(0.3, 1, 150)),
        "same law": (rng.exponential(1, 300), rng.exponential(1, 301)),
        "many ties": (rng.integers(0, 6, 400).astype(float), rng.integers(1, 7, 90).astype(float)),
    }


COMPARISONS = comparisons()


@pytest.mark.parametrize("name", COMPARISONS)
def test_mann_whitney(driver, name):
    a, b = COMPARISONS[name]
    got = driver(a, b)
    assert got["exact"] == name.startswith("exact")
    # scipy's 'auto' turns exact when either sample is small; ours asks it of both, so the method is named here
    want = stats.mannwhitneyu(a, b, method="exact" if got["exact"] else "asymptotic")
    check(got["u"], want.statistic)
    check(got["p"], want.pvalue, rel=1e-9)


@pytest.mark.parametrize("n", [4, 10, 100, 1000])
@pytest.mark.parametrize("slope", [0, 0.3, -2])
def test_correlation(driver, n, slope):
    rng = np.random.default_rng(n)
    x = np.round(rng.normal(0, 1, n), 1)
    y = slope * x + rng.normal(0, 1, n)
    got = driver(x, y)
    want = stats.pearsonr(x, y)
    ci = want.confidence_interval(0.95)
    check(got["pearson"]["r"], want[0], rel=1e-9)
    check(got["pearson"]["p"], want[1], rel=1e-7)
    check(got["pearson"]["lo"], ci.low, rel=1e-8)
    check(got["pearson"]["hi"], ci.high, rel=1e-8)
    rank = stats.spearmanr(x, y)
    check(got["spearman"]["r"], rank[0], rel=1e-9)
    check(got["spearman"]["p"], rank[1], rel=1e-7)
    assert got["spearman"]["lo"] <= rank[0] <= got["spearman"]["hi"]


def test_unknown_is_null(driver):
    got = driver([], [])
    assert got["median"] is None and got["mad"] is None and got["p"] is None
