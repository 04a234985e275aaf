# SPDX-License-Identifier: GPL-2.0-only
"""A seed's rows on this machine: what the paper said, and the figure beside it. Its claims are those of the experiments that are its parts."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from .. import __version__, fields, units
from ..decode import parse, read_bytes
from ..errors import NOISY, data
from ..figures import KINDS
from ..figures.render import to_bytes
from ..figures.request import Request
from ..load import load, load_timeline
from ..measures import chosen, measure
from ..model import Document, Point
from ..output import write
from ..report.build import file_of, header_of, inline, render
from ..report.method import METHOD
from ..summary import grid
from ..tables import Table
from .answer import Answer, data_file, wrap
from .outcome import UNDECIDED
from .page import draw
from .plan import Plan

FORMS: Dict[str, Callable[[Any], str]] = {"time": units.time_text, "rate": units.rate_text, "share": units.percent_text, "text": lambda v: str(v), "yes": lambda v: "yes" if v else "no",
         "hz": lambda v: f"{float(v) / 1e9:.3f} GHz", "times": lambda v: f"{float(v):.2f} times", "count": lambda v: f"{float(v):.0f}"}
STEP = re.compile(r"([^.\[\]]+)(?:\[(\w+)=([^\]]+)\])?\.?")
MISSING = "-"


@dataclass
class Found:
    """What lies in the directory of a seed that was carried out."""

    plan: Plan
    directory: str
    documents: Dict[str, Document]
    answers: Dict[str, Optional[fields.Object]]  # of the parts; None: it was not carried out
    files: Dict[str, Any] = field(default_factory=dict)

    def points(self, name: str) -> List[Point]:
        """Of a run here, or PART/RUN."""
        if name not in self.documents:
            path = os.path.join(self.directory, name + ".ndjson")
            if not os.path.exists(path):
                return []
            found = load(path)
            self.documents[name] = found if isinstance(found, Document) else Document(path, "sweep", 1, {}, [])
        return self.documents[name].points

    def file(self, name: str) -> Any:
        path = os.path.join(self.directory, name + ".json")
        if name not in self.files:
            self.files[name] = parse(read_bytes(path), path) if os.path.exists(path) else None
        return self.files[name]


def collect(plan: Plan, directory: str) -> Found:
    documents = {}
    for run in plan.runs:
        if not run.command.startswith("sweep "):
            continue
        found = load(data_file(plan, directory, run.name))
        if not isinstance(found, Document):
            raise data(found.path, "holds a timeline, not a sweep")
        documents[run.name] = found
    return Found(plan, directory, documents, {p: _answer(os.path.join(directory, p, "answer.json")) for p in plan.parts})


def _answer(path: str) -> Optional[fields.Object]:
    return fields.obj(parse(read_bytes(path), path), path) if os.path.exists(path) else None


# --- a figure ---


def walk(value: Any, path: str) -> Any:
    """clocks[name=rdtscp].step_ns"""
    for name, key, wanted in STEP.findall(path):
        value = value.get(name) if isinstance(value, dict) else None
        if key and isinstance(value, list):
            value = next((v for v in value if isinstance(v, dict) and str(v.get(key)) == wanted), None)
        elif name and isinstance(value, list):
            value = value[0] if value else None
    return value


def figure(found: Found, item: Mapping[str, Any]) -> str:
    if "answer" in item:
        return _of_part(found, str(item["answer"]), item.get("claim"))
    if "file" in item:
        value = walk(found.file(str(item["file"])), str(item["at"]))
        text = MISSING if value is None else FORMS[str(item.get("as", "text"))](value)
    else:
        text = _of_points(found.points(str(item["run"])), item)
    return f"{item['says']}: {text}" if "says" in item else text


def _of_points(points: Sequence[Point], item: Mapping[str, Any]) -> str:
    m = measure(item, "rows")
    values = [v for p in chosen(points, item.get("where")) if (v := m.get(p)) is not None]
    if not values:
        return MISSING
    if item.get("pick") == "range":
        return f"{m.text(min(values))} to {m.text(max(values))}"
    pick = item.get("pick")
    return m.text(min(values) if pick == "least" else max(values) if pick == "most" else float(np.median(values)))


def _of_part(found: Found, name: str, claim: Any) -> str:
    a = found.answers.get(name)
    if a is None:
        return f"{name}: not carried out here"
    claims = fields.array(a, "claims", name)
    if claim is None:
        return f"{name}: {a['answer']}"
    one = claims[int(claim)] if int(claim) < len(claims) else {}
    return f"{one.get('says')}: {one.get('verdict')}. {str(one.get('finding'))[:1].upper()}{str(one.get('finding'))[1:]}"


def rows(found: Found) -> List[Dict[str, Any]]:
    return [{"row": r.get("row"), "what": r.get("what"), "paper": r.get("paper"), "here": [figure(found, h) for h in r.get("here", [])]} for r in found.plan.rows]


# --- ranks ---


def ranks(found: Found, spec: Mapping[str, Any]) -> Table:
    """Groups by their median figure at each size, the best first; beside them the paper's order, and how many of its pairs stand so here."""
    m = measure(spec, "tables")
    body, sizes = [], [int(s) for s in spec["sizes"]]
    for size, said in zip(sizes, spec["paper"]):
        values = _groups(found, spec, m.get, size)
        order = sorted(values, key=lambda n: values[n], reverse=m.more_is_better)
        agree, pairs = _pairs(order, said)
        body.append([units.size_text(size), *[f"{n} {m.text(values[n])}" for n in order], *[MISSING] * (len(spec["groups"]) - len(order)), " < ".join(said), f"{agree} of {pairs}"])
    places = [str(i + 1) for i in range(len(spec["groups"]))]
    return Table(str(spec["title"]), ["size", *places, "the paper's order", "pairs as there"], body, "Medians over the repeats, the best first.")


