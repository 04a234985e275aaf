# SPDX-License-Identifier: GPL-2.0-only
"""docs/EXPERIMENTS.md: hypothesis, answer, figure of every experiment whose results are kept."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Optional

from .. import fields
from ..decode import names_in, parse, read_bytes
from ..errors import data
from .plan import Plan, read_plan

HEAD = """# Experiments

Made by `python3 -m analysis experiments` from `docs/experiments/*.md` and the data kept in `docs/experiments/results/`. `ipcstall experiment NAME` runs one on
your machine and answers it there; `docs/experiments/README.md` describes the files. The answers below come from these machines:
"""

# What an answer must have to stand in the table.
WHOLE, CLAIM = ("answer", "machine", "points", "quick", "claims", "figures", "remarks"), ("says", "finding", "verdict")
AGAIN = "answer the experiment again"


def index(directory: str) -> str:
    plans = [read_plan(os.path.join(directory, f)) for f in names_in(directory) if f.endswith(".md") and f[0].islower()]
    if not plans:
        raise data(directory, "there is no experiment (a .md file) in it", "name a directory such as docs/experiments")
    found = [(p, a) for p in plans if (a := _answer(directory, p)) is not None]
    if not found:
        raise data(directory, f"there is no results/NAME/answer.json in it for any of its {len(plans)} experiments",
                   f"answer one with python3 -m analysis experiment FILE --data DIR --keep {os.path.join(directory, 'results')}")
    out = [HEAD.rstrip(), "", *_machines([a for _, a in found]), "", "| experiment | hypothesis | answer |", "|---|---|---|"]
    for plan, a in found:
        out.append(f"| [{plan.title}](#{plan.name}) (seed {plan.seed}) | {_cell(plan.sections['Hypothesis'])} | **{a['answer']}** |")
    for plan, a in found:
        out += _section(plan, a)
    return "\n".join(out) + "\n"


def _answer(directory: str, plan: Plan) -> Optional[fields.Object]:
    path = os.path.join(directory, "results", plan.name, "answer.json")
    return _checked(fields.obj(parse(read_bytes(path), path), path), path) if os.path.exists(path) else None


def _checked(a: fields.Object, path: str) -> fields.Object:
    missing = [k for k in WHOLE if a.get(k) is None]
    if missing:
        raise data(path, f"is no answer of an experiment: it has no '{missing[0]}'", AGAIN)
    fields.text(a, "answer", path)
    fields.sub(a, "machine", path)
    fields.texts(a, "figures", path)
    fields.texts(a, "remarks", path)
    for i, c in enumerate(fields.array(a, "claims", path)):
        at = f"{path}: claims[{i}]"
        if not all(fields.text(fields.obj(c, at), k, at) for k in CLAIM):
            raise data(at, f"a claim needs {', '.join(CLAIM)}", AGAIN)
    return a


def _machines(answers: List[Dict[str, Any]]) -> List[str]:
    seen = {json.dumps(a["machine"], sort_keys=True): a["machine"] for a in answers}
    return [f"* {m.get('cpu_model')}, {m.get('cpus_online')} CPUs, Linux {m.get('kernel')}, {m.get('virtualisation') or 'no virtualisation known'}" for m in seen.values()]


def _cell(text: str) -> str:
    return " ".join(text.split("\n\n")[0].split()).replace("|", "\\|")


def _section(plan: Plan, a: Dict[str, Any]) -> List[str]:
    day = str(a["started"])[:10] if a.get("started") else "date unknown"
    out = ["", f'<a id="{plan.name}"></a>', f"## {plan.title}", "", f"`ipcstall experiment {plan.name}` ([file](experiments/{plan.name}.md), "
           f"[data](experiments/results/{plan.name}/)): {a['points']} points{', quick form' if a['quick'] else ''}, {day}.", ""]
    for f in a["figures"]:
        out.append(f"![{plan.title}](experiments/results/{plan.name}/{f})")
    out += ["", "| claim | finding | answer |", "|---|---|---|"]
    out += [f"| {_cell(c['says'])} | {_cell(c['finding'])} | {c['verdict']} |" for c in a["claims"]]
    if a["remarks"]:
        out += ["", "Beware: " + " ".join(r.rstrip(".") + "." for r in a["remarks"])]
    return out
