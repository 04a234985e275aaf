#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""busy_reader.py: a reader that computes on all it reads limits its sender, and is not one that does not read. Without a ledger.

Exit: 0 right, 1 wrong, 77 the host left the reader too little CPU to say."""
import hashlib
import json
import os
import signal
import socket
import sys
import time

import attached

TICKS = os.sysconf("SC_CLK_TCK")
ENOUGH = 0.85


def cpu_s(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
        words = f.read().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / TICKS


def endless(work, others):
    pid = os.fork()
    if not pid:
        others.close()
        signal.alarm(60)
        while True:
            work()
    return pid


def main():
    here, there = socket.socketpair()
    seen = hashlib.sha512()
    pids = [endless(lambda: here.sendall(bytes(65536)), there), endless(lambda: seen.update(there.recv(65536)), here)]
    here.close()
    there.close()
    try:
        time.sleep(0.3)
        began, before = time.monotonic(), cpu_s(pids[1])
        ledger = attached.ledger(pids)
        share = (cpu_s(pids[1]) - before) / (time.monotonic() - began)
    finally:
        attached.end(pids)
    print(f"the reader had {share:.0%} of a CPU:", json.dumps(ledger["card"])[:600])
    if ledger["card"]["kind"] == "limit" and "reader's CPU" in ledger["card"]["head"]:
        return 0
    return 1 if share >= ENOUGH else 77


if __name__ == "__main__":
    sys.exit(main())