def _groups(found: Found, spec: Mapping[str, Any], get: Any, size: int) -> Dict[str, float]:
    out = {}
    for name, g in spec["groups"].items():
        values = [v for p in chosen(found.points(str(g["run"])), {"size": size}, spec.get("where"), g.get("where")) if (v := get(p)) is not None]
        if values:
            out[name] = float(np.median(values))
    return out


def _pairs(order: Sequence[str], said: Sequence[str]) -> Tuple[int, int]:
    at = {n: i for i, n in enumerate(order)}
    both = [(a, b) for i, a in enumerate(said) for b in said[i + 1:] if a in at and b in at]
    return sum(at[a] < at[b] for a, b in both), len(both)


# --- the report ---


def claims(found: Found) -> List[Dict[str, Any]]:
    out = []
    for name, a in found.answers.items():
        out += [{**fields.obj(c, name), "part": name} for c in (fields.array(a, "claims", name) if a is not None else [])]
    return out


def pictures(found: Found, own: List[Dict[str, str]]) -> List[Dict[str, str]]:
    out = list(own)
    for name, a in found.answers.items():
        for f in fields.texts(a, "figures", name) if a is not None else []:
            path = os.path.join(found.directory, name, f)
            if f.endswith(".svg") and os.path.exists(path):
                svg = read_bytes(path).decode("utf-8", "replace")
                caption = f"{a['title']} ({KINDS[f[:-4].split('-', 2)[2]].help})" if a is not None else name
                out.append({"name": f"{name}-{f[:-4]}", "caption": caption, "svg": inline(svg, f"{name}-{f[:-4]}-", caption)})
    return out


def waterfalls(plan: Plan, directory: str) -> List[Dict[str, str]]:
    """Of each benchmark that left a timeline: where its messages' time went, layer by layer."""
    out = []
    for run in plan.runs:
        path = os.path.join(directory, run.name + ".timeline")
        if os.path.exists(path):
            caption = f"Where a message's time goes, layer by layer ({run.name})"
            svg = to_bytes(KINDS["waterfall"].draw(Request(timeline=load_timeline(path))), "svg", keep=True)
            write(os.path.join(directory, f"{run.name}-waterfall.svg"), svg)
            out.append({"name": f"{run.name}-waterfall", "caption": caption, "svg": inline(svg.decode(), f"{run.name}-waterfall-", caption)})
    return out


def seed(plan: Plan, directory: str, quick: bool) -> int:
    found = collect(plan, directory)
    carried = Answer(plan, quick, dict(found.documents), [])
    own = draw(carried, directory) + waterfalls(plan, directory)
    table, ranked, said = rows(found), [ranks(found, t) for t in plan.tables], claims(found)
    missing = [p for p, a in found.answers.items() if a is None]
    undecided = [c for c in said if c["verdict"] == UNDECIDED]
    report = os.path.join(directory, "report.html")
    write(report, render("seed.html.j2", title=plan.title, quick=quick, sections=[(k, [" ".join(p.split()) for p in v.split("\n\n")]) for k, v in plan.sections.items()],
                         rows=table, tables=ranked, claims=said, missing=missing, pictures=pictures(found, own), caveats=carried.left_out, method=METHOD,
                         headers=[header_of(d.path, d.header) for d in found.documents.values()],
                         files=[file_of(d.path, report) for d in found.documents.values()], version=__version__))
    write(os.path.join(directory, "answer.json"), (json.dumps(_json(found, quick, table, ranked, said, carried.figures), indent=1, ensure_ascii=False) + "\n").encode())
    write("-", _text(found, table, ranked, said, missing, report).encode())
    return NOISY if undecided else 0


def _json(found: Found, quick: bool, table: Sequence[Mapping[str, Any]], ranked: Sequence[Table], said: Sequence[Mapping[str, Any]], figures: Sequence[str]) -> Dict[str, Any]:
    return {"schema": "ipcstall.answer", "version": 1, "analysis": __version__, "experiment": found.plan.name, "title": found.plan.title, "quick": quick,
            "rows": list(table), "tables": [{"title": t.title, "columns": t.columns, "rows": t.rows} for t in ranked], "claims": list(said), "figures": list(figures),
            "parts": {n: None if a is None else a["answer"] for n, a in found.answers.items()}}


def _text(found: Found, table: Sequence[Mapping[str, Any]], ranked: Sequence[Table], said: Sequence[Mapping[str, Any]], missing: Sequence[str], report: str) -> str:
    out = [found.plan.title, ""]
    for r in table:
        out += wrap(f"{r['row']}  {r['what']}", "", "      ") + wrap(f"the paper said: {r['paper']}", "      ")
        out += [line for h in r["here"] for line in wrap(f"here it is: {h}", "      ", "        ")]
    for t in ranked:
        out += ["", t.title, *grid(t, "    ")]
    out += ["", "Claims"] + [line for c in said for line in wrap(f"{c['verdict'].upper()}: {c['says']} ({c['part']})", "  ", "    ")]
    out += [f"  not carried out: {p}" for p in missing]
    return "\n".join([*out, "", f"Report: {report}"]) + "\n"
