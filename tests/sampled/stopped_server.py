#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
stopped_server.py: without a ledger, a client that waits for a server that was stopped is told so.

Exit: 0 right, 1 wrong."""
import json
import os
import signal
import sys
import time

import attached
from talkers import ask, child, pair, serve


def main():
    server, client = pair()
    pids = [child("server", lambda: serve(server, 0, False), client),
            child("client", lambda: ask(client, 0.01), server)]
    server.close()
    client.close()
    try:
        time.sleep(0.3)  # they talk
        os.kill(pids[0], signal.SIGSTOP)
        os.waitpid(pids[0], os.WUNTRACED)
        card = attached.ledger(pids)["card"]
    finally:
        attached.end(pids)
    print(json.dumps(card)[:600])
    right = card["for_whom"].startswith("server") and "server" in card["why"]
    return 0 if right and "was stopped" in card["why"] else 1


if __name__ == "__main__":
    sys.exit(main())
