# SPDX-License-Identifier: GPL-2.0-only
"""The comb: dips at the sizes a rule foretells and at no others, deep, explained by stall, and gone with the fix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from .. import units
from ..errors import data
from ..measures import chosen, disturbed
from .outcome import Outcome, REFUTED, SUPPORTED, UNDECIDED
from ..model import Floats, Point
from ..series import Pair, Series, group, pair_up, parse_fix
from ..stats.dips import Bools, without_fix
from ..stats.explain import Explanation, explain
from ..stats.hist import mean_of_quickest
from ..tables import dips_table


def body_and_trailer(size: Floats, spec: Mapping[str, Any]) -> Bools:
    """The body is written first, then the trailer. A body that ends in a partial segment leaves a small segment out; when
    its segments are odd in number the receiver owes no ACK at once, and the trailer waits for the delayed one."""
    body, mss = size - float(spec["trailer"]), float(spec["mss"])
    found: Bools = (body % mss != 0) & (np.ceil(body / mss) % 2 == 1)
    return found


RULES = {"body-and-trailer": body_and_trailer}


def comb(points: Sequence[Point], claim: Mapping[str, Any]) -> Outcome:
    method = ("one-sided t test of the log ratio to the fixed run at every size, Holm at 1 %; correlation with a 95 % bootstrap interval; "
              "share: stall over excess time; the fixed curve by the quickest nine of ten messages; a failing check of points that another load disturbed does not count")
    here = chosen(points, claim.get("where"))
    pairs = [p for p in pair_up(group(here), parse_fix(str(claim["fix"]))) if p.fixed is not None]
    found = [(p, e) for p in pairs if (e := explain(p)) is not None]
    if len(found) != 1:
        return Outcome(UNDECIDED, f"{len(found)} pairs of curves with and without {claim['fix']}; one is needed.", method)
    pair, e = found[0]
    if len(e.size) < int(claim.get("sizes", 25)):
        return Outcome(UNDECIDED, f"{len(e.size)} sizes, and {claim.get('sizes', 25)} are needed.", method)
    checks = _checks(pair, e, claim)
    text = "; ".join(c.text for c in checks if c.ok) or "nothing came out as foretold"
    wrong = [c for c in checks if not c.ok]
    text += "".join(f". But: {'; '.join(c.text for c in wrong)}" for _ in wrong[:1])
    busy = wrong and all(_busy(pair, e, c) for c in wrong)
    text += ". Other load disturbed those points: measure on a quiet machine" if busy else ""
    return Outcome(UNDECIDED if busy else REFUTED if wrong else SUPPORTED, text + ".", method, [dips_table(e)] if e.dip.any() else [])


@dataclass(frozen=True)
class Check:
    ok: bool
    text: str
    at: Bools  # the sizes it rests on


BUSY = 0.1


def _busy(pair: Pair, e: Explanation, check: Check) -> bool:
    """Whether at least one in ten of the points a failing check rests on was disturbed."""
    assert pair.fixed is not None
    cells = [p for x in e.size[check.at] for s in (pair.base, pair.fixed) for p in s.cells.get(float(x), [])]
    return sum(disturbed(p) for p in cells) >= BUSY * max(len(cells), 1)


def _checks(pair: Pair, e: Explanation, claim: Mapping[str, Any]) -> List[Check]:
    rule = claim.get("rule", {})
    if rule.get("name") not in RULES:
        raise data("comb", f"rule {rule.get('name')!r} is none of {', '.join(RULES)}")
    foretold = RULES[rule["name"]](e.size, rule)
    out = [_elsewhere(pair, e, foretold, float(claim.get("elsewhere", 0.3))), _flat(pair, e)]
    return [*_there(e, foretold, claim), *out] if foretold.any() else out


def _there(e: Explanation, foretold: Bools, claim: Mapping[str, Any]) -> List[Check]:
    """What must hold at the sizes foretold."""
    depth, share = float(claim["depth"]), float(claim["share"])
    missing, shallow = e.size[foretold & ~e.dip], e.depth[foretold]
    known, shares, explained = _explained(e, foretold & e.dip)
    return [
        Check(not len(missing), f"foretold but in no dip: {_list(missing)}" if len(missing) else f"of {len(e.size)} sizes the {int(foretold.sum())} foretold are in a dip", foretold & ~e.dip),
        Check(bool(shallow.min() >= depth), f"they lose {units.percent_text(shallow.min())} to {units.percent_text(shallow.max())} of the throughput (foretold: at least {depth:.0%})", foretold & (e.depth < depth)),
        Check((e.pearson.r or 0.0) >= float(claim["r"]), f"stall per message and excess time correlate at {e.pearson.text()} (foretold: at least {claim['r']})", np.ones(len(e.size), dtype=bool)),
        Check(known and bool(shares.min() >= share), f"{explained} (foretold: at least {share:.0%})", foretold & ~(e.share >= share)),
    ]


def _explained(e: Explanation, dips: Bools) -> Tuple[bool, Floats, str]:
    """Whether the share is known of each dip, and in words. Where there is no dip nothing was lost that could be explained."""
    shares = e.share[dips]
    if not len(shares):
        return False, shares, "nothing was lost that stall could explain"
    if not np.isfinite(shares).all():
        return False, shares, "stall was not observed in all of them"
    return True, shares, f"stall explains {units.percent_text(shares.min())} to {units.percent_text(shares.max())} of each"


def _list(sizes: Floats) -> str:
    return ", ".join(units.bytes_text(s) for s in sizes)


def _least(s: Series, e: Explanation) -> Floats:
    """The least time per message of the repeats: what is lost in every one of them."""
    return np.asarray([s.repeats(float(x), lambda p: p.ns_per_message).min() for x in e.size])


LIKE_A_DIP = 0.5  # one stray stall in forty messages costs small ones half their throughput, and is a fifth of what a dip has


def _elsewhere(pair: Pair, e: Explanation, foretold: Bools, under: float) -> Check:
    """Single messages may stall at any size, where the pairs of segments were counted from another start (docs/KERNEL_NOTES.md):
    what does not lose `under` in every repeat, or not half the time per message that a size foretold loses, is told, if it is a
    hundredth, and is no dip."""
    least = _least(pair.base, e)
    real = 1.0 - e.expected / least >= under
    if foretold.any():
        real &= least - e.expected >= LIKE_A_DIP * float(np.median(e.excess[foretold]))
    dips, slight = ~foretold & e.dip & real, ~foretold & e.dip & ~real & (e.depth >= 0.01)
    note = f" (a few messages stall at {', '.join(f'{units.bytes_text(s)}: −{d:.0%}' for s, d in zip(e.size[slight], e.depth[slight]))})" if slight.any() else ""
    return Check(not dips.any(), (f"in a dip though not foretold: {_list(e.size[dips])}" if dips.any() else "no other size is") + note, dips)


FLAT = 0.1  # steps of a packet's header are real, and no dips
QUICKEST = 0.9


def _unstrayed(p: Point) -> Optional[float]:
    """Time per message of all but the slowest tenth: Nagle's algorithm holds up one message in a few; a CPU that is taken away for a moment
    holds up a few of a point, and forty messages at 100 Mbit/s are over in 10 ms, too short for anything else to tell of it."""
    h = p.histogram
    return p.ns_per_message if h is None or h.total * (1.0 - QUICKEST) < 1.0 else mean_of_quickest(h, QUICKEST)


def _flat(pair: Pair, e: Explanation) -> Check:
    """The fixed curve has no dips of its own: none that loses a tenth in every repeat."""
    assert pair.fixed is not None
    least = np.asarray([pair.fixed.repeats(float(x), _unstrayed).min() for x in e.size])
    d = without_fix(e.size, least, [least[i: i + 1] for i in range(len(least))])
    dips = d.dip & (1.0 - d.expected / least >= FLAT)
    return Check(not dips.any(), f"with {e.fix} there are dips at {_list(e.size[dips])}" if dips.any() else f"with {e.fix} there is no dip", dips)
