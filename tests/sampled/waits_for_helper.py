#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
waits_for_helper.py: without a ledger, a program that waits for a helper at the other ends of two
pipes, in read() or in select(), while another conversation goes on; and helpers without work, at
pipes and at socket pairs.

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
from talkers import NEVER, ask, child, pair, serve


def close(*fds):
    for fd in fds:
        os.close(fd)


def answer(questions, answers, think, ready):
    while os.read(questions, 100):
        os.write(ready, b"!")
        time.sleep(think)
        os.write(answers, b"answer")


def pipes():
    """Two: from whoever asks, and back to it."""
    return *os.pipe(), *os.pipe()


def socket_pair():
    asks, answers = (end.detach() for end in socket.socketpair())
    return answers, asks, os.dup(asks), os.dup(answers)


def start_helper(think, ready, others, connect=pipes):
    """Where to ask it, where its answers come, and its number."""
    q_out, q_in, a_out, a_in = connect()

    def work():
        close(q_in, a_out, *others)
        answer(q_out, a_in, think, ready)

    pid = child("helper", work)
    close(q_out, a_in)
    return q_in, a_out, pid


def ask_helper(to, answers, by_select):
    os.write(to, b"question")
    if by_select:
        select.select([answers], [], [])
    os.read(answers, 100)


def run_asker(tell, ready, think, by_select):
    to, answers, pid = start_helper(think, ready, [tell])
    os.write(tell, str(pid).encode())
    while True:
        ask_helper(to, answers, by_select)


def run_pool(tell, ready, connect):
    helpers = []
    for _ in range(3):
        helpers.append(start_helper(0, ready, [fd for h in helpers for fd in h[:2]],
                                    connect))
    for to, answers, _ in helpers:
        ask_helper(to, answers, by_select=False)
    os.write(tell, " ".join(str(h[2]) for h in helpers).encode())
    select.select([h[1] for h in helpers], [], [])


def chat():
    """Two that talk by TCP, and wait for nobody for long."""
    server, client = pair()
    pids = [child("server", lambda: serve(server, 0, False), client),
            child("client", lambda: ask(client, 0.02), server)]
    client.close()
    server.close()
    return pids


def card(work, *how, beside=chat):
    told, tell = os.pipe()
    heard, ready = os.pipe()
    pids = [*beside(), child("asker", lambda: work(tell, ready, *how))]
    helpers = [int(word) for word in os.read(told, 100).split()]
    os.read(heard, 1)  # the first question has come to a helper
    try:
        ledger = attached.ledger(pids + helpers)
    finally:
        attached.end(pids)
        for pid in helpers:
            with contextlib.suppress(ProcessLookupError):  # the end of its input ended it
                os.kill(pid, signal.SIGKILL)
        close(told, tell, heard, ready)
    print(how, json.dumps(ledger["card"])[:600])
    return ledger["outcome"], ledger["card"]


def waits_for_helper(*how):
    outcome, said = card(run_asker, *how)
    return outcome == "waiting" and said["who"][:5] == "asker" and said["for_whom"][:6] == "helper"


def main():
    right = [waits_for_helper(think, by_select)
             for think in (NEVER, 0.3) for by_select in (False, True)]
    pools = [card(run_pool, connect, beside=list)[0] for connect in (pipes, socket_pair)]
    return 0 if all(right) and pools == ["healthy", "healthy"] else 1


if __name__ == "__main__":
    sys.exit(main())
