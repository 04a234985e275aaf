#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What the sampled tier costs a service: its rate alone, and beside `attach -a`, `top --batch` and `export`, in random turn.

usage: cost.py [--rounds N] [--seconds S] [--seed N] [SERVICE...]     services: redis nginx pingpong stream

Prints each round, and for each service and command the median of the ratios (beside over alone, in one round), its 95 % interval by
order statistics, and the command's own CPU time. Exit: 0, or 1 where a median is below 0.99 and its interval does not hold 1.
"""
import argparse
import json
import math
import os
import random
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
IPCSTALL = os.environ.get("IPCSTALL", os.path.join(HERE, "../../ipcstall"))
KNOWN = os.environ.get("KNOWN", os.path.join(HERE, "../../build/O2/tests/kernel/known"))
NGINX = """daemon off; worker_processes 1; pid {dir}/pid; error_log {dir}/log; events {{ worker_connections 256; }}
http {{ access_log off; keepalive_requests 100000000;
client_body_temp_path {dir}/b; proxy_temp_path {dir}/p; fastcgi_temp_path {dir}/f; uwsgi_temp_path {dir}/u; scgi_temp_path {dir}/s;
server {{ listen 127.0.0.1:{port}; root {dir}; }} }}
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def said(command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Served:
    """A server and the client that loads it."""

    def __init__(self, folder):
        self.port = free_port()
        self.server = subprocess.Popen(self.command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                time.sleep(0.05)
        sys.exit(f"cost: {self.command(folder)[0]} does not answer")

    def end(self):
        self.server.terminate()
        self.server.wait()


class Redis(Served):
    programs = ("redis-server", "redis-benchmark")

    def command(self, folder):
        return ["redis-server", "--port", str(self.port), "--save", "", "--dir", folder]

    def rate(self, seconds):
        out = said(["redis-benchmark", "-p", str(self.port), "-t", "set", "-c", "8", "-P", "1", "-n", str(int(40000 * seconds)), "--csv"])
        return float(out.splitlines()[-1].split(",")[1].strip('"'))


class Nginx(Served):
    programs = ("nginx", "wrk")

    def command(self, folder):
        with open(os.path.join(folder, "page"), "w") as f:
            f.write("x" * 1000)
        os.chmod(folder, 0o755)
        with open(os.path.join(folder, "conf"), "w") as f:
            f.write(NGINX.format(dir=folder, port=self.port))
        return ["nginx", "-p", folder, "-e", os.path.join(folder, "log"), "-c", os.path.join(folder, "conf")]

    def rate(self, seconds):
        out = said(["wrk", "-t1", "-c8", f"-d{max(1, round(seconds))}s", f"http://127.0.0.1:{self.port}/page"])
        return float(re.search(r"Requests/sec:\s*([\d.]+)", out)[1])


class Known:
    """Both ends on one CPU: between two, an idle one's wake-ups decide the rate, tenfold."""
    programs = ()
    per_second = 10000  # the first time, which is not counted
    on_one_cpu = ("taskset", "-c", str(max(os.sched_getaffinity(0))))

    def __init__(self, folder):
        pass

    def end(self):
        pass

    def rate(self, seconds):
        n = int(self.per_second * seconds)
        known = json.loads(said([*self.on_one_cpu, KNOWN, *self.case, f"n={n}"]))
        self.per_second = n * 1e9 / known["elapsed_ns"]
        return self.per_second


class Pingpong(Known):
    case = ("pingpong", "size=64")


class Stream(Known):
    case = ("stream", "size=65536")


SERVICES = {"redis": Redis, "nginx": Nginx, "pingpong": Pingpong, "stream": Stream}
BESIDE = {  # a command, and what it prints when its programs are in place
    "attach": (["attach", "-a", "--zoom-budget", "0"], "attached"),
    "top": (["top", "--batch", "-a"], "endpoints"),
    "export": (["export", "-a", "--listen", "127.0.0.1:{port}"], "metrics at"),
}


class Observer:
    def __init__(self, name):
        arguments, ready = BESIDE[name]
        self.out = tempfile.TemporaryFile("w+")
        self.began = time.monotonic()
        port = free_port()
        self.tool = subprocess.Popen([IPCSTALL, *(a.format(port=port) for a in arguments)], stdout=self.out, stderr=subprocess.STDOUT)
        while ready not in self.said():
            if self.tool.poll() is not None or time.monotonic() > self.began + 30:
                sys.exit(f"cost: {name}: {self.said()[-300:]}")
            time.sleep(0.02)
        self.before = self.cpu()

    def said(self):
        self.out.seek(0)
        return self.out.read()

    def cpu(self):
        with open(f"/proc/{self.tool.pid}/stat") as f:
            fields = f.read().rpartition(")")[2].split()
        return time.monotonic(), (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        """The share of a CPU that it used."""
        after = self.cpu()
        self.tool.terminate()
        self.tool.wait()
        return (after[1] - self.before[1]) / (after[0] - self.before[0])


def beside(service, name, seconds):
    observer = Observer(name)
    rate = service.rate(seconds)
    return rate, observer.end()


def interval(values):
    """The k-th from either end holds the median in 95 of 100 cases."""
    n, v = len(values), sorted(values)
    k = max(i for i in range(n // 2) if 2 * sum(math.comb(n, j) for j in range(i + 1)) / 2**n <= 0.05) if n >= 6 else 0
    return v[k], v[n - 1 - k]


def rounds(service, o):
    """For each command: the ratios, and what it used of a CPU."""
    found = {name: ([], []) for name in BESIDE}
    service.rate(o.seconds / 2)
    for i in range(o.rounds):
        turns = [None, *BESIDE]
        random.shuffle(turns)
        rates = {turn: (service.rate(o.seconds), 0) if turn is None else beside(service, turn, o.seconds) for turn in turns}
        for name in BESIDE:
            found[name][0].append(rates[name][0] / rates[None][0])
            found[name][1].append(rates[name][1])
        print(f"  round {i + 1}: alone {rates[None][0]:.0f}/s; " + ", ".join(f"{name} {found[name][0][-1]:.3f}" for name in BESIDE), flush=True)
    return found


def measure(name, o):
    """Whether a median is too low."""
    missing = [p for p in SERVICES[name].programs if not shutil.which(p)]
    if missing:
        print(f"{name}: skipped, {' and '.join(missing)} not installed")
        return False
    slow = False
    with tempfile.TemporaryDirectory() as folder:
        service = SERVICES[name](folder)
        try:
            found = rounds(service, o)
        finally:
            service.end()
    for command, (ratios, cpu) in found.items():
        median, (low, high) = statistics.median(ratios), interval(ratios)
        slow |= median < 0.99 and high < 1
        print(f"{name} beside {command}: {median:.3f} of the rate alone [{low:.3f}, {high:.3f}], {len(ratios)} rounds; own CPU {statistics.median(cpu):.2%}", flush=True)
    return slow


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=11)
    p.add_argument("--seconds", type=float, default=2)
    p.add_argument("--seed", type=int)
    p.add_argument("service", nargs="*", default=list(SERVICES))
    o = p.parse_args()
    for name in o.service:
        if name not in SERVICES:
            p.error(f"no service {name}: {' '.join(SERVICES)}")
    random.seed(o.seed)
    return 1 if any([measure(name, o) for name in o.service]) else 0


if __name__ == "__main__":
    sys.exit(main())
