# SPDX-License-Identifier: GPL-2.0-only
"""From a plan and its data to the answer: first the data, then the tests, last the conclusion."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import Any, Dict, List, Sequence, Set

from .. import __version__
from ..errors import data
from .judge import judge_all
from ..measures import calm
from .outcome import Outcome, combine
from .plan import Plan
from ..findings import caveats
from ..load import check_machines, load
from ..model import Document, Point
from ..summary import grid
from ..tables import Table
from ..text import wrapped

WORDS = {"supported": "The data support the hypothesis.", "refuted": "The data refute the hypothesis.",
         "partly": "The hypothesis holds in part.", "not decided": "The data do not decide.",
         "no difference": "There is no difference beyond the margin that was stated."}
OWN = {"mode", "test", "size", "placement", "source", "repeat"}  # every point says these of itself
ENDINGS = (".ndjson", ".ndjson.gz")


@dataclass
class Answer:
    plan: Plan
    quick: bool
    documents: Dict[str, Document]
    outcomes: Sequence[Outcome]
    figures: List[str] = field(default_factory=list)
    left_out: List[str] = field(default_factory=list)  # of the figures

    @property
    def verdict(self) -> str:
        return combine([o.verdict for o in self.outcomes])

    @property
    def tables(self) -> List[Table]:
        """Each once, though several claims rest on it."""
        return list({(t.title, repr(t.rows)): t for o in self.outcomes for t in o.tables}.values())

    @property
    def remarks(self) -> List[str]:
        left_out = sum(len(d.points) - len(calm(d.points)) for d in self.documents.values())
        points = sum(len(d.points) for d in self.documents.values())
        note = [f"{left_out} of {points} points that another load disturbed were left out of the tests (not of the figures)"] if left_out else []
        return note + self.left_out + caveats(list(self.documents.values()))


def data_file(plan: Plan, directory: str, run: str) -> str:
    for ending in ENDINGS:
        path = os.path.join(directory, run + ending)
        if os.path.exists(path):
            return path
    raise data(directory, f"there is no {run}.ndjson", f"run ipcstall experiment {plan.path} first")


def answer(plan: Plan, directory: str, quick: bool) -> Answer:
    documents = {}
    for run in plan.runs:
        found = load(data_file(plan, directory, run.name))
        if not isinstance(found, Document):
            raise data(found.path, "holds a timeline, not a sweep")
        documents[run.name] = found
    check_machines(list(documents.values()), False)
    for d in documents.values():
        d.points = [_with_options(p, d, mentioned(plan)) for p in d.points]
    return Answer(plan, quick, documents, judge_all(plan, documents))


def mentioned(plan: Plan) -> Set[str]:
    """The variables that claims and figures choose points by."""
    parts = [c.get(k) for c in [*plan.claims, *plan.figures] for k in ("where", "of", "than")]
    return {name for part in parts if isinstance(part, dict) for name in part} - OWN


def _with_options(p: Point, d: Document, names: Set[str]) -> Point:
    """An option that one run varies and another holds fixed is a variable of both."""
    options = d.header.get("options")
    fixed = {k: v for k, v in options.items() if k in names and not isinstance(v, (dict, list))} if isinstance(options, dict) else {}
    return replace(p, vars={**fixed, **p.vars})


def to_json(a: Answer) -> Dict[str, Any]:
    first = next(iter(a.documents.values()))
    claims = [{"says": c["says"], "kind": c["kind"], "verdict": o.verdict, "finding": o.finding, "method": o.method}
              for c, o in zip(a.plan.claims, a.outcomes)]
    points = sum(len(d.points) for d in a.documents.values())
    return {"schema": "ipcstall.answer", "version": 1, "analysis": __version__, "experiment": a.plan.name, "title": a.plan.title, "quick": a.quick,
            "answer": a.verdict, "claims": claims, "figures": a.figures, "started": first.header.get("started"), "points": points,
            "machine": {k: first.machine.get(k) for k in ("cpu_model", "cpus_online", "kernel", "arch", "virtualisation")},
            "tool": first.header.get("tool"), "data": {n: {"file": os.path.basename(d.path), "sha256": d.digest} for n, d in a.documents.items()},
            "remarks": a.remarks}


def wrap(text: str, indent: str = "  ", then: str = "") -> List[str]:
    return [line for part in text.split("\n") for line in (wrapped(part, indent, then or indent) or [""])]


def _plain(markdown: str) -> str:
    """Paragraphs as single lines, lists as they are."""
    paragraphs = [" ".join(p.split()) if not p.lstrip().startswith(("*", "|", "-")) else p for p in markdown.split("\n\n")]
    return "\n".join(paragraphs)


def text(a: Answer) -> str:
    out = [a.plan.title, "", "Hypothesis", *wrap(_plain(a.plan.sections["Hypothesis"])), ""]
    out += ["Data" + (" (quick form)" if a.quick else "")]
    for t in a.tables:
        out += ["  " + t.title, *grid(t, "    ")] + (wrap(t.note, "    ") if t.note else []) + [""]
    if a.remarks:
        out += ["Beware", *[line for r in a.remarks for line in wrap(r, "  ! ", "    ")], ""]
    out += ["Tests"]
    for i, (c, o) in enumerate(zip(a.plan.claims, a.outcomes), 1):
        out += wrap(f"{i}. {c['says']}: {o.verdict.upper()}", "  ", "     ")
        out += wrap(o.finding[0].upper() + o.finding[1:], "     ") + wrap(f"Test: {o.method}.", "     ")
    out += ["", f"Answer: {a.verdict.upper()}. {WORDS[a.verdict]}"]
    return "\n".join(out) + "\n"

