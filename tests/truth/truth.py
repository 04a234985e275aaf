# SPDX-License-Identifier: GPL-2.0-only
"""What a case of tests/truth needs: what is expected of it, what was said of it, and whether these agree."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "../..")
LANG = os.path.join(HERE, "lang")
BUILT = os.path.join(TOP, "build/truth")
sys.path.insert(0, os.path.join(HERE, "../programs"))
import harness  # noqa: E402
from harness import Skip, Wrong, free_port, need  # noqa: E402,F401 the cases take them from here

CASES = []
WIDTH = 80
FIRST = 5  # lines of a card in which the whole answer stands
NOBODY = r"^$"
MS = 1_000_000


class Case:
    """
    What is expected stands here, and was written before the case ran. `outcome`: one, or several where what else the machine does
    decides between them. `cause`: the state, or where none is told the kind of finding. `who`, `whom`, `why`: patterns. `figure`: what
    the case's second value is, in words; the figure said (the time in all, or the longest) must be within `within` (ns, and a share of it).
    """

    def __init__(self, name, sick, body, outcome, cause=None, who=None, whom=None, why=None, figure=None, within=(5 * MS, 0.05), longest=False):
        self.name, self.sick, self.body = name, sick, body
        self.outcomes = (outcome,) if isinstance(outcome, str) else outcome
        self.causes = (cause,) if isinstance(cause, str) else cause
        self.who, self.whom, self.why, self.figure, self.within, self.longest = who, whom, why, figure, within, longest
        self.what = " ".join(body.__doc__.split())

    def expected(self):
        parts = [" or ".join(self.outcomes)]
        parts += [" or ".join(self.causes)] if self.causes else []
        parts += [f"{word} {plain(pattern)}" for word, pattern in (("of", self.who), ("for", self.whom), ("why", self.why)) if pattern]
        if self.figure:
            parts.append(f"{self.figure} ± {self.within[0] / MS:g} ms + {100 * self.within[1]:g} %")
        return "; ".join(parts)


def plain(pattern):
    return "nobody" if pattern == NOBODY else re.sub(r"[\\^$]|\(\?i\)", "", pattern).replace("|", " or ").replace(".*", " … ").strip()


def healthy(name, **expected):
    """A case in which nothing is wrong: nobody may be called stalled, nobody blamed."""
    expected.setdefault("outcome", ("healthy", "waiting"))
    return lambda body: CASES.append(Case(name, False, body, **expected)) or body


def sick(name, outcome="stalled", **expected):
    return lambda body: CASES.append(Case(name, True, body, outcome, **expected)) or body


# --- what was said ---------------------------------------------------------------------------------------------------


class Said:
    """The card of a ledger, as figures and as its lines on a screen of 80 columns."""

    def __init__(self, ledger, screen):
        self.ledger, self.card, self.outcome = ledger, ledger["card"] or {}, ledger["outcome"]
        lines = screen.splitlines()
        at = next((i for i, line in enumerate(lines) if re.match(r"(STALLED|WAITING|HEALTHY|UNKNOWN)\b", line)), len(lines))
        self.lines = lines[at:at + FIRST]
        self.cause = self.card.get("cause") or self.card.get("kind")

    def ns(self, case):
        return self.card.get("max_ns" if case.longest else "ns")

    def text(self):
        parts = [self.outcome, self.cause or "", self.card["head"]]
        parts += [self.card["why"]] if self.card["why"] else []
        return "; ".join(p for p in parts if p)


OUTCOMES = {"stalled": "STALLED", "waiting": "WAITING", "healthy": "HEALTHY", "unknown": "UNKNOWN"}


NAMELESS = ("scattered", "unseen", "quiet")  # of no single program
FOR_WHAT = re.compile(r" waits? for (each other|\S)| (is|are) lost")  # what it waits for, where that is no program
TIME = r"[0-9.]+ (ns|us|ms|s|min|h)"
HOW_MUCH = re.compile(f": .*{TIME} of {TIME}|stalls add up to {TIME}|[0-9] datagrams?")


def fields(lines):
    """What stands behind each label of these lines; behind "", the head."""
    told, label = {}, ""
    for line in lines:
        label = line[:8].strip() if line.startswith("  ") and line[2:8].strip() else label
        told[label] = f"{told.get(label, '')} {line if label == '' else line[8:]}"
    return {label: " ".join(text.split()) for label, text in told.items()}


def card_faults(said):
    """Outcome, who, for whom, where and how much, why, what next: in the first five lines, none wider than the screen."""
    lines, card = said.lines, said.card
    if not lines:
        yield "no card on the screen"
        return
    if not lines[0].startswith(OUTCOMES[said.outcome]):
        yield f"card: begins with '{lines[0]}'"
    yield from (f"card: {len(line)} columns: '{line}'" for line in lines if len(line) > WIDTH)
    told, kind, waits = fields(lines), card["kind"], said.outcome in ("stalled", "waiting")
    head = told[""]
    shown = " ".join(told.values())
    yield from (f"card: '{card[key]}' is not in its first {FIRST} lines" for key in ("who", "for_whom") if card[key] not in shown)
    if (waits or card["cause"]) and not card["who"] and kind not in NAMELESS:
        yield f"card: who waits? '{head}'"
    if waits and not card["for_whom"] and not FOR_WHAT.search(head) and kind not in NAMELESS:
        yield f"card: who or what is waited for? '{head}'"
    if waits or card["cause"]:
        yield from (f"card: no '{label}' in its first {FIRST} lines" for label in ("where", "why") if label not in told)
        if not HOW_MUCH.search(f"{told.get('where', '')} {told.get('why', '')}"):
            yield f"card: how much? '{told.get('where', '')}'"
    if waits:
        yield from next_faults(told, card)


def next_faults(told, card):
    """What to do stands there from its first word on."""
    for label, key in (("try", "fix"), ("next", "next")):
        if label in told and card[key].split()[:4] == told[label].split()[:4]:
            return
    yield f"card: neither 'try' nor 'next' in its first {FIRST} lines"


def blames_somebody(finding):
    """A limit is nobody's fault, and who has no CPU is held back by the machine."""
    return not finding["limit"] and finding["blamed"] not in ("no CPU", "no CPU for the peer", "own next write")


