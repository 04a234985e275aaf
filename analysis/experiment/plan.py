# SPDX-License-Identifier: GPL-2.0-only
"""An experiment file: Markdown whose sections are for people and whose one json block is for the program."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Any, Dict, List, Sequence

from .. import fields
from ..decode import parse, read_bytes
from ..errors import AnalysisError, VERSION, data
from ..text import clean_lines
from .claims import KINDS
from .compare import PICKS

SCHEMA, SCHEMA_VERSION = "ipcstall.experiment", 1
SECTIONS = ("Hypothesis", "Variables", "Apparatus")
SEE = "see docs/experiments/README.md"


@dataclass(frozen=True)
class Run:
    name: str
    command: str
    full: str
    quick: str
    repeats: Dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    path: str
    title: str
    sections: Dict[str, str]
    seed: str
    runs: Sequence[Run]
    claims: Sequence[Dict[str, Any]]
    figures: Sequence[Dict[str, Any]]
    parts: Sequence[str] = ()  # other experiments, each with an answer of its own
    rows: Sequence[Dict[str, Any]] = ()  # of a seed: what the paper said, and where the figure beside it comes from
    tables: Sequence[Dict[str, Any]] = ()

    @property
    def name(self) -> str:
        return os.path.splitext(os.path.basename(self.path))[0]


def read_plan(path: str) -> Plan:
    text = clean_lines(read_bytes(path).decode("utf-8", "replace"))
    block = re.search(r"^```json\n(.*?)^```", text, re.S | re.M)
    title = re.match(r"# (.+)", text)
    if block is None or title is None:
        raise data(path, "has no title or no ```json block", SEE)
    top = fields.obj(parse(block.group(1).encode(), path), path)
    _check(top, path)
    sections = _sections(text[: block.start()])
    missing = [s for s in SECTIONS if s not in sections]
    if missing:
        raise data(path, f"has no section '{missing[0]}'", SEE)
    runs = [_run(r, f"{path}: runs[{i}]") for i, r in enumerate(fields.array(top, "runs", path))]
    claims = [_claim(c, f"{path}: claims[{i}]") for i, c in enumerate(fields.array(top, "claims", path))]
    figures = [fields.obj(f, f"{path}: figures[{i}]") for i, f in enumerate(fields.array(top, "figures", path))]
    rows = [fields.obj(r, f"{path}: rows[{i}]") for i, r in enumerate(fields.array(top, "rows", path))] if "rows" in top else []
    parts = fields.texts(top, "parts", path) if "parts" in top else []
    tables = [fields.obj(t, f"{path}: tables[{i}]") for i, t in enumerate(fields.array(top, "tables", path))] if "tables" in top else []
    if not rows and (not runs or not claims):
        raise data(path, "has no runs or no claims", SEE)
    return Plan(path, title.group(1).strip(), sections, fields.text(top, "seed", path), runs, claims, figures, parts, rows, tables)


def _check(top: fields.Object, path: str) -> None:
    if top.get("schema") != SCHEMA:
        raise data(path, f"the schema is {top.get('schema')!r}, not {SCHEMA}", SEE)
    if top.get("version") != SCHEMA_VERSION:
        raise AnalysisError(VERSION, f"{path}: {SCHEMA} version {top.get('version')!r}, and this reads version {SCHEMA_VERSION}; "
                            "take the file that came with this ipcstall")


def _sections(text: str) -> Dict[str, str]:
    parts: List[str] = re.split(r"^## (.+)$", text, flags=re.M)
    return {parts[i].strip(): parts[i + 1].strip() for i in range(1, len(parts) - 1, 2)}


def _run(item: Any, where: str) -> Run:
    o = fields.obj(item, where)
    found = {k: fields.text(o, k, where) for k in ("name", "command", "full", "quick")}
    if not found["name"] or not found["command"]:
        raise data(where, "a run needs a name and a command", SEE)
    return Run(**found, repeats=fields.sub(o, "repeats", where) or {})


def _claim(item: Any, where: str) -> Dict[str, Any]:
    o = fields.obj(item, where)
    kind = o.get("kind")
    if kind not in KINDS:
        raise data(where, f"kind {kind!r} is none of {', '.join(KINDS)}", SEE)
    if not fields.text(o, "says", where):
        raise data(where, "a claim needs a sentence, 'says'", SEE)
    if o.get("pick", "best") not in PICKS:
        raise data(where, f"pick {o.get('pick')!r} is none of {', '.join(PICKS)}", SEE)
    return o
