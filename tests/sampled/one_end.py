#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
one_end.py: of a connection whose ports tell nothing, made before anybody looked, one end alone is
traced: a client that waits in epoll for its answers waits, also in the exact ledger; one that
asked nothing, and a server that nobody asks, do not.

Exit: 0 right, 1 wrong."""
import json
import select
import socket
import sys
import time

import attached
from talkers import child, serve

SYSTEMS_CHOICE = ("127.0.0.1", 0)


def ask_in_epoll(s, pause):
    poll = select.epoll()
    poll.register(s, select.EPOLLIN)
    while True:
        s.send(b"question")
        poll.poll()
        s.recv(100)
        time.sleep(pause)


def outcomes(think, pause):
    """Of the client's end alone, by looks and by the ledger, and of the server's end alone."""
    with socket.create_server(SYSTEMS_CHOICE) as listener:
        client = socket.create_connection(listener.getsockname())
        server = listener.accept()[0]
    pids = [child("client", lambda: ask_in_epoll(client, pause), server),
            child("server", lambda: serve(server, think, True), client)]
    server.close()
    client.close()
    try:
        time.sleep(0.3)
        said = [attached.ledger(pids[:1]), attached.ledger(pids[:1], attached.EXACT),
                attached.ledger(pids[1:])]
    finally:
        attached.end(pids)
    print(json.dumps([ledger["card"] for ledger in said])[:1200])
    return [ledger["outcome"] for ledger in said]


def main():
    right = outcomes(think=0.2, pause=0) == ["waiting"] * 3
    right = outcomes(think=0, pause=0.2) == ["healthy"] * 3 and right
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
