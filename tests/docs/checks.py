# SPDX-License-Identifier: GPL-2.0-only
"""What documents say in words: generated text, commands, options, paths, keys, shapes. Each check names a way to break what it reads."""
import re
from dataclasses import dataclass
from typing import Callable, Optional, Tuple

import measure
import outputs
import shapes
import words
from measure import TOP, tool


@dataclass(frozen=True)
class Check:
    name: str
    run: Callable
    breakage: Tuple[str, str, str]  # DOCUMENT, what to look for (a regular expression), what to put there
    needs: Optional[str] = None  # a measurement


def blind(check, docs, facts):
    """Problems of the check itself: it has to see the breakage."""
    name, old, new = check.breakage
    text, n = re.subn(old, new, docs.get(name, ""), count=1)
    if not n:
        return [f"there is no '{old}' to break in {name}"]
    return [] if check.run({**docs, name: text}, facts) else [f"'{old}' made '{new}' in {name} was not seen"]


def differs(made, kept, what):
    if made == kept:
        return []
    for n, (a, b) in enumerate(zip(made.splitlines() + [""], kept.splitlines() + [""]), 1):
        if a != b:
            return [f"{what}, line {n}: made '{a[:80]}', kept '{b[:80]}'"]
    return [f"{what}: of another length"]


# --- generated text -----------------------------------------------------------------------------------------------

def causes(docs, facts):
    return differs(tool("causes", "--markdown").stdout, docs["docs/CAUSES.md"], "docs/CAUSES.md (make docs)")


def experiments(docs, facts):
    from analysis.experiment.index import index

    return differs(index(str(TOP / "docs/experiments")), docs["docs/EXPERIMENTS.md"], "docs/EXPERIMENTS.md")


def answers(docs, facts):
    """Every claim of every experiment, answered again from the data that are kept."""
    from analysis.experiment.answer import answer
    from analysis.experiment.plan import read_plan

    out = []
    for kept in sorted((TOP / "docs/experiments/results").iterdir()):
        found = answer(read_plan(str(TOP / f"docs/experiments/{kept.name}.md")), str(kept), False)
        out += [f"{kept.name}: its data say '{o.finding[:90]}', the document does not" for o in found.outcomes
                if f"| {o.finding} | {o.verdict} |".replace("|", "\\|")[1:-1].strip("\\") and o.finding.replace("|", "\\|") not in docs["docs/EXPERIMENTS.md"]]
    return out


def diagnosis(docs, facts):
    """docs/DIAGNOSIS.md: its text is the head's, its cases are those there are, its sums are those of its rows."""
    doc = docs["docs/DIAGNOSIS.md"]
    out = [f"docs/DIAGNOSIS.md lacks a paragraph of its head: {part[:80]}" for part in docs["docs/DIAGNOSIS.head.md"].split("\n\n")
           if "@" not in part and part.strip() not in doc]
    rows = [[c.strip() for c in line.split("|")[1:-1]] for line in doc[doc.index("## The cases"):].splitlines() if line.startswith("| ")][1:]
    planted = {c[0]: c for c in ([w.strip() for w in line.split("|")] for line in (TOP / "tests/diagnosis/cases").read_text(encoding="utf-8").splitlines()
                                 if line.strip() and line[0] != "#")}
    out += [f"no case '{r[0]}' in tests/diagnosis/cases" for r in rows if r[0] not in planted]
    return out + [f"{cause}: {right} right of {n} by the rows, the table says otherwise" for cause, n, right in sums(rows, planted)
                  if f"| {cause} | {n} | {right} |" not in doc]


def sums(rows, planted):
    causes_ = [(planted[r[0]][2], r[5] == "right") for r in rows if r[0] in planted]
    return [(c, sum(x == c for x, _ in causes_), sum(x == c and ok for x, ok in causes_)) for c in sorted({x for x, _ in causes_})]


# --- figures that are no single number ----------------------------------------------------------------------------

SHARE = 8  # points by which a state's share may differ: what the ends waited for a CPU lies in flight and idle