def faults(case, said, own):
    card = said.card
    if said.outcome not in case.outcomes:
        yield f"outcome {said.outcome}"
    if case.causes and said.cause not in case.causes:
        yield f"cause {said.cause}"
    for key, pattern in (("who", case.who), ("for_whom", case.whom), ("why", case.why)):
        if pattern and not re.search(pattern, card[key]):
            yield f"{key} '{card[key]}'"
    if case.figure:
        near = case.within[0] + case.within[1] * own
        ns = said.ns(case)
        if ns is None or abs(ns - own) > near:
            yield f"{(ns or 0) / MS:.1f} ms, not {own / MS:.1f} ± {near / MS:.1f}"
    yield from (f"{key} is {said.ledger[key]}" for key in ("unaccounted_ns", "lost", "overflow") if said.ledger[key])
    if not case.sick:
        yield from (f"blames: {f['text']}" for f in said.ledger["findings"] if f["share"] > harness.OTHERS and blames_somebody(f))


# --- what a case has -------------------------------------------------------------------------------------------------


class Box(harness.Box):
    """The programs of one case, and what they said of their own times."""

    def run(self, *argv, options=()):
        file = self.path("ledger.json")
        with open(self.path("out"), "wb") as out:
            done = subprocess.run([harness.TOOL, "run", "--color=never", *options, "--json", file, "--", *map(str, argv)], stdin=subprocess.DEVNULL,
                                  stdout=out, stderr=subprocess.PIPE, timeout=harness.HUNG, check=False)
        self.write("ipcstall.log", done.stderr.decode(errors="replace"))
        if not os.path.exists(file):
            raise Wrong(f"ipcstall run: exit status {done.returncode}: {harness.tail(self.path('ipcstall.log'))}")
        with open(file, encoding="utf-8") as f:
            return harness.json.load(f)["ledger"]

    def sh(self, script):
        """The ledger of a script of the shell, which is told where its files go."""
        return self.run("bash", "-c", f"cd {self.dir}; {script}")

    def py(self, script, *args, options=()):
        """The ledger of a Python program of a few lines, whose processes name themselves."""
        return self.run(sys.executable, self.write("program.py", PRELUDE + script), *args, options=options)

    def own(self, what="out"):
        """The figure that a program printed last, in ns."""
        with open(self.path(what), encoding="utf-8") as f:
            return float(f.read().split()[-1])

    def out(self, argv, what="out", **how):
        """A program that ends, its standard output kept."""
        with open(self.path(what), "wb") as out:
            child = self.start(list(map(str, argv)), stdout=out, **how)
        try:
            code = child.wait(harness.HUNG)
        except subprocess.TimeoutExpired as e:
            raise Wrong(f"{argv[0]} hangs") from e
        if code:
            raise Wrong(f"{argv[0]}: exit status {code}: {harness.tail(self.path(os.path.basename(str(argv[0])) + '.log'))}")

    def later(self, seconds, does):
        """What a case does to its programs while they run: part of what it plants, not of what it waits for."""
        t = threading.Timer(seconds, does)
        t.daemon = True
        t.start()
        return t

    def screen(self):
        with open(self.path("ipcstall.log"), encoding="utf-8") as f:
            return f.read()

    def random(self, megabytes, name="random"):
        with open(self.path(name), "wb") as f:
            for _ in range(megabytes):
                f.write(os.urandom(1 << 20))
        return self.path(name)


