# SPDX-License-Identifier: GPL-2.0-only
"""Claims about the shape of a curve: where its peak is, whether the peak moves, steps, a straight line of known slope, flatness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from .. import units
from ..errors import data
from .compare import cells, groups
from ..measures import Measure, chosen, measure, x_text
from .noise import draws, spread
from .outcome import Outcome, REFUTED, SUPPORTED, UNDECIDED
from ..model import Floats, Point
from ..series import as_number
from ..stats.correlate import pearson
from ..stats.distributions import f_above, f_tail, t_above
from ..tables import Table

DRAWS = 4000
SEED = 736
Cells = Tuple[Floats, List[Floats]]


def curve(points: Sequence[Point], by: str, m: Measure, unit: str = "repeat") -> Cells:
    found = cells(points, by, m, unit)
    xs = sorted(found)
    return np.asarray(xs), [np.asarray(list(found[x].values())) for x in xs]


def nothing(method: str) -> Outcome:
    return Outcome(UNDECIDED, "there are too few points to test.", method)


def middle(values: Floats) -> Tuple[float, float]:
    lo, hi = np.percentile(values, [2.5, 97.5])
    return float(lo), float(hi)


# --- the peak ---


def peaks(x: Floats, c: List[Floats], more: bool) -> Floats:
    """Where the best lies, in plausible redrawings of the curve."""
    drawn = draws([np.log(v) for v in c], DRAWS, SEED)
    at: Floats = x[drawn.argmax(axis=1) if more else drawn.argmin(axis=1)]
    return at


def plausible(at: Floats) -> List[float]:
    """The values that make up 95 % of the draws, the most frequent first."""
    values, counts = np.unique(at, return_counts=True)
    order = np.argsort(-counts)
    need = int(np.searchsorted(np.cumsum(counts[order]) / len(at), 0.95)) + 1
    return [float(v) for v in values[order][:need]]


def peak(points: Sequence[Point], claim: Mapping[str, Any]) -> Outcome:
    m, by = measure(claim, str(claim["says"])), str(claim.get("by", "size"))
    method = "the best size in 4000 redrawings of the curve within the scatter of its repeats; sizes that make up 95 % of them"
    x, c = curve(chosen(points, claim.get("where")), by, m)
    if len(x) < 3:
        return nothing(method)
    likely = plausible(peaks(x, c, m.more_is_better))
    want = float(claim["at"])
    verdict = SUPPORTED if likely == [want] else UNDECIDED if want in likely else REFUTED
    best = int(np.argmax([np.median(v) for v in c]) if m.more_is_better else np.argmin([np.median(v) for v in c]))
    text = f"the best is {m.text(float(np.median(c[best])))} at {x_text(by, x[best])}; plausible places of the peak: {', '.join(x_text(by, v) for v in sorted(likely))}."
    return Outcome(verdict, text, method)


def peak_moves(points: Sequence[Point], claim: Mapping[str, Any]) -> Outcome:
    """If a buffer makes the peak, the peak is where the buffer is: its place grows as the buffer does (slope 1 in logs)."""
    m, by, with_ = measure(claim, str(claim["says"])), str(claim.get("by", "size")), str(claim["with"])
    method = f"slope of log peak on log {with_}: 1 where {with_} makes the peak, 0 where it does not; interval from 4000 redrawings"
    here = chosen(points, claim.get("where"))
    values = sorted({v for p in here if (v := as_number(p.value(with_))) is not None})
    found = [(v, curve(chosen(here, {with_: v}), by, m)) for v in values]
    found = [(v, c) for v, c in found if len(c[0]) >= 3]
    if len(found) < 2:
        return nothing(method)
    at = np.stack([np.log2(peaks(x, c, m.more_is_better)) for _, (x, c) in found])
    lx = np.log2([v for v, _ in found])
    slope = ((lx - lx.mean())[:, None] * at).sum(axis=0) / ((lx - lx.mean()) ** 2).sum()
    lo, hi = middle(slope)
    verdict = REFUTED if hi < 0.5 else SUPPORTED if lo > 0.5 else UNDECIDED
    rows = [[x_text(with_, v), ", ".join(x_text(by, s) for s in sorted(plausible(2.0 ** at[i])))] for i, (v, _) in enumerate(found)]
    text = f"over {with_} {x_text(with_, values[0])} to {x_text(with_, values[-1])} the peak moves by {np.median(slope):.2f} [{lo:.2f}, {hi:.2f}] of what {with_} does."
    return Outcome(verdict, text, method, [Table(f"Place of the best {m.words}", [with_, f"plausible {by}s"], rows, "")])


# --- steps ---


def _fit(design: Floats, y: Floats) -> Tuple[Floats, float, Floats]:
    beta, *_ = np.linalg.lstsq(design, y, rcond=None)
    inverse = np.linalg.pinv(design.T @ design)
    return beta, float(((y - design @ beta) ** 2).sum()), np.diag(inverse)


def _design(x: Floats, unit: Optional[float]) -> Floats:
    columns = [np.ones_like(x), x / x.max()]
    return np.column_stack([*columns, np.ceil(x / unit)] if unit else columns)


@dataclass(frozen=True)
class Steps:
    step: float
    reach: float
    bytes_cost: float  # of `unit` further bytes
    p: float
    share: float  # of what a plain line leaves over
    best: float
    near: Tuple[float, float]
    fits: bool  # no other period fits better than chance would have it
    p_best: float


def periods(x: Floats, y: Floats, unit: float) -> Tuple[float, Floats, float]:
    """Residuals by period: the best, the periods that fit almost as well (profile of the residuals), and their bound."""
    tried = np.sort(np.append(unit * np.exp(np.linspace(np.log(0.55), np.log(1.8), 601)), unit))
    rss = np.asarray([_fit(_design(x, u), y)[1] for u in tried])
    dof = max(len(x) - 4, 1)
    bound = float(rss.min() * (1.0 + f_above(0.01, 1, dof) / dof))
    return float(tried[int(rss.argmin())]), tried[rss <= bound], bound


def fit_steps(x: Floats, y: Floats, unit: float) -> Steps:
    dof = len(x) - 3
    beta, rss, scale = _fit(_design(x, unit), y)
    line_rss = _fit(_design(x, None), y)[1]
    best, near, bound = periods(x, y, unit)
    best_rss = _fit(_design(x, best), y)[1]
    return Steps(float(beta[2]), float(t_above(0.025, dof)) * float(np.sqrt(rss / dof * scale[2])),
                 max(float(beta[1]), 0.0) * unit / float(x.max()),
                 f_tail((line_rss - rss) / (rss / dof), 1, dof), 1.0 - rss / line_rss, best,
                 (float(near.min()), float(near.max())), rss <= bound,
                 f_tail((line_rss - best_rss) / 2.0 / (best_rss / (dof - 1)), 2, dof - 1))


def _steps_verdict(s: Steps, most: Optional[float]) -> str:
    if most is not None:
        return SUPPORTED if s.step + s.reach < most else REFUTED if s.step - s.reach > most else UNDECIDED
    if s.p < 0.01 and s.step > s.reach and s.fits:
        return SUPPORTED
    if s.p_best < 0.001 and not s.fits:
        return REFUTED
    return REFUTED if s.step + s.reach < 0.05 * s.bytes_cost else UNDECIDED


def steps(points: Sequence[Point], claim: Mapping[str, Any]) -> Outcome:
    m, by, unit = measure(claim, str(claim["says"])), str(claim.get("by", "size")), float(claim["unit"])
    most = float(claim["absent_under_ns"]) if "absent_under_ns" in claim else None
    how = "the least" if m.name == "least" else "the median"
    method = (f"least squares of {how} of the repeats on size and on ceil(size/{unit:.0f}); F test of the step against a plain line; the period that fits "
              "best by a scan from 0.55 to 1.8 of it")
    x, c = curve(chosen(points, claim.get("where")), by, m)
    if len(x) < 12:
        return nothing(method)
    y = np.asarray([np.min(v) if m.name == "least" else np.median(v) for v in c])
    s = fit_steps(x, y, unit)
    text = (f"each further {unit:.0f} B cost a step of {units.time_text(s.step)} ± {units.time_text(s.reach)}, besides {units.time_text(s.bytes_cost)} for the bytes "
            f"themselves (p {'< 0.0001' if s.p < 1e-4 else f'= {s.p:.3g}'}, {s.share:.0%} of what a line leaves over); the period that fits best is "
            f"{s.best:.0f} B [{s.near[0]:.0f}, {s.near[1]:.0f}].")
    return Outcome(_steps_verdict(s, most), text, method)


# --- a line of known slope ---


def predictor(x: Floats, spec: Mapping[str, Any]) -> Floats:
    form = spec.get("form", "plain")
    forms: Dict[str, Any] = {
        "plain": lambda: x,
        "odds": lambda: (x / 100.0) / (1.0 - x / 100.0),  # expected repetitions when x % of the tries fail
        "parts": lambda: np.ceil(x / float(spec.get("unit", 1))) - float(spec.get("less", 0)),
    }
    if form not in forms:
        raise data("predictor", f"form {form!r} is none of {', '.join(forms)}")
    out: Floats = np.asarray(forms[str(form)](), dtype=np.float64)
    return out


def _lines(x: Floats, ys: Floats, w: Floats) -> Tuple[Floats, Floats]:
    """Weighted least squares for every row of ys: slopes and intercepts."""
    mx = (w * x).sum() / w.sum()
    my = (w * ys).sum(axis=-1) / w.sum()
    slope = (w * (x - mx) * (ys - my[..., None])).sum(axis=-1) / (w * (x - mx) ** 2).sum()
    return slope, my - slope * mx


def line(points: Sequence[Point], claim: Mapping[str, Any]) -> Outcome:
    m, by = measure(claim, str(claim["says"])), str(claim.get("by", "size"))
    low, high = (float(v) for v in claim["slope"])
    least = float(claim.get("r", 0.0))
    method = f"weighted least squares on {claim.get('predicts', by)}, slope's interval from 4000 redrawings within the scatter of the repeats; it must lie within {m.text(low)} to {m.text(high)}"
    x, c = curve(chosen(points, claim.get("where")), by, m, str(claim.get("unit", "repeat")))
    if len(x) < 3:
        return nothing(method)
    at = predictor(x, claim.get("predictor", {}))
    # Scatter in proportion to the figure, as times have; and no cell so sure that it alone rules.
    se, _ = spread([np.log(v) for v in c])
    mean = np.asarray([v.mean() for v in c])
    weight = 1.0 / (mean * np.maximum(se, 0.01)) ** 2
    slopes, _ = _lines(at, np.exp(draws([np.log(v) for v in c], DRAWS, SEED)), weight)
    slope, start = (float(v) for v in _lines(at, mean, weight))
    lo, hi = middle(slopes)
    r = pearson(at, mean)
    text = (f"{m.words} rises by {units.time_text(slope)} [{units.time_text(lo)}, {units.time_text(hi)}] for each, from {units.time_text(max(start, 0.0))}; {r.text()}.")
    fits = low <= lo and hi <= high and (r.r or 0.0) >= least
    misses = hi < low or lo > high or (r.hi is not None and r.hi < least)
    rows = [[x_text(by, x[i]), f"{at[i]:.3g}", m.text(float(mean[i])), m.text(start + slope * float(at[i]))] for i in range(len(x))]
    table = Table(f"{m.words} against the prediction", [by, str(claim.get("predicts", by)), "measured", "line"], rows, "")
    return Outcome(SUPPORTED if fits else REFUTED if misses else UNDECIDED, text, method, [table])


# --- flat, rising ---


def _level(a: Dict[float, Dict[str, float]], b: Optional[Dict[float, Dict[str, float]]]) -> Tuple[Floats, Floats]:
    """x, and plausible redrawings of the figure there; of two groups, of their difference within each repeat."""
    if b is None:
        xs = sorted(a)
        return np.asarray(xs), np.exp(draws([np.log(list(a[x].values())) for x in xs], DRAWS, SEED)) if xs else np.zeros((0, 0))
    xs = sorted(x for x in a if set(a[x]) & set(b.get(x, {})))
    gaps = [np.asarray([a[x][r] - b[x][r] for r in sorted(set(a[x]) & set(b[x]))]) for x in xs]
    return np.asarray(xs), draws(gaps, DRAWS, SEED) if xs else np.zeros((0, 0))


def trend(points: Sequence[Point], claim: Mapping[str, Any]) -> Outcome:
    """Of a figure, or of the difference between two groups (of - than): flat within a share of its level, or rising."""
    m, by, expect = measure(claim, str(claim["says"])), str(claim.get("by", "size")), str(claim["expect"])
    within = float(claim.get("within", 0.1))
    least = float(claim.get("least", within))
    what = f"rising: above 0, and not under +{least:.0%}" if expect == "rises" else f"flat: within ±{within:.0%}"
    method = f"change over the range, by least squares, against its mean level; interval from 4000 redrawings; {what}"
    here, unit = chosen(points, claim.get("where")), str(claim.get("unit", "repeat"))
    a, b = chosen(here, claim.get("of")), chosen(here, claim.get("than")) if claim.get("than") else None
    group = groups([*a, *(b or [])], unit, int(claim.get("units", 0)))
    x, level = _level(cells(a, by, m, unit, group), None if b is None else cells(b, by, m, unit, group))
    if len(x) < 2:
        return nothing(method)
    slopes, _ = _lines(x, level, np.ones_like(x))
    change = slopes * (x[-1] - x[0]) / np.abs(level.mean(axis=1))
    lo, hi = middle(change)
    verdicts = {"flat": (lo > -within and hi < within, lo > within or hi < -within), "rises": (lo > 0, hi < least)}
    yes, no = verdicts[expect]
    d = np.median(level, axis=0)
    what = "the difference" if b is not None else m.words
    text = (f"{what} is {m.text(float(d[0]))} at {x_text(by, x[0])} and {m.text(float(d[-1]))} at {x_text(by, x[-1])}: "
            f"it changes by {np.median(change):+.0%} [{lo:+.0%}, {hi:+.0%}] of its mean.")
    rows = [[x_text(by, x[i]), m.text(float(d[i])), " to ".join(m.text(v) for v in middle(level[:, i]))] for i in range(len(x))]
    return Outcome(SUPPORTED if yes else REFUTED if no else UNDECIDED, text, method, [Table(f"{what} ({m.words})", [by, "median", "95 %"], rows, "")])
