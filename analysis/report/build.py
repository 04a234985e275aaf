# SPDX-License-Identifier: GPL-2.0-only
"""One HTML file that needs nothing else: the finding first, a section for each set of files, then method, machine, options, raw data."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import zlib
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple
from urllib.parse import quote

from .. import __version__, tables
from ..decode import read_bytes
from ..errors import AnalysisError
from ..figures import KINDS
from ..figures.render import to_bytes
from ..figures.request import Request
from ..findings import Findings, caveats, find, timeline_findings
from ..load import check_machines, load
from ..model import Document, Timeline
from .method import METHOD
from .page import best_card, commands, headline, tiles, title, worst_dip
from .sets import Set, split
from .view import charts, session, time_line, worst_message
from ..series import all_points, readable, variables, varying
from ..text import file_name
from ..units import TIME_OPTIONS, time_text

EMBED_LIMIT = 2 << 20
HERE = os.path.dirname(os.path.abspath(__file__))


@dataclass
class Picture:
    name: str
    caption: str
    svg: str


def build(paths: Sequence[str], request: Request, mixed: bool, output: str, copies: bool = False) -> bytes:
    loaded = [load(p) for p in paths]
    documents = [x for x in loaded if isinstance(x, Document)]
    lines = [x for x in loaded if isinstance(x, Timeline)]
    check_machines(documents, mixed)
    request.documents = documents
    sets = _judged(split(loaded), request.fix)
    beware = caveats(documents) + [f"{file_name(line.path)}: {r}" for line in lines for r in line.remarks]
    shown = [_section(i, one, request) for i, one in enumerate(sets)]
    views = json.dumps({"sets": [s.pop("views") for s in shown]}, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return render(
        "report.html.j2", title=request.title or _title(documents, lines), sections=shown, caveats=beware, method=METHOD,
        headers=[header_of(x.path, x.header) for x in loaded], files=[{**f, "href": ""} if copies and (f := file_of(p, output))["data"] else file_of(p, output) for p in paths], version=__version__,
        views=_inert(views), script=_script(),
    )


def _judged(sets: List[Set], fix: Optional[str]) -> List[Set]:
    """What each set says, the most telling first. A fix is looked for where its variable is."""
    name = (fix or "").partition("=")[0]
    has = [one for one in sets if any(name in p.vars for p in all_points(one.documents))]
    for one in sets:
        if one.documents:
            one.found = find(one.documents, fix if not has or one in has else None)
        if one.line is not None:
            one.found.verdict += timeline_findings(one.line)
    return sorted(sets, key=lambda one: worst_dip(one) is None)


def _section(number: int, one: Set, request: Request) -> Dict[str, Any]:
    fix = request.fix if one.found.explained and any(p.fixed is not None for p, _ in one.found.explained) else None
    drawn = charts(one, fix) if one.documents else []
    whole = session(one.documents)
    line = time_line(one.line) if one.line is not None else None
    views = drawn + [v for v in (whole, line) if v is not None]
    first = headline(one)
    return {
        "title": title(one), "headline": first, "more": [v for v in one.found.verdict if not v.endswith(first)], "tiles": tiles(one),
        "card": best_card(one.documents) if worst_dip(one) is None else None, "views": views,
        "shapes": [{"kind": v["kind"], "label": v.get("label", ""), "caption": _caption(v)} for v in views],
        "worst": worst_message(one.line) if one.line is not None else None, "commands": commands(one),
        "pictures": pictures(one.documents, [one.line] if one.line is not None else [], request, one.found, f"s{number}-"),
        "tables": _tables(one.documents, one.found),
    }


CAPTIONS = {
    "ledgers": "Every nanosecond of an endpoint's life is in one state; striped states are stall.",
    "timeline": "What each end was doing. Drag over the strip to choose a part; arrow keys move it, - and + show more or less.",
}


def _caption(view: Dict[str, Any]) -> str:
    if view["kind"] != "curves":
        return CAPTIONS[view["kind"]]
    if len(view["x"]) < 2:
        return "Where the time went, and the latencies."
    return f"{view['words'][0].upper()}{view['words'][1:]} against {view['across']}. Hover for values; click a {_thing(view)} to see where its time went."


def _thing(view: Dict[str, Any]) -> str:
    return "size" if view["across"] == "message size" else "point"


def _inert(text: str) -> str:
    """JSON to stand in a script element, which nothing in it can end."""
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _script() -> Dict[str, str]:
    """The page's script, and the hash by which alone the page lets it run."""
    with open(os.path.join(HERE, "report.js"), encoding="utf-8") as f:
        text = f.read()
    text = f"\n{text}"
    return {"text": text, "hash": base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}


def _title(documents: Sequence[Document], lines: Sequence[Timeline]) -> str:
    modes = list(dict.fromkeys(p.mode for d in documents for p in d.points if p.mode != "trace"))
    if modes:
        return f"ipcstall: {', '.join(modes)}"
    return "ipcstall: traced session" if documents else f"ipcstall: time line of {', '.join(file_name(x.path) for x in lines)}"