PRELUDE = '''
import ctypes, os, select, signal, socket, struct, subprocess, sys, threading, time

signal.alarm(60)
clock = time.monotonic_ns


def name(word):
    with open("/proc/self/comm", "w") as f:
        f.write(word)


def child(word, does, *args):
    pid = os.fork()
    if not pid:
        name(word)
        does(*args)
        os._exit(0)
    return pid


def tcp(before=lambda s: None, host="127.0.0.1"):
    """A listening socket and one that is connected to it."""
    l = socket.socket()
    before(l)
    l.bind((host, 0))
    l.listen(8)
    s = socket.socket()
    before(s)
    s.connect(l.getsockname())
    return s, l.accept()[0]


def reno(s):
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")


def take(s, n):
    while n:
        n -= len(s.recv(n)) or sys.exit("the other end has gone")


def drain(s):
    while s.recv(1 << 16):
        pass
'''


def built(name, *argv):
    """A program that is compiled once, from tests/truth/lang."""
    out, source = os.path.join(BUILT, name), argv[-1]
    if not os.path.exists(out) or os.path.getmtime(out) < os.path.getmtime(source):
        os.makedirs(BUILT, exist_ok=True)
        with tempfile.TemporaryDirectory() as cache:
            subprocess.run([a.replace("{out}", out) for a in argv], check=True, capture_output=True, cwd=cache,
                           env={**os.environ, "GOCACHE": os.path.join(TOP, "build/go-cache"), "GO111MODULE": "off"})
    return out


def lang(file):
    return os.path.join(LANG, file)


def go(name):
    return built(name + "-go", need("go"), "build", "-o", "{out}", lang(name + ".go"))


def java(name):
    need("java")
    folder = os.path.join(BUILT, name + "-java")
    built(name + "-java/" + name + ".class", need("javac"), "-d", folder, lang(name + ".java"))
    return ["java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", folder, name]


class Space:
    """A network namespace with loopback up, which ends with the case."""

    def __init__(self, box, word=""):
        self.name = f"truth{os.getpid()}{word}"
        need("ip")
        self.ip("netns", "add", self.name)
        box.spaces = getattr(box, "spaces", []) + [self]
        self.do("ip", "link", "set", "lo", "up")

    @staticmethod
    def ip(*argv):
        subprocess.run(["ip", *argv], check=True, capture_output=True)

    def argv(self, *argv):
        return ["ip", "netns", "exec", self.name, *map(str, argv)]

    def do(self, *argv):
        done = subprocess.run(self.argv(*argv), capture_output=True, text=True, check=False)
        if done.returncode:
            raise Skip(f"{' '.join(map(str, argv))}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def end(self):
        subprocess.run(["ip", "netns", "del", self.name], check=False, capture_output=True)


def new_box(keep):
    return Box(keep)


def close(box):
    for space in getattr(box, "spaces", []):
        space.end()
    box.close()


def ports():
    """Two free ports, one after the other: what is traced is theirs, and nobody else's."""
    while True:
        port = free_port()
        with harness.socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port + 1))
                return port, port + 1
            except OSError:
                pass


def which(program):
    return shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin")


def pause(seconds):
    """The length of what a case plants."""
    time.sleep(seconds)
