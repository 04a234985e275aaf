#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
waits_in_epoll.py: without a ledger, a client that waits in poll() for a server that thinks, and a
server that is idle in recv().

Exit: 0 right, 1 wrong."""
import contextlib
import json
import os
import select
import signal
import socket
import sys
import time

import attached

PORT = 20000 + os.getpid() % 10000  # below the ephemeral ports: a server's


def pair():
    """A server's end and a client's, of one connection."""
    with socket.create_server(("127.0.0.1", PORT)) as listener:
        client = socket.create_connection(listener.getsockname())
        return listener.accept()[0], client


def child(name, work, others):
    pid = os.fork()
    if not pid:
        signal.alarm(60)
        others.close()
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


def card(think, pause, polls):
    server, client = pair()
    pids = [child("server", lambda: serve(server, think, polls), client),
            child("client", lambda: ask(client, pause), server)]
    server.close()
    client.close()
    try:
        time.sleep(0.3)
        ledger = attached.ledger(pids)
    finally:
        attached.end(pids)
    print(json.dumps(ledger["card"])[:600])
    return ledger["outcome"], ledger["card"]


def main():
    outcome, said = card(think=0.1, pause=0, polls=True)
    if outcome != "waiting" or (said["who"][:6], said["for_whom"][:6]) != ("client", "server"):
        return 1
    outcome, _ = card(think=0, pause=0.2, polls=False)
    return 0 if outcome == "healthy" else 1


if __name__ == "__main__":
    sys.exit(main())
