# SPDX-License-Identifier: GPL-2.0-only
"""What a case of tests/programs needs: a place of its own, programs that end with it, the tracer, and the judge."""
import encodings.idna  # noqa: F401 socket.create_connection() asks for it, and a guest's library must have it
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

SLOW = 1  # an emulated machine: waits may last so many times as long
SCALE = 1.0  # and there is so much to do
SAMPLED = False  # by samples at random instants, where the ledger would see each message
TOOL = os.environ.get("IPCSTALL", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../ipcstall"))
HUNG = 120  # seconds: a busy host is late, but not so late
OTHERS = 0.05  # a cause that nobody expects may take so much of an endpoint's life, not more


class Skip(Exception):
    """The case cannot run here; the reason."""


class Wrong(Exception):
    """The verdict is not the one stated; how it differs."""


def need(*programs):
    """The paths of programs that a case cannot do without."""
    found = [shutil.which(p, path=os.environ["PATH"] + ":/usr/sbin:/sbin") for p in programs]
    for name, path in zip(programs, found):
        if not path:
            raise Skip(f"{name} is not installed")
    return found if len(found) > 1 else found[0]


def until(what, test, seconds=HUNG):
    """Wait for an event; its value. Only what never comes takes so long."""
    deadline = time.monotonic() + seconds * SLOW
    while time.monotonic() < deadline:
        value = test()
        if value:
            return value
        time.sleep(0.02)
    raise Wrong(f"{what}: not within {seconds} s")


def settled(what, value):
    """Wait until a value stays what it is: ten looks in a row."""
    seen = []

    def stays():
        seen.append(value())
        return len(seen) >= 10 and seen[-10:] == [seen[-1]] * 10

    until(what, stays)


def sleeps(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
        return f.read().rsplit(")", 1)[1].split()[0] == "S"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def answers(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


def listens(port):
    """Without connecting: some servers take one client only."""
    with open("/proc/net/tcp", encoding="ascii") as f:
        return any(line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "0A" for line in f)


class Trace:
    """An `ipcstall attach` that runs; its document once it has ended."""

    def __init__(self, box, args):
        self.file = box.path("ledger.json")
        self.log = box.path("ipcstall.log")
        tier = [] if SAMPLED else ["--exact"]
        self.proc = box.start([TOOL, "attach", *tier, "--json", self.file, *args],
                              log="ipcstall.log")
        until("ipcstall attach", lambda: self.attached())

    def attached(self):
        if self.proc.poll() is not None:
            raise Wrong("ipcstall attach ended: " + tail(self.log))
        with open(self.log, encoding="utf-8") as f:
            return "attached" in f.read()

    def end(self):
        self.proc.send_signal(signal.SIGINT)
        if self.proc.wait(HUNG):
            raise Wrong(f"ipcstall attach: exit status {self.proc.returncode}: {tail(self.log)}")
        with open(self.file, encoding="utf-8") as f:
            return json.load(f)["ledger"]


def within(ledger, window):
    """What was born in its time."""
    chosen = {i for i, e in enumerate(ledger["endpoints"])
              if window.began <= e["born_ns"] <= window.ended and
              not {e["beside"][side]["comm"] for side in ("tx", "rx")} & {"ipcstall"}}
    return {**ledger, "findings": [f for f in ledger["findings"] if f["endpoint"] in chosen],
            "mine": [ledger["endpoints"][i] for i in chosen]}


class Shared:
    """
    One tracer of everything for many cases, one after the other, where loading it takes longest: a case's ledger is what was born
    in its time, and the findings there.
    """

    def __init__(self, box):
        self.trace = Trace(box, ["-a"])
        self.ledger = None

    def end(self):
        self.ledger = self.trace.end()

    def within(self, window):
        return within(self.ledger, window)


class Window:
    """The time of one case under a Shared tracer."""

    def __init__(self, began):
        self.began, self.ended = began, None

    def end(self):
        self.ended = time.monotonic_ns()
        return self


def tail(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        lines = f.read().strip().splitlines()
    return lines[-1] if lines else "it said nothing"


class Box:
    """A folder and the programs of one case; both end with it."""

    def __init__(self, keep=None, shared=None):
        self.keep, self.shared, self.began = keep, shared, time.monotonic_ns()
        self.dir = keep or tempfile.mkdtemp(prefix="ipcstall-programs.")
        if keep:
            shutil.rmtree(keep, ignore_errors=True)
            os.makedirs(keep)
        os.chmod(self.dir, 0o755)
        self.children = []

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)
        return self.path(name)

    def start(self, argv, log=None, **how):
        """A program in a session of its own, so that what it forks can be ended with it."""
        out = open(self.path(log or f"{os.path.basename(argv[0])}.log"), "ab")
        how.setdefault("stdin", subprocess.DEVNULL)
        how.setdefault("stdout", out)
        how.setdefault("stderr", out)
        child = subprocess.Popen(argv, start_new_session=True, **how)
        out.close()
        self.children.append(child)
        return child

    def do(self, argv):
        """A program that does its work and ends well."""
        child = self.start(argv)
        if child.wait(HUNG * SLOW):
            raise Wrong(f"{argv[0]}: exit status {child.returncode}: {tail(self.path(os.path.basename(argv[0]) + '.log'))}")

    def serve(self, argv, port, **how):
        """A server that listens on a TCP port."""
        child = self.start(argv, **how)

        def up():
            if child.poll() is not None:
                raise Wrong(f"{argv[0]} ended with {child.returncode}")
            return answers(port)

        until(argv[0], up)
        return child

    def attach(self, *args):
        return Window(self.began) if self.shared else Trace(self, args)

    def run(self, *argv):
        """The ledger of `ipcstall run -- argv`."""
        if self.shared:
            subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=HUNG, check=True)
            return Window(self.began).end()
        if SAMPLED:
            trace = Trace(self, ["-a"])
            subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True,
                           timeout=HUNG, check=True)
            return within(trace.end(), Window(self.began).end())
        file = self.path("ledger.json")
        done = subprocess.run([TOOL, "run", "--json", file, "--", *argv], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=HUNG, check=False)
        with open(self.path("ipcstall.log"), "wb") as f:
            f.write(done.stderr)
        if done.returncode:
            raise Wrong(f"ipcstall run: exit status {done.returncode}: {tail(self.path('ipcstall.log'))}")
        with open(file, encoding="utf-8") as f:
            return json.load(f)["ledger"]

    def close(self):
        for child in self.children:
            for sig in (signal.SIGCONT, signal.SIGTERM, signal.SIGKILL):
                try:
                    os.killpg(child.pid, sig)
                except (ProcessLookupError, PermissionError):
                    break
                if sig == signal.SIGTERM:
                    wait_some(child)
            child.wait()
        if not self.keep:
            shutil.rmtree(self.dir, ignore_errors=True)


def wait_some(child):
    try:
        child.wait(3)
    except subprocess.TimeoutExpired:
        pass
    time.sleep(0.05)


ANYONE = "whoever"  # the case does not decide who is to blame


class Stall:
    """
    A finding that must be there. `of`: the writer's program; `by`: the program that kept it waiting. `cause`: or several, where what
    the program does brings on each of them and how its processes take turns decides which: their shares then count together.
    """

    def __init__(self, cause, of, proto="tcp", share=(0.5, 1.0), blamed=None, by=None, surety=None):
        self.causes, self.of, self.proto = (cause,) if isinstance(cause, str) else cause, of, proto
        self.share = (share[0] * (0.2 if SLOW > 1 else 1), share[1])  # what programs do takes ten times as long when emulated
        self.blamed, self.by, self.surety = blamed, by, surety

    def __str__(self):
        blame = f" <- {self.blamed}" if self.blamed else ""
        return f"{' or '.join(self.causes)}{blame} of {self.of} ({self.proto})"

    def is_it(self, ledger, finding):
        ep = ledger["endpoints"][finding["endpoint"]]
        return finding["cause"] in self.causes and ep["proto"] == self.proto and ep["beside"]["tx"]["comm"] in (self.of, None)

    def found(self, ledger):
        """One finding for each endpoint that has any: the largest, with the share of all."""
        largest = {}
        for f in sorted((f for f in ledger["findings"] if self.is_it(ledger, f)), key=lambda f: -f["share"]):
            first = largest.setdefault(f["endpoint"], {**f, "share": 0})
            first["share"] += f["share"]
        return list(largest.values())

    def faults(self, ledger, finding):
        low, high = self.share
        if not low <= finding["share"] <= high:
            yield f"{self}: {100 * finding['share']:.1f} % of its time, not {100 * low:.0f} to {100 * high:.0f}"
        if self.blamed != ANYONE and finding["blamed"] != self.blamed:
            yield f"{self}: blamed is {finding['blamed']}"
        if self.surety and finding["surety"] != self.surety:
            yield f"{self}: {finding['surety']}, not {self.surety}"
        if self.by and self.by not in {b["comm"] for b in blames(ledger, finding)}:
            yield f"{self}: {self.by} is not among {blames(ledger, finding)}"


def blames(ledger, finding):
    ep = ledger["endpoints"][finding["endpoint"]]
    return [b for b in ep["blame"] if b["state"] == finding["cause"]]


def limit(cause, others):
    """BBR paces whatever it sends, and with a slow reader takes the reader's pace for the path's, with a window of a few segments that
    waits for delayed ACKs: where that is the default, how much of a transfer these take says nothing of the program."""
    with open("/proc/sys/net/ipv4/tcp_congestion_control", encoding="ascii") as f:
        bbrs = cause in ("pacing", "cwnd") and f.read().startswith("bbr")
    return max(others, 0.25 if bbrs else 0, 0.15 if SLOW > 1 else 0)


def seen(ledger):
    """What a wrong verdict came from: the ledger's own, or, of a window of one, its senders' states."""
    if "mine" not in ledger:
        return "verdict: " + ledger["verdict"]
    return "; ".join(f"{e['beside']['tx']['comm']} ({e['proto']}): " + ", ".join(f"{state} {s['ns'] / 1e6:.1f} ms" for state, s in e["tx"]["states"].items() if s["ns"])
                     for e in ledger["mine"] if e["beside"]["tx"]["bytes"])


def says_no_stall(ledger, lost):
    if lost is None:
        return ledger["outcome"] != "stalled"
    return ledger["loss"] is not None and ledger["loss"]["kind"] == lost and ledger["verdict"] == ledger["loss"]["text"]


SOUND = ("unaccounted_ns", "lost", "overflow")


def judge(ledger, stalls, others=OTHERS, allowed=(), count=(1, 1), lost=None):
    """
    Raise Wrong unless the stalls stated are found (each at `count` endpoints), and no others above the limit, save the causes that
    are `allowed`: those which depend on how the programs take turns here. `lost`: where its datagrams are dropped, which the verdict then
    says. Returns the shares found, for people to read.
    """
    faults, shares = [f"{key} is {ledger[key]}" for key in SOUND if ledger[key]], []
    for stall in stalls:
        found = stall.found(ledger)
        big = [f for f in found if f["share"] >= stall.share[0]]
        if not found:
            faults.append(f"{stall}: not found")
        elif not count[0] <= max(len(big), 1) <= count[1]:
            faults.append(f"{stall}: at {len(big)} endpoints, not {count[0]} to {count[1]}")
        for f in big or found[:1]:
            faults.extend(stall.faults(ledger, f))
            shares.append(f"{100 * f['share']:.0f} %")
    faults += [f"not expected: {f['text']}" for f in ledger["findings"] if not any(s.is_it(ledger, f) for s in stalls) and f["share"] > limit(f["cause"], others)
               and f["cause"] not in allowed]
    if not stalls and "mine" not in ledger and not ledger["findings"] and not says_no_stall(ledger, lost):
        faults.append("verdict: " + ledger["verdict"])
    if faults:
        raise Wrong("; ".join(faults) + f" [{seen(ledger)}]")
    return ", ".join(shares)


def tx_bytes(ledger, comm):
    """What programs of this name sent, over all their endpoints."""
    return sum(e["beside"]["tx"]["bytes"] or 0 for e in ledger["endpoints"] if e["beside"]["tx"]["comm"] == comm)


def messages(endpoints, missed):
    """
    What these sent, or None where that is unknown: where kernels preempt, the program that counts may be left out
    (docs/KERNEL_NOTES.md), `missed` times. Raises Wrong where nothing was missed and it is unknown all the same.
    """
    sides = [(e["beside"]["tx"], e["local"]) for e in endpoints]
    unknown = [f"{tx['comm']} {local}" for tx, local in sides if tx["messages"] is None]
    if unknown and not missed:
        raise Wrong("nothing was missed, but how many messages is unknown of " + ", ".join(unknown))
    return None if unknown else sum(tx["messages"] for tx, _ in sides)


CASES = []


def case(name, *stalls, guest=False, also=None, **limits):
    """
    A case: what its verdict must be stands here, why in its docstring. No stall stated: the verdict must be healthy. `also` is
    given a ledger's endpoints and how many programs were missed, and raises Wrong where it is not right for another reason; `guest`: an emulated machine can run it.
    """

    def add(body):
        CASES.append({"name": name, "stalls": stalls, "limits": limits, "body": body, "guest": guest, "also": also})
        return body

    return add
