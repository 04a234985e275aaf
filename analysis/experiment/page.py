# SPDX-License-Identifier: GPL-2.0-only
"""The report of an experiment: question, data, tests, conclusion, in this order; then method, machine, raw data."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Tuple

from .. import __version__
from ..errors import data
from .answer import Answer, WORDS
from ..measures import chosen
from ..figures import KINDS
from ..figures.render import to_bytes
from ..figures.request import Request
from ..model import Document
from ..output import write
from ..report.build import header_of, file_of, inline, render
from ..report.method import METHOD

REQUEST_KEYS = ("title", "fix", "x", "y", "test", "marks", "over")


def requests(a: Answer) -> List[Tuple[str, str, Request]]:
    """(name, caption, what to draw) of each figure the plan asks for."""
    out = []
    for i, f in enumerate(a.plan.figures, 1):
        kind = f.get("kind")
        if kind not in KINDS:
            raise data(a.plan.path, f"figure {kind!r} is none of {', '.join(KINDS)}")
        docs = [_part(d, f.get("where")) for name, d in a.documents.items() if f.get("run") in (None, name)]
        request = Request([d for d in docs if d.points], **{k: f[k] for k in REQUEST_KEYS if k in f})
        out.append((f"figure-{i}-{kind}", str(f.get("caption", KINDS[str(kind)].help)), request))
    return out


def _part(d: Document, where: Any) -> Document:
    return Document(d.path, d.kind, d.version, d.header, chosen(d.points, where), d.remarks, d.warnings, d.digest, d.length)


def draw(a: Answer, directory: str, forms: Tuple[str, ...] = ("svg", "png"), dpi: float = 0.0) -> List[Dict[str, str]]:
    """Draws each figure once, writes it in each form, returns what the page shows."""
    from .. import style

    shown = []
    for name, caption, request in requests(a):
        figure = KINDS[name.split("-", 2)[2]].draw(request)
        a.left_out += [f"{name}: {r}" for r in request.remarks]
        for form in forms:
            write(os.path.join(directory, f"{name}.{form}"), to_bytes(figure, form, dpi, keep=True))
            a.figures.append(f"{name}.{form}")
        svg = to_bytes(figure, "svg", keep=True).decode()
        style.close(figure)
        caption = caption[0].upper() + caption[1:].rstrip(".")
        shown.append({"name": name, "caption": caption, "svg": inline(svg, name + "-", caption)})
    return shown


def page(a: Answer, pictures: List[Dict[str, str]], output: str) -> bytes:
    claims = [{"says": c["says"], "verdict": o.verdict, "finding": o.finding[0].upper() + o.finding[1:], "method": o.method} for c, o in zip(a.plan.claims, a.outcomes)]
    sections = [(k, [" ".join(p.split()) for p in v.split("\n\n")]) for k, v in a.plan.sections.items()]
    commands = [f"ipcstall {r.command} {r.quick if a.quick else r.full}" for r in a.plan.runs]
    return render("experiment.html.j2", title=a.plan.title, sections=sections, commands=commands, quick=a.quick, caveats=a.remarks, pictures=pictures,
                  tables=a.tables, claims=claims, verdict=a.verdict, words=WORDS[a.verdict], method=METHOD,
                  headers=[header_of(d.path, d.header) for d in a.documents.values()],
                  files=[file_of(d.path, output) for d in a.documents.values()], version=__version__)
