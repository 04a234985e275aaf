# SPDX-License-Identifier: GPL-2.0-only
"""iperf3 -w: SO_SNDBUF and SO_RCVBUF, of both ends."""
from harness import ANYONE, Stall, case, free_port, listens, need, until


def transfer(box, *options):
    program = need("iperf3")
    port = free_port()
    server = box.start([program, "-s", "-1", "-p", str(port), "-B", "127.0.0.1"], log="server.log")
    until("iperf3 -s", lambda: listens(port))
    trace = box.attach("-a", "-P", str(port))
    box.start([program, "-c", "127.0.0.1", "-p", str(port), *options], log="client.log").wait(30)
    server.wait(10)
    return trace.end()


@case("iperf-small", Stall(("rwnd", "sndbuf"), "iperf3", share=(0.05, 1.0), blamed=ANYONE), guest=True)
def small(box):
    """
    A receive buffer of 4 KB (the kernel doubles it) holds a window of a few hundred bytes to 4 KB, less than the loopback's MSS:
    after each segment the next does not fit until the server has read. The send buffer is as small: where it is full before the
    window is, the writer sleeps for memory instead. How much of the time each is depends on how fast two processes take turns on
    this machine; the rest is the sender's own work. Whether the server counts as absent does too.
    """
    return transfer(box, "-w", "4K", "-l", "4K", "-t", "2")
