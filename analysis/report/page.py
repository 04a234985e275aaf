# SPDX-License-Identifier: GPL-2.0-only
"""The words of a section: its headline, its few large figures, the card of a session, the command that repeats it."""

from __future__ import annotations

import re
import shlex
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from .. import units
from ..findings import main_cause
from ..model import Document, Point
from ..series import Pair, all_points
from ..stats.explain import Explanation
from ..text import clean, file_name
from .sets import Set

OUTCOMES = {"stalled": "STALLED", "waiting": "WAITING", "healthy": "HEALTHY"}
ROWS = (("where", "where"), ("why", "why"), ("try", "fix"), ("next", "next"))


def worst_dip(one: Set) -> Optional[Tuple[Pair, Explanation]]:
    """Of the curves with dips the one that loses most."""
    found = [(p, e) for p, e in one.found.explained if e.dip.any()]
    return max(found, key=lambda f: float(f[1].excess[f[1].dip].sum())) if found else None


def headline(one: Set) -> str:
    """The finding, in one sentence."""
    worst = worst_dip(one)
    if worst is not None:
        return _of_dips(*worst)
    card = best_card(one.documents)
    if card is not None and card["outcome"] != "HEALTHY":
        return f"{card['outcome']} {card['share']}: {card['head']}".replace(" :", ":") + "."
    if card is not None and all(d.kind == "trace" for d in one.documents):
        return f"HEALTHY: {card['head']}."
    telling = [v for v in one.found.verdict if not v.startswith("No dips")] or one.found.verdict
    return re.sub(r"^Ledger \([^)]*\): ", "", telling[0]) if telling else "There is nothing to conclude from these figures."


def _of_dips(pair: Pair, e: Explanation) -> str:
    lost = float(np.median(e.depth[e.dip]))
    text = f"{_label(pair)}{int(e.dip.sum())} of {len(e.size)} message sizes lose {units.percent_text(lost)} of their throughput"
    cause = _state(pair, e)
    if cause:
        text += f" to {cause}"
    return text + (f"; {e.fix} makes them {gain(e):.3g} times as fast." if e.fix else ".")


def _label(pair: Pair) -> str:
    """Nothing where there is one pair of curves alone, which the fix tells apart."""
    return f"{pair.label}: " if len(pair.base.key) > 1 else ""


def _state(pair: Pair, e: Explanation) -> str:
    """The state that most of the lost time was in; nothing where stall does not explain the loss."""
    share = e.overall_share()
    if share is None or share < 0.5:
        return ""
    return main_cause([p for x in e.size[e.dip] for p in pair.base.cells[float(x)]]).split(" ")[0].rstrip(";")


def gain(e: Explanation) -> float:
    return float(np.median(e.t[e.dip] / e.expected[e.dip]))


def tiles(one: Set) -> List[Tuple[str, str]]:
    """The three or four figures that tell the story."""
    worst = worst_dip(one)
    if worst is None:
        return []
    pair, e = worst
    out = [(f"{int(e.dip.sum())} of {len(e.size)}", "sizes in a dip")]
    if e.fix:
        out.append((f"{gain(e):.3g} ×", f"as fast there with {e.fix} (median)"))
    share = e.overall_share()
    if share is not None:
        out.append((units.percent_text(min(share, 1.0)), "of the lost time is stall"))
    state = _state(pair, e)
    return out + ([(state, "the state of that stall")] if state else [])


def best_card(documents: List[Document]) -> Optional[Dict[str, Any]]:
    """The card of the point that waits most, as the terminal shows it."""
    found = [p for p in all_points(documents) if p.ledger is not None and p.ledger.card.get("head") and p.ledger.outcome in OUTCOMES]
    return _card(max(found, key=_weight)) if found else None


def _weight(p: Point) -> Tuple[int, float]:
    assert p.ledger is not None
    share = p.ledger.card.get("share")
    rank = ("healthy", "waiting", "stalled").index(p.ledger.outcome)
    return rank, share if isinstance(share, (int, float)) else 0.0


def _card(p: Point) -> Dict[str, Any]:
    assert p.ledger is not None
    card = p.ledger.card
    share = card.get("share")
    rows = [(word, text, _mark(card, word)) for word, key in ROWS if isinstance(text := card.get(key), str) and text]
    also = [x for x in card.get("also") or [] if isinstance(x, str)]
    return {"outcome": OUTCOMES[p.ledger.outcome], "head": str(card["head"]), "rows": rows, "also": also,
            "share": units.percent_text(share) if isinstance(share, (int, float)) and share else "",
            "of": f"{p.test}{units.at_size(p.size)}" if p.size else ""}


def _mark(card: Any, word: str) -> str:
    text = card.get({"why": "surety", "try": "fix_state"}.get(word, ""), "")
    return text if isinstance(text, str) else ""


def title(one: Set) -> str:
    """What was measured, as a heading."""
    names = ", ".join(file_name(p) for p in one.paths)
    if not one.documents:
        return f"Time line: {names}"
    words = one.documents[0].header.get("command")
    if one.documents[0].kind == "trace" and isinstance(words, list):
        return f"Session of {' '.join(str(w) for w in words)[:80]}"
    modes = ", ".join(dict.fromkeys(p.mode for p in all_points(one.documents)))
    return {"sweep": f"Sweep: {modes}", "result": f"Benchmark: {modes}"}.get(one.documents[0].kind, "Traced session") + f" ({names})"


def commands(one: Set) -> List[str]:
    """What was typed, to be typed again."""
    out: List[str] = []
    for d in one.documents:
        words = d.header.get("invocation")
        if isinstance(words, list) and words and all(isinstance(w, str) for w in words):
            out.append(clean(" ".join(["sudo", *(shlex.quote(w) for w in words)])))
    return list(dict.fromkeys(out))