def nagle_screen(docs, facts):
    """README's screen: the same text as docs/examples/nagle.txt, and every state within SHARE of what it is now."""
    kept = docs["docs/examples/nagle.txt"]
    inside = "\n".join("    " + line for line in kept.rstrip().splitlines())
    out = [] if inside in docs["README.md"] else ["README.md's screen is not docs/examples/nagle.txt"]
    old, new = shapes.shares(kept), shapes.shares(facts["nagle"]["screen"])
    return out + [f"{' '.join(map(str, at))}: {old.get(at, 0)} % stated, {new.get(at, 0)} % measured" for at in sorted({*old, *new}, key=str)
                  if abs(old.get(at, 0) - new.get(at, 0)) > SHARE]


def demo_screen(docs, facts):
    """What `make demo` is shown to print has the lines that its main job prints."""
    kept = docs["docs/examples/demo.txt"]
    part = kept[kept.index("\ntcp  placement"):kept.index("\n== The comb")]
    screen = facts["main_job"]["screen"]
    return differs("\n".join(shapes.skeleton(screen[screen.index("\ntcp  placement"):])), "\n".join(shapes.skeleton(part)), "docs/examples/demo.txt")


def verdicts(docs, facts):
    texts = {"README.md": docs["README.md"], "docs/examples/nagle.txt": docs["docs/examples/nagle.txt"], "docs/examples/demo.txt": docs["docs/examples/demo.txt"],
             "--mode tcp --size 64K": facts["main_job"]["screen"]}
    return [f"{name}: '{line[:120]}' is no verdict as the program words one" for name, text in texts.items() for line in shapes.bad_verdicts(text)]


NO_DIP = 50  # at the sizes between the dips less is lost than this, in per cent


def comb_elsewhere(docs, facts):
    text = docs["docs/examples/comb.txt"]
    dips = {int(s) for s in re.findall(r"^ +(\d+) .*<? [\d.]+ +[\d.]+ .s", text[text.index("Dips ("):text.index("Ledger of")], re.M)}
    out = [f"{s} is in a dip as measured, not as stated" for s in measure.DIPS if s not in dips]
    out += [f"{s} is in a dip as stated, where none is foretold" for s in measure.EVEN if s in dips]
    return out + [f"{s} loses {facts['comb'][f'loss.{s}']:.0f} %, and is in no dip as stated" for s in measure.EVEN if facts["comb"][f"loss.{s}"] > NO_DIP]


def diagnosed(docs, facts):
    row = next(line for line in docs["docs/DIAGNOSIS.md"].splitlines() if line.startswith("| nagle header 16, 1000 B |"))
    got = facts["diagnose"]
    return [] if f"| {got['cause']} | delack |" in row and got["outcome"] == "ill" else [f"diagnose said {got['outcome']}, {got['cause']}; stated: {row[:150]}"]


def schema(docs, facts):
    text = docs["docs/SCHEMA.md"]
    result, trace = facts["main_job"]["document"], facts["nagle"]["document"]
    point = next(p for p in result["points"] if p["test"] == "latency")
    named = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", text))))
    used = {**dict.fromkeys([*result, *point, *point["latency"], *trace, *result["points"][-1]["throughput"]])}
    out = [f"'{k}' of a document is not in docs/SCHEMA.md" for k in used if k not in named]
    return out + [f"docs/SCHEMA.md has '{k}', no document does" for part, o in (("## Top", result), ("## A point", point)) for k in keys(text, part) if k not in o]


def keys_of(which):
    """A check: of every key that `outputs` has collected under that name, docs/SCHEMA.md says something."""
    def run(docs, facts):
        text = docs["docs/SCHEMA.md"]
        named = {w for code in re.findall(r"`([^`]+)`", text) for w in re.findall(r"\w+", code)} | set(re.findall(r'"(\w+)":', text))
        first = {outputs.last(path): f"{document} has {path}" for document, found in facts[which].items() for path in found}
        return [f"docs/SCHEMA.md does not say what '{key}' is: {where}" for key, where in sorted(first.items()) if key not in named]
    return run


def keys(text, heading):
    """The names in the first column of the table under a heading."""
    part = text[text.index(heading):].split("\n\n## ", 1)[0].split("\n\n### ", 1)[0]
    return [k for line in part.splitlines() if line.startswith("| `") for k in re.findall(r"`(\w+)`", line.split("|")[1])]


