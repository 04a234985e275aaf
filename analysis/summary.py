# SPDX-License-Identifier: GPL-2.0-only
"""A file in a screen of text: the verdict, what to beware of, then the tables."""

from __future__ import annotations

import re
from typing import List, Optional, Sequence, Union

from . import tables
from .findings import caveats, find, timeline_findings
from .load import describe_machine
from .model import Document, Timeline
from .text import file_name, readable, row_columns, wrapped
from .waterfall import ways

MOST_WAYS = 4
_TOGETHER = "\u00a0"  # no line breaks there


def summarise(loaded: Union[Document, Timeline], fix: Optional[str] = None, brief: bool = False) -> str:
    """brief: the findings and the dips; where there are none, the points."""
    if isinstance(loaded, Timeline):
        return _page(loaded.path, "timeline", loaded.header.get("machine"), timeline_findings(loaded), loaded.remarks, _waterfalls(loaded))
    found = find([loaded], fix)
    shown = [tables.dips_table(e) for _, e in found.explained if e.dip.any()]
    if brief:
        return _page(loaded.path, f"{loaded.kind}, {len(loaded.points)} points", loaded.machine, found.verdict, [],
                     shown or tables.points_table([loaded]))
    shown += [t for t in (tables.rank_table([loaded]), tables.ledger_table([loaded])) if t is not None]
    return _page(loaded.path, f"{loaded.kind}, {len(loaded.points)} points", loaded.machine, found.verdict, caveats([loaded]),
                 shown + tables.points_table([loaded]))


def _waterfalls(line: Timeline) -> List[tables.Table]:
    named = {ep: f"{label} [{ep}]" if label else ep for ep, label in line.endpoints.items()}
    shown = [tables.waterfall_table(w, " to ".join(named.get(e, e) for e in dict.fromkeys((w.sender, w.reader)))) for w in ways(line)[:MOST_WAYS]]
    return [t for t in shown if t is not None]


def _page(path: str, what: str, machine: object, verdict: List[str], beware: List[str], shown: List[tables.Table]) -> str:
    where = describe_machine(machine if isinstance(machine, dict) else {})
    out = [*wrapped(f"{file_name(path)}: {what}; {where}", "", "  "), ""]
    out += [line for v in verdict for line in wrapped(v)]
    if beware:
        out += ["", "Beware:"]
        out += [line for b in beware for line in wrapped(b, "  ! ")]
    for t in shown:
        out += ["", *wrapped(t.title, "", "  "), *grid(t), *wrapped(t.note, "  ", "  ")]
    return "\n".join(out) + "\n"


def grid(t: tables.Table, indent: str = "  ") -> List[str]:
    """A row a line; the titles in two where that helps; where the screen is too narrow even so, a row a paragraph."""
    columns, rows = [readable(c) for c in t.columns], [[readable(c) for c in r] for r in t.rows]
    for titles in ([columns], _broken(columns)):
        widths = [max(len(r[j]) for r in [*titles, *rows]) for j in range(len(columns))]
        if len(indent) + 2 * (len(widths) - 1) + sum(widths) <= row_columns():
            return [indent + "  ".join(c.ljust(w) if j == 0 else c.rjust(w) for j, (c, w) in enumerate(zip(r, widths))).rstrip()
                    for r in [*titles, *rows]]
    return [line for r in rows for line in _paragraph(columns, r, indent)]


def _broken(titles: Sequence[str]) -> List[List[str]]:
    """Each title's first word above the rest of it; those of one word below."""
    split = [re.split(r" |(?<=/)", name, maxsplit=1) for name in titles]
    return [[s[0] if len(s) > 1 else "" for s in split], [s[-1] for s in split]]


def _paragraph(names: Sequence[str], row: Sequence[str], indent: str) -> List[str]:
    whole = [f"{name} {cell}".strip().replace(" ", _TOGETHER) for name, cell in zip(names[1:], row[1:])]
    rest = wrapped(", ".join(whole), indent + "  ", indent + "  ")
    return [*wrapped(row[0], indent), *(line.replace(_TOGETHER, " ") for line in rest)]
