#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
proven_wait.py: what samples of one program cannot tell, the ledger of two seconds does: whom a
proxy asks by Unix sockets, and that connections are refused. A helper that is not traced has its
name.

Exit: 0 right, 1 wrong."""
import json
import os
import select
import socket
import sys
import time

import attached
from talkers import PORT, ask, child, pair, serve

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


def of_an_untraced_helper():
    server, client = socket.socketpair()
    pids = [child("helper", lambda: serve(server, THINKS, False), client),
            child("asker", lambda: ask(client, 0), server)]
    server.close()
    client.close()
    return pids, pids[1]


def answer_datagrams(s):
    while True:
        _, sender = s.recvfrom(100)
        time.sleep(THINKS)
        s.sendto(b"answer", sender)


def bound(host):
    s = socket.socket(type=socket.SOCK_DGRAM)
    s.bind((host, PORT))
    return s


def of_an_untraced_helper_by_datagrams():
    """Another has its port, at other addresses."""
    helpers = bound("127.0.0.3")
    others = [bound(host) for host in ("127.0.0.1", "127.0.0.2")]
    client = socket.socket(type=socket.SOCK_DGRAM)
    client.connect(helpers.getsockname())
    pids = [child("other", lambda: others[0].recv(100), helpers, client),
            child("helper", lambda: answer_datagrams(helpers), client, *others),
            child("asker", lambda: ask(client, 0), helpers, *others)]
    for s in (client, helpers, *others):
        s.close()
    return pids, pids[2]


def connect_in_vain():
    while True:
        with socket.socket() as s:
            s.connect_ex(("127.0.0.1", PORT + 1))
        time.sleep(THINKS)


def of_refused_connections():
    """They end before they are sampled."""
    pids = [child("asker", connect_in_vain)]
    return pids, pids[0]


def proof(start):
    """What the samples said, and the card of the proof that answers."""
    pids, traced = start()
    try:
        document = attached.document([traced], ())
    finally:
        attached.end(pids)
    outcome, answer = document["ledger"]["outcome"], document["answer"]
    said = {"who": "", "head": ""}
    if answer is not None:
        said = document["proofs"][answer]["ledger"]["card"]
    print(outcome, json.dumps(said)[:900])
    return outcome, said


def main():
    for start, outcome, who, whom in ((behind_unix_sockets, "waiting", "proxy", "helper"),
                                      (of_an_untraced_helper, "waiting", "asker", "helper"),
                                      (of_an_untraced_helper_by_datagrams, "waiting", "asker",
                                       "helper"),
                                      (of_refused_connections, "unknown", "asker", "a program")):
        said, card = proof(start)
        if said != outcome or not card["who"].startswith(who) or whom not in card["head"]:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
