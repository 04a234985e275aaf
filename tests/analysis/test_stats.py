# SPDX-License-Identifier: GPL-2.0-only
"""The statistics of user/stats against numpy and scipy, on the same samples."""
import json
import os
import pathlib
import shlex
import subprocess

import pytest

np = pytest.importorskip("numpy")
stats = pytest.importorskip("scipy.stats")

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ["tests/unit/stats_driver.c", "user/base/array.c"] + [
    f"user/stats/{name}.c" for name in ("stats", "sort", "bootstrap", "special", "compare", "rng")
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


@pytest.mark.parametrize("n", [1, 4, 10, 100, 1000])
@pytest.mark.parametrize("shift", [0, 0.3, 2])
def test_signs(driver, n, shift):
    rng = np.random.default_rng(n)
    x = np.exp(np.round(rng.normal(0, 1, n), 1))
    y = np.exp(np.round(rng.normal(shift, 1, n), 1))
    differ = int((x != y).sum())
    want = stats.binomtest(int((x < y).sum()), differ).pvalue
    check(driver(x, y)["sign_p"], want, rel=1e-9)


def test_unknown_is_null(driver):
    got = driver([], [])
    assert got["median"] is None and got["mad"] is None and got["sign_p"] is None
