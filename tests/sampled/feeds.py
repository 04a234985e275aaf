#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
feeds.py: a server that sends pings, or news, and is sent small acknowledgements. To count those as
requests, and the next ping as the answer, makes a healthy conversation a wait. The same messages
of a server that sleeps before each answer are a wait, and so are those of a proxy that waits for
another server, and what was asked before the session began.

Exit: 0 right, 1 wrong."""
import json
import os
import select
import socket
import sys
import time

import attached
from talkers import child, pair, serve

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


def forward(s):
    """Pass each message on to a server that takes its time, and poll both."""
    there, here = pair()
    child("backend", lambda: serve(there, EACH, False), s, here)
    there.close()
    other = {s: here, here: s}
    while True:
        for ready in select.select([s, here], [], [])[0]:
            other[ready].send(ready.recv(100))


def by_unix_socket():
    """A client in poll() for several descriptors, of which samples see neither end wait."""
    there, here = socket.socketpair()
    pids = [child("server", lambda: serve(there, EACH, False), here),
            child("client", lambda: poll_two(here), there)]
    there.close()
    here.close()
    time.sleep(0.3)
    try:
        shown = attached.shown(attached.document([pids[1]], (), "6s"))
    finally:
        attached.end(pids)
    print("by_unix_socket", json.dumps(shown["card"])[:300])
    return attached.waits(shown, "client", "server")


def poll_two(s):
    other = os.pipe()[0]
    while True:
        s.send(b"question")
        while s not in select.select([s, other], [], [])[0]:
            pass
        s.recv(100)


def never_answer(s):
    s.recv(100)
    time.sleep(60)


def answer_and_hang(s):
    for _ in range(20):
        s.recv(100)
        s.send(b"ping")
    time.sleep(60)


def what_comes(s):
    """Waited for in epoll."""
    poll = select.epoll()
    poll.register(s, select.EPOLLIN)
    while poll.poll():
        yield s.recv(100)


def inquire_by_epoll(s):
    """Ask again as soon as there is an answer: both have one date, in ticks."""
    s.send(b"pong")
    for _ in what_comes(s):
        s.send(b"pong")


def greet(s):
    """Settings and their acknowledgement; then nothing is asked for, and both poll."""
    s.send(b"ping")
    for _ in what_comes(s):
        pass


def inquire(s):
    while True:
        s.send(b"pong")
        s.recv(100)


def acknowledge(s):
    while s.recv(100):
        s.send(b"pong")


def said_of(end, work, tier, client=acknowledge):
    there, here = pair()
    pids = [child("server", lambda: work(there), here),
            child("client", lambda: client(here), there)]
    there.close()
    here.close()
    time.sleep(0.3)
    try:
        said = attached.document([pids[end]], tier, "2s")["ledger"]
    finally:
        attached.end(pids)
    print(work.__name__, "server client".split()[end], said["outcome"],
          json.dumps(said["card"])[:300])
    return said


def main():
    server, client = 0, 1
    right = [said_of(server, ping, attached.LOOKS)["outcome"] == "healthy",
             said_of(client, ping, attached.EXACT)["outcome"] == "healthy",
             attached.waits(said_of(server, answer, attached.EXACT), "client", "server"),
             attached.waits(said_of(client, answer, attached.LOOKS), "client", "server")]
    right += [said_of(client, forward, tier, inquire)["outcome"] == "waiting"
              for tier in (attached.LOOKS, attached.EXACT)]
    right += [by_unix_socket()]
    right += ["had sent a request before" in
              said_of(client, never_answer, tier, inquire)["card"]["why"]
              for tier in (attached.LOOKS, attached.EXACT)]
    right += [attached.waits(said_of(client, answer_and_hang, tier, inquire_by_epoll),
                             "client", "server") for tier in (attached.LOOKS, attached.EXACT)]
    right += [said_of(client, greet, tier, inquire_by_epoll)["outcome"] in ("healthy", "unknown")
              for tier in (attached.LOOKS, attached.EXACT)]
    print(right)
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
