# SPDX-License-Identifier: GPL-2.0-only
"""memcached over UDP (-U): a frame of 8 bytes before each request and answer (doc/protocol.txt, "UDP protocol")."""
import os
import signal
import socket
import struct

import harness
from harness import HUNG, SCALE, Wrong, case, free_port, messages, need, settled, until

GET = struct.pack(">HHHH", 1, 0, 1, 0) + b"get key\r\n"


def server(box):
    port, program = free_port(), need("memcached")
    process = box.serve([program, "-u", "root", "-l", "127.0.0.1", "-p", str(port), "-U", str(port), "-t", "1"], port, log="server.log")
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.settimeout(HUNG)
    client.connect(("127.0.0.1", port))
    return process, port, client


REQUESTS = int(2000 * SCALE)


def all_answered(endpoints, missed):
    answered = messages((e for e in endpoints if e["beside"]["tx"]["comm"] == "memcached"), missed)
    if answered is not None and not REQUESTS - missed <= answered <= REQUESTS:
        senders = [(e["proto"], e["beside"]["tx"]["comm"], e["beside"]["tx"]["messages"])
                   for e in endpoints if e["beside"]["tx"]["messages"]]
        raise Wrong(f"{answered} answers seen, not {REQUESTS}: {senders[:5]}")


@case("memcached-udp", also=all_answered, guest=True)
def healthy(box):
    """A request, an answer, in turn: UDP has no window and nothing fills a buffer. Healthy, and nothing dropped."""
    process, _, client = server(box)
    trace = box.attach("-p", str(process.pid), "--proto", "udp")
    for _ in range(REQUESTS):
        client.send(GET)
        client.recv(2000)
    return trace.end()


@case("memcached-udp-overload", lost="rcvbuf")
def overload(box):
    """
    Stopped, the server reads nothing while 2000 requests come: what its receive buffer cannot hold is dropped there, as many as
    the kernel counts in /proc/net/snmp. Nobody stalls: UDP does not wait. The verdict is the loss.
    """
    process, port, client = server(box)
    before = kernel_drops()
    trace = box.attach("-a", "-P", str(port))
    client.send(GET)
    client.recv(2000)
    os.kill(process.pid, signal.SIGSTOP)
    for _ in range(2000):
        client.send(GET)
    settled("the datagrams", lambda: (kernel_drops(), unread(port)))
    os.kill(process.pid, signal.SIGCONT)
    until("the server to have read", lambda: not unread(port))
    ledger = trace.end()
    reason = "other" if harness.SAMPLED else "rcvbuf"  # the socket's own count has none
    seen = sum(e["beside"]["drops"][reason] or 0 for e in ledger["endpoints"])
    lost = {name: after - before[name] for name, after in kernel_drops().items()}
    most = sum(lost.values())
    # samples count from the first on
    right = 0 < seen <= most if harness.SAMPLED else 1000 <= seen == most
    if not right:
        raise Wrong(f"dropped for want of receive buffer: {seen} seen, the kernel counted {lost}")
    return ledger


def unread(port):
    """Bytes that wait in the receive buffers of this port's sockets."""
    with open("/proc/net/udp", encoding="ascii") as f:
        return sum(int(line.split()[4].split(":")[1], 16) for line in f if line.split()[1].endswith(f":{port:04X}"))


def kernel_drops():
    """Datagrams for which a socket, or all of them together (MemErrors), had no memory. Read when nothing is under way."""
    with open("/proc/net/snmp", encoding="ascii") as f:
        names, values = [line.split() for line in f if line.startswith("Udp:")]
    return {name: int(values[names.index(name)]) for name in ("RcvbufErrors", "MemErrors")}
