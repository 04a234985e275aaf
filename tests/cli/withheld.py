#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""withheld.py HOW server|client: two ends that find each other by a file here. The client says how long it waited, in calls and pauses of over 20 ms."""
import os
import signal
import socket
import sys
import time

signal.alarm(300)  # where the other end never comes

def pieces(c, n=40):  # header and body written apart: the body waits by Nagle's algorithm for the ACK of the header
    for _ in range(n):
        c.sendall(b"h" * 100)
        time.sleep(0.002)
        yield
        c.sendall(b"b")
        c.recv(10)

def many(c):
    return pieces(c, 4000)

def fifth(c, then):  # four messages that are answered at once, for the timer to be used at all, and one for which it fires
    for _ in range(25):
        for _ in range(4):
            c.sendall(b"q" * 101)
            yield
            c.recv(10)
        c.sendall(b"." * 101)
        yield
        then(c)

def turns(c):  # that one is answered late
    return fifth(c, lambda c: c.recv(10))

def beats(c):  # or by nobody, and the next message comes a while later
    return fifth(c, lambda c: time.sleep(0.061))

def buffer(c):  # more than its send buffer holds, and an odd number of segments: the rest waits for memory until the ACK
    for _ in range(40):
        c.sendall(b"m" * 110000)
        yield
        c.recv(10)

how = sys.argv[1]
if sys.argv[2] == "server":
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen(1)
    with open("port.new", "w") as f:
        f.write(str(s.getsockname()[1]))
    os.rename("port.new", "port")
    a, got = s.accept()[0], 0
    message = 110000 if how == "buffer" else 101
    while data := a.recv(200000):
        got += len(data)
        late = data.endswith(b".")
        if got % message or (late and how == "beats"):
            continue
        time.sleep(0.06 if late else 0)
        a.sendall(b"k")
else:
    while not os.path.exists("port"):
        time.sleep(0.01)
    c, waited = socket.socket(), 0
    if how == "buffer":
        c.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2304)
    c.connect(("127.0.0.1", int(open("port").read())))
    if how in ("turns", "beats"):
        c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    before = time.monotonic()
    for _ in globals()[how](c):
        now = time.monotonic()
        waited, before = waited + (now - before if now - before > 0.02 else 0), now
    now = time.monotonic()
    print(waited + (now - before if now - before > 0.02 else 0))
