# SPDX-License-Identifier: GPL-2.0-only
"""Commands, options, targets, stages and paths that the documents name."""
import functools
import re
import shlex

from measure import TOP, tool

PROSE = re.compile(r"^(README|CONTRIBUTING|docs/[^/]+|docs/(experiments|monitoring)/[^/]+|tests/.*)\.md$")


def prose(docs):
    return {name: text for name, text in docs.items() if PROSE.match(name)}


# --- commands -----------------------------------------------------------------------------------------------------

@functools.lru_cache(None)
def help_of(command):
    return tool(command, "--help").stdout


@functools.lru_cache(None)
def command_names():
    text = tool("--help").stdout
    return tuple(re.findall(r"^  ([a-z]+)  ", text[text.index("Commands:"):], re.M))


SPAN = re.compile(r"(?:^    \$ |`)(?:sudo )?(?:nice -n -20 )?(?:\./)?ipcstall ((?:\\\n|[^`\n])*)", re.M)


def split(line):
    line = re.split(r" (?:[|<>;]|2>|&&)", line.replace("\\\n", " "))[0]
    try:
        return shlex.split(line.replace("...", ""))
    except ValueError:
        return line.split()


def unknown(line):
    args = split(line)
    command = args.pop(0) if args and args[0] in command_names() else "bench"
    if args and args[0] == "COMMAND":
        return []
    args = args[:args.index("--")] if "--" in args else args
    long = [a.split("=")[0].rstrip("],.)") for a in args if a.startswith("--")]
    short = [a[:2] for a in args if re.match(r"-[A-Za-z46]", a)]
    text = help_of(command)
    bad = [o for o in long if o != "--help" and not re.search(rf"{re.escape(o)}\b(?!-)", text)]
    return [f"ipcstall {command} has no {o}" for o in bad + [o for o in short if f" {o}, " not in text]]


def commands(docs, facts):
    return [f"{name}: {problem}" for name, text in {**prose(docs)}.items() for m in SPAN.finditer(text) for problem in unknown(m[1])]


# --- make, stages, paths ------------------------------------------------------------------------------------------

def targets(docs, facts):
    makefiles = [TOP / "Makefile", *(p for room in ("tests", "packaging", "user") for p in sorted((TOP / room).rglob("*.mk")))]
    rules = "".join(p.read_text(encoding="utf-8") for p in makefiles)
    known = set(re.findall(r"^([a-z][A-Za-z0-9-]*):", rules, re.M)) | {w for line in re.findall(r"^\.PHONY: (.*)", rules, re.M) for w in line.split()}
    return [f"{name}: there is no `make {t}`" for name, text in prose(docs).items() for t in re.findall(r"(?:^    |`)make ([a-z][A-Za-z0-9-]*)", text, re.M) if t not in known]


def stages(docs, facts):
    """STAGES=a or STAGES="a b" in a document: rows of tests/stages."""
    known = set(re.findall(r"^([a-z-]+) *\|", (TOP / "tests/stages").read_text(encoding="utf-8"), re.M))
    named = [(name, s) for name, text in prose(docs).items() for some in re.findall(r'\bSTAGES="?((?<=")[a-z -]+(?=")|(?<==)[a-z-]+)', text) for s in some.split()]
    return [f"{name}: there is no stage {s}" for name, s in named if s not in known]


def exists(name, path):
    here = (TOP / name).parent
    return any(list(base.glob(path)) for base in (TOP, here))


def paths(docs, facts):
    out = []
    for name, text in prose(docs).items():
        links = [p.split("#")[0] for p in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in p and p[0] != "#"]
        named = re.findall(r"`((?:analysis|bpf|docs|tests|user|vmlinux|\.ci)/[\w./-]+)`", text)
        bare = re.findall(r"(?<![\w/`.-])((?:docs|tests|user|bpf)/[\w./-]*\.(?:md|h|c|py|sh))\b", text)
        out += [f"{name}: there is no {p}" for p in [*links, *named, *bare] if "NAME" not in p and not exists(name, p)]
    return out
