# SPDX-License-Identifier: GPL-2.0-only
"""The other benchmarks: how each is run, and which of its words is the figure.

A measure is a function of (cpus, seconds) that returns us for half a round trip, or MB/s received; it raises RuntimeError
where the program said nothing of use. `cpus` is a pair: the client's (sender's) CPU and the server's.
"""
import glob
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOL = os.path.join(ROOT, "ipcstall")
# where `make bench-peers NONFREE=1` unpacks netperf and lmbench, and where Debian puts the latter
PLACES = [os.path.join(ROOT, "build/peers/usr/bin"), *glob.glob(os.path.join(ROOT, "build/peers/usr/lib/lmbench/bin/*")), *glob.glob("/usr/lib/lmbench/bin/*")]
# lmbench else spends up to a minute on finding out how long to measure, and on its loops' own cost
os.environ.update(ENOUGH="100000", TIMING_O="0", LOOP_O="0")
os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", ""), *PLACES])
UNITS = {"ns": 1e-3, "us": 1, "ms": 1e3, "KB": 1e-3, "MB": 1, "GB": 1e3}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def run(argv, seconds):
    out = subprocess.run(list(map(str, argv)), capture_output=True, text=True, timeout=30 + 10 * seconds, stdin=subprocess.DEVNULL)
    return out.stdout + out.stderr


def pinned(cpu, *argv):
    return ["taskset", "-c", str(cpu), *map(str, argv)]


def find(pattern, text):
    found = re.search(pattern, text)
    if not found:
        raise RuntimeError(f"no figure in: {text.strip()[-200:]}")
    return found


class Server:
    """A peer's server on its CPU, ended with the block."""

    def __init__(self, argv, port=None):
        self.argv, self.port = argv, port

    def __enter__(self):
        self.process = subprocess.Popen(self.argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, start_new_session=True)
        for _ in range(100):
            if self.port is None or self.listening():
                break
            time.sleep(0.02)
        if self.port is None:
            time.sleep(0.3)
        return self

    def listening(self):
        want = f":{self.port:04X} "
        for name in ("tcp", "tcp6", "udp", "udp6"):
            with open(f"/proc/net/{name}", encoding="ascii") as f:
                if any(want in line.split(" 0000")[0] + " " for line in f):
                    return True
        return False

    def __exit__(self, *why):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def ipcstall(mode, test, size, figure="median", extra=(), placement="same"):
    """The tool itself. figure: of its latency."""
    def measure(cpus, seconds):
        where = ["--placement", placement] + (["--cpus", f"{cpus[0]},{cpus[0] if placement == 'same' else cpus[1]}"])
        out = run([TOOL, "--mode", mode, "--test", test, "--size", size, *where, "--duration", f"{seconds}s", "--no-trace", *extra, "--json", "-"], seconds)
        if not out.startswith("{"):
            raise RuntimeError(out.strip()[-200:])
        point = json.loads(out)["points"][0]
        return point["latency"][figure] / 1e3 if test == "latency" else point["throughput"]["bytes_per_s"] / 1e6
    return measure


def ipcstall_knobs(mode, size, placement, cpus):
    """The options which --tuned finds for bulk at this size."""
    where = ["--placement", placement, "--cpus", f"{cpus[0]},{cpus[0] if placement == 'same' else cpus[1]}"]
    out = run([TOOL, "--mode", mode, "--test", "throughput", "--size", size, *where, "--duration", "100ms", "--no-trace", "--tuned", "--json", "-"], 30)
    chosen = json.loads(out)["points"][0]["tuned"]["chosen"]
    return [word for name, value in chosen.items() if value for word in (f"--{name.replace('_', '-')}", str(value))]


def sockperf(proto, size):
    def measure(cpus, seconds):
        port = free_port()
        where = ["-i", "127.0.0.1", "-p", port] + (["--tcp"] if proto == "tcp" else [])
        with Server(pinned(cpus[1], "sockperf", "sr", *where), port):
            out = run(pinned(cpus[0], "sockperf", "pp", *where, "-m", size, "-t", max(1, round(seconds))), seconds)
        return float(find(r"percentile 50\.000 =\s+([0-9.]+)", out).group(1))
    return measure


def qperf(test, size, extra=()):
    """UDP: what was received."""
    wanted = r"recv_bw\s+=\s+([0-9.]+) (KB|MB|GB)" if test == "udp_bw" else r"(?:latency|bw)\s+=\s+([0-9.]+) (ns|us|ms|KB|MB|GB)"

    def measure(cpus, seconds):
        port = free_port()
        with Server(pinned(cpus[1], "qperf", "-lp", port), port):
            out = run(pinned(cpus[0], "qperf", "127.0.0.1", "-lp", port, "-m", size, "-t", max(1, round(seconds)), *extra, test), seconds)
        number, unit = find(wanted, out).groups()
        return float(number) * UNITS[unit]
    return measure


