#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
feeds.py: a server that sends pings, or news, and is sent small acknowledgements. To count those as
requests, and the next ping as the answer, makes a healthy conversation a wait. The same messages
of a server that sleeps before each answer are a wait.

Exit: 0 right, 1 wrong."""
import json
import select
import sys
import time

import attached
from talkers import child, pair

EACH = 0.1  # seconds


def ping(s):
    """Wait for what comes, as an event loop does; a timer sends the next ping."""
    poll = select.epoll()
    poll.register(s, select.EPOLLIN)
    due = time.monotonic()
    while True:
        for _ in poll.poll(max(due - time.monotonic(), 0)):
            s.recv(100)
        if time.monotonic() >= due:
            s.send(b"ping")
            due += EACH


def answer(s):
    """Send the same, and work on nothing else meanwhile."""
    s.send(b"ping")
    while s.recv(100):
        time.sleep(EACH)
        s.send(b"ping")


def acknowledge(s):
    while s.recv(100):
        s.send(b"pong")


def said_of(end, serve, tier):
    there, here = pair()
    pids = [child("server", lambda: serve(there), here),
            child("client", lambda: acknowledge(here), there)]
    there.close()
    here.close()
    time.sleep(0.3)
    try:
        said = attached.document([pids[end]], tier, "2s")["ledger"]
    finally:
        attached.end(pids)
    print(serve.__name__, "server client".split()[end], said["outcome"],
          json.dumps(said["card"])[:300])
    return said


def main():
    server, client = 0, 1
    right = [said_of(server, ping, attached.LOOKS)["outcome"] == "healthy",
             said_of(client, ping, attached.EXACT)["outcome"] == "healthy",
             attached.waits(said_of(server, answer, attached.EXACT), "client", "server"),
             attached.waits(said_of(client, answer, attached.LOOKS), "client", "server")]
    print(right)
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
