# SPDX-License-Identifier: GPL-2.0-only
"""Kinds of claims: a row each. A claim is what part of a hypothesis foretells; its test takes the points and says."""

from __future__ import annotations

from typing import Any, Callable, Dict, Mapping, Sequence

from . import comb, compare, curve_tests, level, outliers
from .outcome import Outcome
from ..model import Point

Judge = Callable[[Sequence[Point], Mapping[str, Any]], Outcome]

KINDS: Dict[str, Judge] = {
    "faster": compare.faster,
    "same": compare.same,
    "level": level.level,
    "peak": curve_tests.peak,
    "peak-moves": curve_tests.peak_moves,
    "steps": curve_tests.steps,
    "line": curve_tests.line,
    "trend": curve_tests.trend,
    "comb": comb.comb,
    "rare": outliers.rare,
    "one-sided": outliers.one_sided,
    "uncertainty": outliers.uncertainty,
}
