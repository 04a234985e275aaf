# SPDX-License-Identifier: GPL-2.0-only
"""What is compared with what, one row each."""
from dataclasses import dataclass
from typing import Callable

from peers import programs as p

ONE_CPU = "Latency, one CPU"
BULK = "Throughput, one CPU, default buffers"
ACROSS = "Across two CPUs, default buffers"
OWN = "Tuned against default"
TUNED = "Tuned against tuned"


@dataclass
class Row:
    group: str
    name: str
    program: str  # which must be there
    peer: str
    ours: Callable
    theirs: Callable
    latency: bool
    bar: float  # ours / theirs, at most for latency, at least for throughput
    placement: str = "same"
    note: str = ""


def latency_rows():
    peers = {
        "tcp": lambda s: [("sockperf", "sockperf p50", p.sockperf("tcp", min(s, 65000)), "median", min(s, 65000)), ("qperf", "qperf mean", p.qperf("tcp_lat", s), "mean", s),
                          ("NPtcp", "NPtcp mean", p.nptcp(s), "mean", s), ("netperf", "netperf mean", p.netperf("TCP_RR", s), "mean", s),
                          # takes what one read brings for the message: beyond one segment of loopback it would not wait for the whole
                          ("lat_tcp", "lmbench", p.lmbench_latency("tcp", min(s, 65000)), "median", min(s, 65000))],
        "udp": lambda s: [("sockperf", "sockperf p50", p.sockperf("udp", s), "median", s), ("qperf", "qperf mean", p.qperf("udp_lat", s), "mean", s),
                          ("netperf", "netperf mean", p.netperf("UDP_RR", s), "mean", s), ("lat_udp", "lmbench", p.lmbench_latency("udp", s), "median", s)],
        "unix": lambda s: [("lat_unix", "lmbench", p.lmbench_latency("unix", s), "median", s)],
    }
    for mode, sizes in (("tcp", (64, 65536)), ("udp", (64, 65000)), ("unix", (64, 65536))):
        for size in sizes:
            for program, peer, theirs, figure, ours_size in peers[mode](size):
                yield Row(ONE_CPU, f"{mode} latency {ours_size}", program, peer, p.ipcstall(mode, "latency", ours_size, figure), theirs, True,
                          0.92 if mode == "udp" and peer != "lmbench" else 1.0)
    yield Row(ONE_CPU, "pipe latency 4", "perf", "perf bench mean", p.ipcstall("pipe", "latency", 4, "mean"), p.perf_pipe, True, 1.0)
    yield Row(ONE_CPU, "pipe latency 1", "lat_pipe", "lmbench", p.ipcstall("pipe", "latency", 1), p.lmbench_latency("pipe", 1), True, 1.0)


def bulk_rows():
    for size in (64, 1024, 65536):
        ours = p.ipcstall("tcp", "throughput", size)
        name = f"tcp throughput {size}"
        yield Row(BULK, name, "iperf3", "iperf3", ours, p.iperf3(size), False, 1.9 if size <= 1024 else 1.0)
        yield Row(BULK, name, "qperf", "qperf", ours, p.qperf("tcp_bw", size), False, 1.0)
        yield Row(BULK, name, "netperf", "netperf", ours, p.netperf("TCP_STREAM", size), False, 1.0)
        # asks for these buffers itself, whatever the system's are
        ours = p.ipcstall("tcp", "throughput", size, extra=["--sndbuf", "1M", "--rcvbuf", "1M"])
        yield Row(BULK, name, "bw_tcp", "lmbench, both with its 1M", ours, p.lmbench_bulk("tcp", size), False, 1.0)
    ours = p.ipcstall("udp", "throughput", 1024)
    yield Row(BULK, "udp throughput 1024", "qperf", "qperf", ours, p.qperf("udp_bw", 1024), False, 1.0)
    yield Row(BULK, "udp throughput 1024", "netperf", "netperf", ours, p.netperf("UDP_STREAM", 1024), False, 1.0)
    for mode in ("unix", "pipe"):
        ours = p.ipcstall(mode, "throughput", 65536)
        yield Row(BULK, f"{mode} throughput 65536", f"bw_{mode}", "lmbench", ours, p.lmbench_bulk(mode, 65536), False, 1.0)
        yield Row(BULK, f"{mode} throughput 65536", "hackbench", "hackbench", ours, p.hackbench(mode, 65536), False, 1.0)


def across_rows():
    yield Row(ACROSS, "tcp latency 64", "sockperf", "sockperf p50", p.ipcstall("tcp", "latency", 64, placement="cross"), p.sockperf("tcp", 64), True, 1.0, "cross")
    yield Row(ACROSS, "udp latency 64", "sockperf", "sockperf p50", p.ipcstall("udp", "latency", 64, placement="cross"), p.sockperf("udp", 64), True, 1.0, "cross")
    for program, peer, theirs in (("iperf3", "iperf3", p.iperf3(65536)), ("qperf", "qperf", p.qperf("tcp_bw", 65536)), ("netperf", "netperf", p.netperf("TCP_STREAM", 65536))):
        yield Row(ACROSS, "tcp throughput 65536", program, peer, p.ipcstall("tcp", "throughput", 65536, placement="cross"), theirs, False, 1.0, "cross")


def with_knobs(mode, placement, found):
    """The tool with what --tuned finds at the first call; `found` keeps it for the record."""
    def measure(cpus, seconds):
        if not found:
            found.append(p.ipcstall_knobs(mode, 65536, placement, cpus))
        return p.ipcstall(mode, "throughput", 65536, extra=found[0], placement=placement)(cpus, seconds)
    measure.found = found
    return measure


def tuned_rows():
    for placement in ("same", "cross", "cross-awake"):
        for mode in ("tcp", "unix", "pipe"):
            yield Row(OWN, f"{mode} throughput 65536", p.TOOL, "ipcstall, default", with_knobs(mode, placement, []),
                      p.ipcstall(mode, "throughput", 65536, placement=placement), False, 1.5, placement)
    sizes = ("128K", "256K", "512K", "1M")
    for placement in ("same", "cross"):
        ours = with_knobs("tcp", placement, [])
        iperf = p.best_of([p.iperf3(65536, ["-C", cc, "-w", w]) for cc in ("cubic", "reno") for w in sizes])
        qperf = p.best_of([p.qperf("tcp_bw", 65536, ["-sb", w]) for w in sizes])
        netperf = p.best_of([p.netperf("TCP_STREAM", 65536, ["-s", w, "-S", w, "-K", cc]) for cc in ("cubic", "reno") for w in sizes[1:]])
        for program, theirs in (("iperf3", iperf), ("qperf", qperf), ("netperf", netperf)):
            yield Row(TUNED, "tcp throughput 65536", program, f"{program}, tuned", ours, theirs, False, 1.0, placement)


def all_rows():
    return [*latency_rows(), *bulk_rows(), *across_rows(), *tuned_rows()]
