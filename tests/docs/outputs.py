# SPDX-License-Identifier: GPL-2.0-only
"""The keys of what the program writes: of its JSON Schemas, and of documents as short runs write them."""
import json
import pathlib
import re
import tempfile

from measure import KNOWN, TOP, tool


# --- keys ---------------------------------------------------------------------------------------------------------

def option_names(command):
    return set(re.findall(r"--(?:\[no-\])?([a-z0-9-]+)", tool(command, "--help").stdout))


def names():
    """What a map may be keyed by: states of a ledger and whatever else a text may be one of, sweeps of the experiments, options."""
    said = [json.loads(tool(command, "--json-schema").stdout)["$defs"] for command in ("attach", "diagnose")]
    states = {v for defs in said for d in defs.values() for v in d.get("enum", ()) if isinstance(v, str)}
    sweeps = {p.name.split(".")[0] for p in (TOP / "docs/experiments/results").glob("*/*.ndjson*")}
    return [states, sweeps, *({o.replace("-", "_") for o in found} | found for found in map(option_names, ("bench", "clock", "syscall", "machine")))]


def is_map(o, named):
    """An object all of whose keys are such names says nothing with a key that is not said where those names are."""
    return bool(o) and any(set(o) <= kind for kind in named)


def paths(o, named, at=""):
    """Every key with its path; those of maps are left out, what they lead to is not."""
    if isinstance(o, list):
        return {p for v in o for p in paths(v, named, at + "[]")}
    if not isinstance(o, dict):
        return set()
    mapped = is_map(o, named)
    out = set() if mapped else {f"{at}.{k}" for k in o}
    return out.union(*(paths(v, named, f"{at}.{'*' if mapped else k}") for k, v in o.items()))


def schema_paths(node, named, at=""):
    """The same of a JSON Schema: the keys of its `properties`."""
    if isinstance(node, list):
        return {p for v in node for p in schema_paths(v, named, at)}
    if not isinstance(node, dict):
        return set()
    of = node.get("properties", {})
    out = set() if is_map(of, named) else {f"{at}.{k}" for k in of}
    out = out.union(*(schema_paths(v, named, f"{at}.{k}") for k, v in of.items()))
    return out.union(*(schema_paths(v, named, f"{at}.{k}" if at == "$defs" else k if k == "$defs" else at) for k, v in node.items() if k != "properties"))


def last(path):
    return path.rsplit(".", 1)[1].replace("[]", "")


# --- runs ---------------------------------------------------------------------------------------------------------

def lines(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()]


def of_runs(make):
    """{DOCUMENT: its paths, sorted}; `make(folder)` yields each document's name and its objects."""
    named = names()
    with tempfile.TemporaryDirectory() as folder:
        return {name: sorted(set().union(*(paths(o, named) for o in objects))) for name, objects in make(folder)}


def schemas(before=None):
    named = names()
    return {f"{c} --json-schema": sorted(schema_paths(json.loads(tool(c, "--json-schema").stdout), named)) for c in ("bench", "attach", "top", "diagnose")}


def untraced(folder):
    """What any user gets of any kernel."""
    yield "check --json -", [json.loads(tool("check", "--json", "-", ok=(0, 3, 4)).stdout)]
    for name in ("clock", "syscall", "machine"):
        yield f"{name} --json", [json.loads(tool(name, "--json", "-").stdout)]
    for name, args in {"bench": ("tcp", "-t", "latency,throughput,oneway,connect"), "bench rudp": ("rudp", "-t", "latency"), "bench --tuned": ("tcp", "-t", "latency", "--tuned")}.items():
        yield f"{name} --json", [json.loads(tool("bench", "-q", "-m", *args, "--size", "64", "-d", "20ms", "--no-trace", "-j", "-", ok=(0, 10)).stdout)]
    yield "answers", [json.loads(p.read_text(encoding="utf-8")) for p in sorted((TOP / "docs/experiments/results").glob("*/answer.json"))]


def traced(folder):
    """What tracing adds: a program whose ACKs are waited for, seen by every sink, live and from a recording."""
    known, sinks = [KNOWN, "nagle", "n=3"], [o for n in ("json", "ndjson", "timeline") for o in (f"--{n}", f"{folder}/{n}")]
    tool("run", "-q", *sinks, "--threshold", "10ms", "--stacks", "--cost", "--", *known)
    yield "run", [o for n in ("json", "ndjson", "timeline") for o in lines_of(f"{folder}/{n}")]
    tool("record", "-q", "--output", f"{folder}/kept", "--timeline", "--threshold", "10ms", "--", *known)
    tool("replay", "-q", f"{folder}/kept", *sinks)
    yield "replay", [o for n in ("json", "ndjson", "timeline") for o in lines_of(f"{folder}/{n}")]
    tool("attach", "--exact", "-q", "--all", "--duration", "200ms", *sinks)
    yield "attach", [o for n in ("json", "timeline") for o in lines_of(f"{folder}/{n}")]
    yield "top", [json.loads(line) for line in tool("top", "--exact", "--all", "--json", "-", "--iterations", "1", "-i", "200ms").stdout.splitlines()]
    tool("bench", "-q", "-m", "tcp", "--size", "64", "-d", "20ms", *sinks[:2], *sinks[4:])
    yield "bench", [o for n in ("json", "timeline") for o in lines_of(f"{folder}/{n}")]
    tool("bench", "-q", "-m", "tcp", "--size", "64", "-t", "latency", "-d", "20ms", "--ab", *sinks[:2])
    yield "bench --ab", lines_of(f"{folder}/json")
    tool("sweep", "-q", "-m", "tcp", "-t", "latency", "--count", "20", "--warmup", "2", "-V", "size=500:2000:+500", "--repeats", "3", "-o", f"{folder}/sweep")
    yield "sweep", lines(f"{folder}/sweep")
    yield "diagnose --from", [json.loads(tool("diagnose", "-q", "--from", f"{folder}/sweep", "-j", "-", ok=(0, 10)).stdout)]


def lines_of(path):
    """The objects of a file, be it one or one a line."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return lines(path)


MEASUREMENTS = {"schemas": schemas, "untraced": lambda before=None: of_runs(untraced), "traced": lambda before=None: of_runs(traced)}