def wanted(documents: Sequence[Document], found: Findings) -> List[str]:
    """Which figures these points have something to say in."""
    points = all_points(documents)
    sizes = len({p.size for p in points if p.size is not None})
    numeric = [n for n in varying(points, variables(points)) if len({p.value(n) for p in points}) >= 3]
    grid = len(numeric) >= 2
    rules: List[Tuple[str, bool]] = [
        ("throughput", sizes > 1 and not grid and any(p.bytes_per_s for p in points)),
        ("stall", sizes > 1 and not grid and any(e.observed for _, e in found.explained)),
        ("ledger", any(p.ledger is not None and p.ledger.endpoints for p in points)),
        ("heatmap", grid), ("box", any(p.latency is not None for p in points)),
        ("cdf", any(p.histogram is not None for p in points)), ("rank", len({p.mode for p in points}) > 1),
    ]
    return [name for name, yes in rules if yes]


def pictures(documents: Sequence[Document], lines: Sequence[Timeline], request: Request, found: Findings, prefix: str) -> List[Picture]:
    out = []
    plain = Request(list(documents), fix=request.fix, x=request.x, y=request.y, test=request.test)
    for name in wanted(documents, found) if documents else []:
        out.append(_picture(name, plain, prefix))
    for line in lines:
        for name in ("timeline", "series"):
            out.append(_picture(name, Request(timeline=line, start_ns=request.start_ns, end_ns=request.end_ns), prefix))
    return [p for p in out if p is not None]


def _picture(name: str, request: Request, prefix: str) -> Optional[Picture]:
    kind = KINDS[name]
    try:
        svg = to_bytes(kind.draw(request), "svg").decode()
    except AnalysisError:
        return None  # the data lacks what this figure shows; the tables say what there is
    help_text = kind.help[0].upper() + kind.help[1:]
    return Picture(name, help_text, inline(svg, f"{prefix}{name}-", help_text))


def inline(svg: str, prefix: str, label: str) -> str:
    """SVG to stand inside HTML: no prologue, identifiers that cannot clash with another figure's, width of the page."""
    svg = svg[svg.index("<svg"):]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = re.sub(r'\bid="', f'id="{prefix}', svg)
    svg = re.sub(r"url\(#", f"url(#{prefix}", svg)
    svg = re.sub(r'xlink:href="#', f'xlink:href="#{prefix}', svg)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    return svg.replace("<svg", f'<svg role="img" aria-label="{_escape(label)}"', 1)


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def _tables(documents: Sequence[Document], found: Findings) -> List[tables.Table]:
    if not documents:
        return []
    out = [tables.dips_table(e) for _, e in found.explained if e.dip.any()]
    out += [t for t in (tables.rank_table(documents), tables.ledger_table(documents)) if t is not None]
    return out + tables.points_table(documents)


def header_of(path: str, header: Dict[str, Any]) -> Dict[str, Any]:
    """The header's own words: machine, options, clock, tool; what is not known is said."""
    sections = []
    for key in ("tool", "machine", "clock", "options", "vary", "trace"):
        value = header.get(key)
        rows = flatten(value) if isinstance(value, dict) else [("", "unknown" if value is None else str(value))]
        sections.append((key, _options(value, rows) if key == "options" and isinstance(value, dict) else rows))
    return {"name": file_name(path), "started": str(header.get("started", "unknown")), "sections": sections}


def _options(options: Dict[str, Any], rows: List[Tuple[str, str]]) -> List[Tuple[str, str]]:
    """Times with their unit: 20 ms, not 20000000."""
    return [(k, readable(k, options[k]) if k in TIME_OPTIONS and isinstance(options[k], (int, float)) else text) for k, text in rows]


def flatten(value: Dict[str, Any], prefix: str = "") -> List[Tuple[str, str]]:
    out: List[Tuple[str, str]] = []
    for k, v in value.items():
        if isinstance(v, dict) and v and len(prefix) < 60:
            out.extend(flatten(v, f"{prefix}{k}."))
        else:
            text = v if isinstance(v, str) else "unknown" if v is None else json.dumps(v, ensure_ascii=False)
            out.append((f"{prefix}{k}", text if len(text) <= 300 else text[:297] + "..."))
    return out


def file_of(path: str, output: str) -> Dict[str, Any]:
    """A link beside the report, and, where it is small enough, the data itself inside it (deflated)."""
    raw = read_bytes(path)
    base = os.path.dirname(os.path.abspath(output)) if output != "-" else os.getcwd()
    data = None
    if len(raw) <= EMBED_LIMIT:
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)  # a gzip file without a date
        data = base64.b64encode(packer.compress(raw) + packer.flush()).decode()
    return {"name": file_name(path), "href": quote(os.fsencode(os.path.relpath(os.path.abspath(path), base))), "bytes": len(raw),
            "sha256": hashlib.sha256(raw).hexdigest(), "data": data}


def _together(value: Any) -> Any:
    """A number and its percent sign stay on one line. What is marked as safe is left as it is: a script's hash is taken of its every byte."""
    return value.replace(" %", "\u00a0%") if type(value) is str else value


def render(template: str, **values: Any) -> bytes:
    import jinja2

    env = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True,
                             undefined=jinja2.StrictUndefined, finalize=_together)
    with open(os.path.join(HERE, "report.css"), encoding="utf-8") as f:
        css = f.read()
    env.filters["duration"] = time_text
    page: str = env.get_template(template).render(css=css, **values)
    return page.encode()