# --- exit codes ---------------------------------------------------------------------------------------------------

REFUSED = ((("bench", "--no-such-option"), 2), (("replay", "/dev/null"), 9), (("causes", "--markdown"), 6), (("--mode", "tcp", "--connect", "127.0.0.1:1"), 7))


def exit_codes(docs, facts):
    """The man page's table is the header's, and the codes are given."""
    table = {int(n) for n in re.findall(r"\.B (\d+)\n", docs["(man)"][docs["(man)"].index(".SH EXIT STATUS"):])}
    header = {int(n) for n in re.findall(r"EXIT_\w+ = (\d+),", (TOP / "user/base/err.h").read_text(encoding="utf-8"))}
    out = [f"exit code {n} is in only one of the man page and user/base/err.h" for n in sorted(table ^ header)]
    for n, line in ((int(n), line) for line in docs["(man)"].splitlines() if "Exit status" in line for n in re.findall(r"\b(\d+):", line)):
        out += [] if n in table else [f"'{line}' names a code that is not in the table"]
    return out + [f"ipcstall {' '.join(args)} ends with {got}, not {code}" for args, code in REFUSED if (got := ends(args, code)) != code]


def ends(args, code):
    import subprocess

    with open("/dev/full" if code == 6 else "/dev/null", "w", encoding="utf-8") as out:
        return subprocess.run([measure.TOOL, *args], stdout=out, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=300, check=False).returncode


CHECKS = (
    Check("docs/CAUSES.md is what the program prints", causes, ("docs/CAUSES.md", r"nagle", "nagel")),
    Check("docs/EXPERIMENTS.md is made from the answers", experiments, ("docs/EXPERIMENTS.md", r"supported", "refuted")),
    Check("the experiments' data give the answers stated", answers, ("docs/EXPERIMENTS.md", r"they lose \d+\.\d", "they lose 12.3")),
    Check("docs/DIAGNOSIS.md adds up", diagnosis, ("docs/DIAGNOSIS.md", r"\| nagle \| \d+", "| nagle | 7")),
    Check("README's screen", nagle_screen, ("docs/examples/nagle.txt", r"(nagle +\* .* )99", r"\g<1>88"), "nagle"),
    Check("the demo's screen", demo_screen, ("docs/examples/demo.txt", r"Throughput, bulk", "Throughput in bulk"), "main_job"),
    Check("verdicts are worded as shown", verdicts, ("README.md", r"STALLED \d+ %  known", "STALLED by known"), "main_job"),
    Check("the comb dips nowhere else", comb_elsewhere, ("docs/examples/comb.txt", r"  2956 ( +4\.\d)", r"  7966 \1"), "comb"),
    Check("docs/DIAGNOSIS.md's case is diagnosed so", diagnosed, ("docs/DIAGNOSIS.md", r"(nagle header 16, 1000 B \|.*?)\| nagle \|", r"\1| cork |"), "diagnose"),
    Check("docs/SCHEMA.md names the keys there are", schema, ("docs/SCHEMA.md", r"`warmup`", "`warm`"), "nagle"),
    Check("docs/SCHEMA.md names the keys of the JSON Schemas", keys_of("schemas"), ("docs/SCHEMA.md", r"`unlisted_processes`", "`unlisted`"), "schemas"),
    Check("docs/SCHEMA.md names the keys of what needs no tracing", keys_of("untraced"), ("docs/SCHEMA.md", r"`loop_spread`", "`spread`"), "untraced"),
    Check("docs/SCHEMA.md names the keys of what is traced", keys_of("traced"), ("docs/SCHEMA.md", r"`slice_ns`", "`slice`"), "traced"),
    Check("exit codes", exit_codes, ("(man)", r"\.B 9\n", ".B 19\n")),
    Check("commands and options exist", words.commands, ("README.md", r"--threshold", "--treshold")),
    Check("make targets exist", words.targets, ("CONTRIBUTING.md", r"make test-unit", "make test-units")),
    Check("stages exist", words.stages, ("CONTRIBUTING.md", r'STAGES="unit tree"', 'STAGES="unit trees"')),
    Check("paths and links exist", words.paths, ("README.md", r"docs/PEERS\.md", "docs/PEER.md")),
)
