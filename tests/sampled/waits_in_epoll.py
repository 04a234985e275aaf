#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
waits_in_epoll.py: without a ledger, a client that waits in poll() for a server that thinks, and a
server that is idle in recv().

Exit: 0 right, 1 wrong."""
import json
import sys
import time

import attached
from talkers import ask, child, pair, serve


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