def iperf3(size, extra=()):
    def measure(cpus, seconds):
        port = free_port()
        with Server(pinned(cpus[1], "iperf3", "-s", "-p", port), port):
            out = run(pinned(cpus[0], "iperf3", "-c", "127.0.0.1", "-p", port, "-l", size, "-t", max(1, round(seconds)), *extra, "-J"), seconds)
        try:
            return json.loads(out)["end"]["sum_received"]["bits_per_second"] / 8e6
        except (ValueError, KeyError) as e:
            raise RuntimeError(out.strip()[-200:]) from e
    return measure


def netperf(test, size, extra=()):
    """A mean of the round trips, from their number; or what the receiver got."""
    latency = test.endswith("_RR")
    wanted = "THROUGHPUT" if latency or test == "TCP_STREAM" else "REMOTE_RECV_THROUGHPUT"
    sizes = ["-r", f"{size},{size}"] if latency else ["-m", size, "-M", size]

    def measure(cpus, seconds):
        port = free_port()
        with Server(pinned(cpus[1], "netserver", "-D", "-p", port), port):
            out = run(pinned(cpus[0], "netperf", "-H", "127.0.0.1", "-p", port, "-t", test, "-l", max(1, round(seconds)), "-P", 0,
                             *([] if latency else ["-f", "M"]), "--", *sizes, *extra, "-o", wanted), seconds)
        figure = float(find(r"(?m)^([0-9.]+)\s*$", out).group(1))
        return 1e6 / figure / 2 if latency else figure * 1.048576
    return measure


def nptcp(size):
    """Its transmitter prints 'SIZE bytes N times --> Mbps in USEC usec'; usec is half a round trip, a mean."""
    def measure(cpus, seconds):
        with Server(pinned(cpus[1], "NPtcp", "-l", size, "-u", size, "-p", 0, "-o", "/dev/null")):
            out = run(pinned(cpus[0], "NPtcp", "-h", "127.0.0.1", "-l", size, "-u", size, "-p", 0, "-o", "/dev/null"), seconds)
        return float(find(r"in\s+([0-9.]+) usec", out).group(1))
    return measure


def perf_pipe(cpus, seconds):
    """One operation there is a round trip of 4 bytes. Both its ends run where perf does."""
    out = run(pinned(cpus[0], "perf", "bench", "sched", "pipe", "-l", int(200000 * seconds)), seconds)
    return float(find(r"([0-9.]+) usecs/op", out).group(1)) / 2


def hackbench(mode, size):
    """One sender, one receiver; its time includes two forks, so it is given much to carry."""
    def measure(cpus, seconds):
        loops = int(6e9 * seconds / size)
        out = run(pinned(cpus[0], "hackbench", "-f", 1, "-g", 1, "-s", size, "-l", loops, *(["-p"] if mode == "pipe" else [])), seconds)
        return loops * size / 1e6 / float(find(r"Time: ([0-9.]+)", out).group(1))
    return measure


class Daemon:
    """lmbench's servers: one call starts and leaves them behind, another ends them. They hold their output open."""

    def __init__(self, cpu, program, host):
        self.cpu, self.program, self.host = cpu, program, host

    def __enter__(self):
        if self.host:
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL, "timeout": 10}
            subprocess.run(pinned(self.cpu, self.program, "-s"), **quiet)
            time.sleep(0.1)

    def __exit__(self, *why):
        if self.host:
            subprocess.run([self.program, "-S", *self.host], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=10)


def lmbench_latency(mode, size):
    """What it prints is a whole round trip; the median of as many repetitions as fill the time."""
    program = f"lat_{mode}"
    sized = [] if mode == "pipe" else ["-m", size]

    def measure(cpus, seconds):
        host = ["127.0.0.1"] if mode in ("tcp", "udp") else []
        with Daemon(cpus[1], program, host):
            out = run(pinned(cpus[0], program, *sized, "-N", 3, *host), seconds)
        return float(find(r"latency.*: ([0-9.]+) microseconds", out).group(1)) / 2
    return measure


def lmbench_bulk(mode, size):
    program = f"bw_{mode}"

    def measure(cpus, seconds):
        host = ["127.0.0.1"] if mode == "tcp" else []
        with Daemon(cpus[1], program, host):
            out = run(pinned(cpus[0], program, "-m", size, "-M", int(128e6 * seconds) // size * size, "-N", 3, *host), seconds)
        return float(find(r"([0-9.]+) MB/sec", out).group(1))
    return measure


def best_of(variants):
    """The peer's own tuning: each variant once, the best from then on."""
    chosen = []

    def measure(cpus, seconds):
        if not chosen:
            tried = []
            for m in variants:
                try:
                    tried.append((m(cpus, 1), m))
                except RuntimeError:
                    continue
            if not tried:
                raise RuntimeError("none of its variants runs here")
            chosen.append(max(tried, key=lambda t: t[0])[1])
        return chosen[0](cpus, seconds)
    return measure


def version(program):
    """One line that names it, for the record; lmbench's programs have none."""
    asks = {"sockperf": ["--version"], "qperf": ["--version"], "iperf3": ["--version"], "netperf": ["-V"], "perf": ["--version"], "hackbench": ["--help"]}
    if not shutil.which(program):
        return None
    text = run([program, *asks[program]], 1) if program in asks else ""
    found = re.search(r"\d+\.\d[0-9a-zA-Z.~-]*", text)
    return found.group(0) if found else "installed"
