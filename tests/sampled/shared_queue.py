#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
shared_queue.py: fork() leaves both ends of a pipe with both processes, as Python's
multiprocessing.Queue does. The one that sleeps in a read waits for the other, and is not itself
the writer.

Exit: 0 right, 1 wrong."""
import os
import sys
import time

import attached
from talkers import child


def produce(end):
    while True:
        time.sleep(0.3)
        os.write(end, b"item")


def consume(end):
    while os.read(end, 100):
        pass


def main():
    reads, writes = os.pipe()
    pids = [child("producer", lambda: produce(writes)), child("consumer", lambda: consume(reads))]
    os.close(reads)
    os.close(writes)
    time.sleep(0.3)
    try:
        said = attached.document(pids[1:], lasts="2s")["ledger"]
    finally:
        attached.end(pids)
    return 0 if attached.waits(said, "consumer", "producer") else 1


if __name__ == "__main__":
    sys.exit(main())
