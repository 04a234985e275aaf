#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
proven_wait.py: what samples of one program cannot tell, the ledger of two seconds does: whom a
proxy asks by Unix sockets, and for which of two descriptors a program waits in select().

Exit: 0 right, 1 wrong."""
import json
import os
import select
import socket
import sys
import time

import attached
from talkers import ask, child, pair, serve

THINKS = 0.1


def help_out(listener):
    while True:
        s, _ = listener.accept()
        with s:
            s.recv(100)
            time.sleep(THINKS)
            s.send(b"answer")


def proxy(client, path):
    while client.recv(100):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(path)
            s.send(b"question")
            select.select([s], [], [])
            client.send(s.recv(100))


def behind_unix_sockets():
    path = f"\0ipcstall-helper-{os.getpid()}"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    server, client = pair()
    pids = [child("helper", lambda: help_out(listener), server, client),
            child("proxy", lambda: proxy(server, path), client, listener),
            child("client", lambda: ask(client, 0), server, listener)]
    for s in (server, client, listener):
        s.close()
    return pids, pids[1]


def ask_beside_another(s):
    """Waits for an answer and for a pipe, through which nothing comes: no look tells for which."""
    other, _ = os.pipe()
    while True:
        s.send(b"question")
        select.select([s, other], [], [])
        s.recv(100)


def at_two_descriptors():
    server, client = socket.socketpair()
    pids = [child("helper", lambda: serve(server, THINKS, False), client),
            child("asker", lambda: ask_beside_another(client), server)]
    server.close()
    client.close()
    return pids, pids[1]


def proof(start):
    """What the samples said, and the card of the proof that answers."""
    pids, traced = start()
    try:
        document = attached.document([traced], ())
    finally:
        attached.end(pids)
    outcome, answer = document["ledger"]["outcome"], document["answer"]
    said = document["proofs"][answer]["ledger"]["card"] if answer is not None else {"who": "", "for_whom": ""}
    print(outcome, json.dumps(said)[:900])
    return outcome, said


def main():
    outcome, card = proof(behind_unix_sockets)
    right = outcome == "waiting" and (card["who"][:5], card["for_whom"][:6]) == ("proxy", "helper")
    outcome, card = proof(at_two_descriptors)
    names = card["who"][:5], card["for_whom"][:6]
    return 0 if right and outcome == "unknown" and names == ("asker", "helper") else 1


if __name__ == "__main__":
    sys.exit(main())
