# SPDX-License-Identifier: GPL-2.0-only
"""Tails and quantiles against scipy.stats, which is too slow to load for the program itself."""
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT

from analysis.stats import distributions as own

stats = pytest.importorskip("scipy.stats")
X, Y = np.array([1.0, 2.5, 2.5, 4.0, 9.0]), np.array([0.5, 2.5, 3.0, 3.5])


@pytest.mark.parametrize("dof", [1, 4.5, 300])
def test_student(dof):
    t = np.array([-2.0, 0.0, 0.7, 31.0])
    assert own.t_tail(t, dof) == pytest.approx(stats.t.sf(t, dof), rel=1e-9)
    assert own.t_above(0.025, dof) == pytest.approx(stats.t.isf(0.025, dof), rel=1e-9)


def test_normal():
    assert own.normal_tail(1.3) == pytest.approx(stats.norm.sf(1.3))
    assert own.normal_quantile(0.9) == pytest.approx(stats.norm.ppf(0.9))
    assert own.normal_density(0.4) == pytest.approx(stats.norm.pdf(0.4))


@pytest.mark.parametrize("dof", [2, 17])
def test_ratios_of_variances(dof):
    assert own.f_tail(3.2, 2, dof) == pytest.approx(stats.f.sf(3.2, 2, dof))
    assert own.f_above(0.01, 2, dof) == pytest.approx(stats.f.isf(0.01, 2, dof))
    for p in (0.025, 0.5, 0.975):
        assert own.chi2_above(p, dof) == pytest.approx(stats.chi2.isf(p, dof))


def test_welch():
    t, dof = own.welch_t(own.moments(X), own.moments(Y))
    wanted = stats.ttest_ind(X, Y, equal_var=False, alternative="greater")
    assert float(own.t_tail(t, dof)) == pytest.approx(wanted.pvalue)


def test_equal_values_share_a_rank():
    both = np.concatenate([X, Y])
    assert own.mid_ranks(both) == pytest.approx(stats.rankdata(both))


def test_nothing_of_it_is_loaded_at_once():
    """Half a second of each command would go into scipy.stats and matplotlib."""
    asked = ("import sys, analysis.cli, analysis.summary, analysis.changes\n"
             "print([m for m in ('scipy', 'matplotlib') if m in sys.modules])")
    said = subprocess.check_output([sys.executable, "-c", asked], cwd=ROOT, text=True)
    assert said == "[]\n"
