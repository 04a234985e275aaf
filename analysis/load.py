# SPDX-License-Identifier: GPL-2.0-only
"""Files to documents: which schema, which version, complete or not. What is wrong is refused; what is short is marked."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any, List, Optional, Sequence, Tuple, Union

from . import fields, points
from .decode import is_partial, parse, read_bytes
from .errors import AnalysisError, VERSION, data, usage
from .model import Document, Timeline
from .text import clean_json, file_name
from .timeline import read_timeline

VERSIONS = {"ipcstall.result": 1, "ipcstall.sweep": 1, "ipcstall.timeline": 1, "ipcstall.trace": 1}
Loaded = Union[Document, Timeline]
Row = Tuple[int, Any]


def load(path: str) -> Loaded:
    raw = read_bytes(path)
    if not raw.strip():
        raise data(path, "the file is empty", "was the run interrupted before its first line?")
    first = _first_object(raw)
    kind = first.get("schema") if first is not None else None
    if isinstance(kind, str) and kind in ("ipcstall.sweep", "ipcstall.timeline") and first is not None:
        check_schema(first, path)
        rows, remarks = _rows(raw, path)
        if kind == "ipcstall.timeline":
            return read_timeline(path, first, rows, remarks)
        return _sweep(path, raw, first, rows, remarks)
    return _result(path, raw)


def load_documents(paths: Sequence[str], mixed: bool = False) -> List[Document]:
    """Results and sweeps only; files from different machines only when asked for."""
    out: List[Document] = []
    for path in paths:
        loaded = load(path)
        if isinstance(loaded, Timeline):
            raise usage(f"{path}: is a timeline, and this needs results or sweeps; use 'figure timeline' or 'figure series'")
        out.append(loaded)
    check_machines(out, mixed)
    lift_options(out)
    return out


# Options that say where a result went, not what was measured.
NO_VARIABLE = frozenset(("json", "csv", "raw", "quiet", "mode", "size", "test", "seed", "timeline"))


def lift_options(docs: Sequence[Document]) -> None:
    """What differs between the options of several files is a variable, as if they were one sweep; so is what one of them varies."""
    each: List[fields.Object] = [o if isinstance(o := d.header.get("options"), dict) else {} for d in docs]
    varied = {k for d in docs for p in d.points for k in p.vars}
    for name in [n for n in dict.fromkeys(k for o in each for k in o) if n not in NO_VARIABLE]:
        values = [o.get(name) for o in each]
        if (len({repr(v) for v in values}) < 2 and name not in varied) or any(isinstance(v, (dict, list)) for v in values):
            continue
        for doc, value in zip(docs, values):
            doc.points = [p if name in p.vars else replace(p, vars={**p.vars, name: value}) for p in doc.points]


def load_timeline(path: str) -> Timeline:
    loaded = load(path)
    if not isinstance(loaded, Timeline):
        raise usage(f"{path}: holds {loaded.kind}, and this needs a timeline; record one with --timeline")
    return loaded


def check_schema(header: fields.Object, where: str) -> int:
    schema = header.get("schema")
    if not isinstance(schema, str) or schema not in VERSIONS:
        raise data(where, f"the schema is {schema!r}, not one of {', '.join(sorted(VERSIONS))}",
                   "name a file written by ipcstall --json, sweep or --timeline")
    version = header.get("version")
    if version != VERSIONS[schema] or isinstance(version, bool):
        raise AnalysisError(VERSION, f"{where}: {schema} version {version!r}, and this reads version {VERSIONS[schema]}; "
                            "use the analysis package that came with the ipcstall that wrote it")
    return int(version)


def machine_key(machine: fields.Object) -> str:
    """What must agree for two figures to stand in one picture; the rest (load, uptime, free memory) may differ."""
    keep = ("hostname", "host", "cpu", "cpu_model", "model", "cpus", "cpus_online", "kernel", "arch", "virtualisation")
    return json.dumps({k: machine[k] for k in keep if k in machine}, sort_keys=True, default=str)


def check_machines(docs: Sequence[Document], mixed: bool) -> None:
    if len({machine_key(d.machine) for d in docs}) <= 1:
        return
    names = ", ".join(f"{file_name(d.path)} ({describe_machine(d.machine)})" for d in docs)
    if not mixed:
        raise usage(f"the files come from different machines: {names}; pass --mixed to compare them all the same")
    for d in docs:
        d.remarks.append("this compares figures of different machines, as --mixed allows")


def describe_machine(machine: fields.Object) -> str:
    parts = [str(machine[k]) for k in ("hostname", "cpu", "cpu_model", "kernel") if isinstance(machine.get(k), (str, int))]
    return ", ".join(parts) or "unknown"


def _first_object(raw: bytes) -> Optional[fields.Object]:
    line = raw.lstrip().split(b"\n", 1)[0]
    try:
        value = clean_json(json.loads(line), line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _rows(raw: bytes, path: str) -> Tuple[List[Row], List[str]]:
    """The lines after the header. A cut last line is left out and marked; a bad one before it is corruption."""
    numbered = [(i, line) for i, line in enumerate(raw.split(b"\n"), 1) if line.strip()][1:]
    rows: List[Row] = []
    for i, line in numbered:
        try:
            rows.append((i, parse(line, f"{path}: line {i}")))
        except AnalysisError:
            if i == numbered[-1][0] and is_partial(raw):
                return rows, ["truncated: the last line is cut short and was left out"]
            raise
    return rows, []


def _document(path: str, raw: bytes, kind: str, header: fields.Object) -> Document:
    return Document(path, kind, 1, header, [], [], fields.texts(header, "warnings", path),
                    hashlib.sha256(raw).hexdigest(), len(raw))


def _result(path: str, raw: bytes) -> Document:
    top = fields.obj(parse(raw, path), path)
    check_schema(top, path)
    if top["schema"] == "ipcstall.trace":
        return _trace(path, raw, top)
    if top["schema"] != "ipcstall.result":
        raise data(path, f"{top['schema']} must be one object a line", "write the header on a line of its own")
    doc = _document(path, raw, "result", {k: v for k, v in top.items() if k != "points"})
    for i, item in enumerate(fields.array(top, "points", path)):
        doc.points.append(points.read_point(item, f"{path}: points[{i}]", path))
    return _not_empty(doc)


def _trace(path: str, raw: bytes, top: fields.Object) -> Document:
    """What `run` and `attach` write: the ledgers of everything seen."""
    doc = _document(path, raw, "trace", {k: v for k, v in top.items() if k != "ledger"})
    ledger = fields.sub(top, "ledger", path)
    if not fields.array(ledger or {}, "endpoints", f"{path}: ledger"):
        raise data(path, "the trace saw no conversation", "trace something that talks over a socket or a pipe")
    doc.points.append(points.trace_point(ledger, path, path))
    for name in ("lost", "overflow", "missed"):
        count = fields.number(ledger or {}, name, f"{path}: ledger")
        if count:
            doc.remarks.append(f"{count:.0f} events were {name}: figures may be too small")
    _judge_replay(doc, fields.sub(top, "replayed", path) or {})
    return doc


def _judge_replay(doc: Document, replayed: fields.Object) -> None:
    if replayed.get("cut") is True or replayed.get("complete") is False:
        doc.remarks.append(f"interrupted: the recording {'is cut off' if replayed.get('cut') is True else 'did not end cleanly'}")
    damaged = fields.number(replayed, "damaged_blocks", doc.path)
    if damaged:
        doc.remarks.append(f"{damaged:.0f} damaged blocks of the recording were left out")


def _sweep(path: str, raw: bytes, header: fields.Object, rows: List[Row], remarks: List[str]) -> Document:
    doc = _document(path, raw, "sweep", header)
    doc.remarks.extend(remarks)
    end: Optional[fields.Object] = None
    for i, row in rows:
        where = f"{path}: line {i}"
        item = fields.obj(row, where)
        if "schema" in item:
            _resumed(item, header, where)
        elif "end" in item:
            end = fields.sub(item, "end", where)
        else:
            end = None
            doc.points.append(points.read_point(item, where, path))
    _judge_end(doc, end)
    return _not_empty(doc)


def _resumed(item: fields.Object, header: fields.Object, where: str) -> None:
    """A sweep taken up again repeats its header; it has to be the same sweep on the same machine."""
    check_schema(item, where)
    if item.get("schema") != header["schema"]:
        raise data(where, f"a {item.get('schema')} header inside a {header['schema']} file", "split the file")
    first, second = header.get("machine") or {}, item.get("machine") or {}
    if isinstance(first, dict) and isinstance(second, dict) and machine_key(first) != machine_key(second):
        raise data(where, "the sweep was taken up again on another machine", "split the file there, and pass both with --mixed")


def _judge_end(doc: Document, end: Optional[fields.Object]) -> None:
    if end is None:
        doc.remarks.append(f"interrupted: the file has no end record; {len(doc.points)} points were found")
        return
    if end.get("complete") is False:
        doc.remarks.append(f"interrupted: the sweep stopped after {len(doc.points)} points")
    said = end.get("points")
    if isinstance(said, int) and said != len(doc.points):
        doc.remarks.append(f"the end record counts {said} points, and the file holds {len(doc.points)}")


def _not_empty(doc: Document) -> Document:
    if not doc.points:
        raise data(doc.path, f"the {doc.kind} holds no points", "run it to at least one point")
    return doc
