# SPDX-License-Identifier: GPL-2.0-only
"""A file in a screen of text: the verdict, what to beware of, then the tables."""

from __future__ import annotations

import textwrap
from typing import List, Optional, Union

from . import tables
from .findings import caveats, find, timeline_findings
from .load import describe_machine
from .model import Document, Timeline
from .text import file_name
from .waterfall import ways

MOST_WAYS = 4


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
    out = [f"{file_name(path)}: {what}; {where}", ""]
    out += [line for v in verdict for line in textwrap.wrap(v, 110, initial_indent="  ", subsequent_indent="    ")]
    if beware:
        out += ["", "Beware:"]
        out += [line for b in beware for line in textwrap.wrap(b, 110, initial_indent="  ! ", subsequent_indent="    ")]
    for t in shown:
        out += ["", t.title, *grid(t)] + ([f"  {t.note}"] if t.note else [])
    return "\n".join(out) + "\n"


def grid(t: tables.Table) -> List[str]:
    widths = [max(len(r[j]) for r in [t.columns, *t.rows]) for j in range(len(t.columns))]
    return ["  " + "  ".join(c.ljust(w) if j == 0 else c.rjust(w) for j, (c, w) in enumerate(zip(r, widths))).rstrip()
            for r in [t.columns, *t.rows]]
