# SPDX-License-Identifier: GPL-2.0-only
"""
answered.py client|server|both: a client that asks and a server that answers, and both know their times. The server reads late by `late` ms and
thinks `think` ms, at every 150th request `long` ms more. The client waits in recv(), poll() or
epoll (`wait`), and pauses `pause` ms after each answer; the server waits in recv() or epoll
(`serves`). What each of them took stands in a file at the end: ns, one figure a line.

answered.py cable DELAY_MS NETNS NETNS: a cable between two network namespaces, 10.8.0.1 and 10.8.0.2, that takes so long each way; it says
"up", and ends with its input.
"""
import ctypes
import fcntl
import heapq
import os
import select
import socket
import struct
import sys
import time

clock = time.monotonic_ns
LONG_EVERY = 150  # requests
QUESTION, ANSWER = b"q" * 100, b"a" * 100


def settings(words):
    return {"how": "tcp", "wait": "recv", "serves": "recv", "think": "0", "long": "0", "pause": "0",
            "late": "0", "n": "10", "port": "0", "to": "127.0.0.1",
            **dict(w.split("=", 1) for w in words)}


def serve(c, o, says):
    """c: how to read and write. What it thought, and how long questions lay, by when they were sent (the last 8 bytes of each)."""
    thought = lay = 0
    comes = waiting(o["serves"], c)
    for i in range(int(o["n"])):
        comes()
        time.sleep(int(o["late"]) / 1000)
        sent = struct.unpack("q", c.read(len(QUESTION))[-8:])[0]
        took = clock()
        lay += took - sent
        time.sleep((int(o["think"]) + (0 if i % LONG_EVERY else int(o["long"]))) / 1000)
        thought += clock() - took
        c.write(ANSWER)
    c.read(1)  # the client is done
    put(says, thought, lay)


def ask(c, o, says):
    waited = 0
    comes = waiting(o["wait"], c)
    for _ in range(int(o["n"])):
        c.write(QUESTION[:-8] + struct.pack("q", clock()))
        asked = clock()
        comes()
        c.read(len(ANSWER))
        waited += clock() - asked
        if int(o["pause"]):  # sleep(0) sleeps, too
            time.sleep(int(o["pause"]) / 1000)
    put(says, waited)


def waiting(how, c):
    """What waits until something has come: nothing does before a receive call."""
    if how == "recv":
        return lambda: None
    p = {"poll": select.poll, "epoll": select.epoll}[how]()
    p.register(c.reads, select.POLLIN)
    return p.poll


def put(name, *figures):
    with open(name, "w", encoding="ascii") as f:
        f.write("\n".join(map(str, figures)))


class Ends:
    """Descriptors to read from and to write to."""

    def __init__(self, reads, writes=None, keeps=None):
        self.reads, self.writes, self.keeps = reads, reads if writes is None else writes, keeps

    def read(self, n):
        return os.read(self.reads, n)

    def write(self, data):
        os.write(self.writes, data)


def tcp(s):
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Ends(s.fileno(), keeps=s)


def pairs(how):
    if how == "unix":
        a, b = socket.socketpair()
        return Ends(a.fileno(), keeps=a), Ends(b.fileno(), keeps=b)
    (r, w), (r2, w2) = os.pipe(), os.pipe()
    return Ends(r2, w), Ends(r, w2)


def both(o):
    if o["how"] == "tcp":
        listener = socket.create_server(("127.0.0.1", 0))
        o["port"] = str(listener.getsockname()[1])
    else:
        mine, its = pairs(o["how"])
    server = os.fork()
    if not server:
        serve(tcp(listener.accept()[0]) if o["how"] == "tcp" else its, o, "served")
        os._exit(0)
    client = tcp(socket.create_connection(("127.0.0.1", int(o["port"])))) if o["how"] == "tcp" else mine
    ask(client, o, "asked")
    if o["how"] == "pipe":
        os.write(mine.writes, b"x")
    else:
        client.keeps.shutdown(socket.SHUT_WR)
    os.waitpid(server, 0)


def server(o):
    listener = socket.create_server((o["to"], int(o["port"])))
    put("port", listener.getsockname()[1])
    serve(tcp(listener.accept()[0]), o, "served")


def client(o):
    ask(tcp(socket.create_connection((o["to"], int(o["port"])))), o, "asked")


# --- a cable that takes its time ----------------------------------------------------------------------------------------

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000


def tun(netns, address):
    """The packets of an interface in that namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/run/netns/{netns}", "rb") as f:
        if libc.setns(f.fileno(), 0):
            raise OSError(ctypes.get_errno(), "setns")
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", b"cable", IFF_TUN | IFF_NO_PI))
    for words in (f"address add {address}/24 dev cable", "link set cable up"):
        if os.system(f"ip {words}"):
            sys.exit(1)
    return fd


def cable(delay_ms, *spaces):
    ends = [tun(space, f"10.8.0.{i}") for i, space in enumerate(spaces, 1)]
    on_its_way, n = [], 0
    print("up", flush=True)
    while True:
        wait = max(0, on_its_way[0][0] - clock()) / 1e9 if on_its_way else None
        ready = select.select([*ends, 0], [], [], wait)[0]
        if 0 in ready:
            return
        for fd in ready:
            n += 1
            heapq.heappush(on_its_way, (clock() + int(float(delay_ms) * 1e6), n, ends[1 - ends.index(fd)], os.read(fd, 65536)))
        while on_its_way and on_its_way[0][0] <= clock():
            _, _, to, packet = heapq.heappop(on_its_way)
            os.write(to, packet)


if sys.argv[1] == "cable":
    cable(*sys.argv[2:])
else:
    {"both": both, "server": server, "client": client}[sys.argv[1]](settings(sys.argv[2:]))
