#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
full_pipe.py: without a ledger, who writes to a full pipe is told who should read it: by a session
that traces the writer alone, and where fork() left copies of the read end.

Exit: 0 right, 1 wrong, 77 the host left the reader that computes too little CPU to say."""
import hashlib
import json
import os
import sys
import time

import attached
from busy_reader import ENOUGH, cpu_s
from talkers import child

PAUSE = 0.02


def fill(fd):
    while True:
        os.write(fd, bytes(4096))


def sip(fd):
    while os.read(fd, 4096):
        time.sleep(PAUSE)


def compute(fd):
    seen = hashlib.sha512()
    while piece := os.read(fd, 65536):
        for _ in range(20):
            seen.update(piece)


def sleep(_):
    time.sleep(60)


def start(out, into, read, is_sloppy):
    """Writer and reader; the sloppy ones, and one that does nothing, keep all that they inherit."""
    def work(job, used, unused):
        if not is_sloppy:
            os.close(unused)
        job(used)

    pids = [child("writer", lambda: work(fill, into, out)),
            child("reader", lambda: work(read, out, into))]
    os.close(into)
    os.close(out)
    return pids


def by_pipe(read, is_sloppy):
    return start(*os.pipe(), read, is_sloppy)


def by_fifo(read):
    os.mkfifo("fifo")
    out = os.open("fifo", os.O_RDONLY | os.O_NONBLOCK)
    into = os.open("fifo", os.O_WRONLY)
    os.set_blocking(out, True)
    os.unlink("fifo")
    return start(out, into, read, is_sloppy=False)


def with_bystander():
    out, into = os.pipe()
    bystander = child("bystander", lambda: sleep(out))
    return [*start(out, into, sip, is_sloppy=False), bystander]


def card(pids):
    try:
        time.sleep(0.3)  # the pipe is full
        began, before = time.monotonic(), cpu_s(pids[1])
        found = attached.ledger(pids[:1])["card"]
        share = (cpu_s(pids[1]) - before) / (time.monotonic() - began)
    finally:
        attached.end(pids)
    print(f"the reader had {share:.0%} of a CPU:", json.dumps(found)[:600])
    return found, share


def names_reader(pids):
    said, _ = card(pids)
    return (said["kind"] == "stall" and said["who"][:6] == "writer"
            and said["for_whom"][:6] == "reader")


def main():
    named = [names_reader(by_pipe(sip, is_sloppy=False)),
             names_reader(by_pipe(sip, is_sloppy=True)),
             names_reader(by_fifo(sip)), names_reader(with_bystander())]
    if not all(named):
        return 1
    said, share = card(by_pipe(compute, is_sloppy=False))
    if said["kind"] == "limit" and "reader's CPU" in said["head"]:
        return 0
    return 1 if share >= ENOUGH else 77


if __name__ == "__main__":
    sys.exit(main())
