# SPDX-License-Identifier: GPL-2.0-only
"""A client and a server that the tests of the sampled tier look at."""
import contextlib
import os
import select
import signal
import socket
import time

NEVER = 60
PORT = 20000 + os.getpid() % 10000  # below the ephemeral ports: a server's


def pair():
    """A server's end and a client's, of one connection."""
    with socket.create_server(("127.0.0.1", PORT)) as listener:
        client = socket.create_connection(listener.getsockname())
        return listener.accept()[0], client


def child(name, work, *others):
    """A process that has none of the other ends."""
    pid = os.fork()
    if not pid:
        signal.alarm(NEVER)
        for other in others:
            other.close()
        with open("/proc/self/comm", "w", encoding="ascii") as f:
            f.write(name)
        with contextlib.suppress(OSError):  # the other one was ended first
            work()
        os._exit(0)
    return pid


def serve(s, think, polls):
    while True:
        if polls:
            select.select([s], [], [])
        if not s.recv(100):
            return
        time.sleep(think)
        s.send(b"answer")


def ask(s, pause):
    while True:
        s.send(b"question")
        select.select([s], [], [])
        s.recv(100)
        time.sleep(pause)
