#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
short_connections.py: without a ledger, a client that makes a connection for each request, and waits
there for the answer for less than the time between two looks.

Exit: 0 right, 1 wrong."""
import socket
import sys
import time

import attached
from talkers import PORT, child

THINKS = 0.005


def serve(listener, think):
    while True:
        connection, _ = listener.accept()
        connection.recv(100)
        time.sleep(think)
        connection.send(b"answer")
        connection.close()


def ask():
    while True:
        with socket.create_connection(("127.0.0.1", PORT)) as s:
            s.send(b"question")
            s.recv(100)


def main():
    listener = socket.create_server(("127.0.0.1", PORT))
    pids = [child("server", lambda: serve(listener, THINKS)), child("client", ask, listener)]
    listener.close()
    ledger = attached.ledger_until_end(pids)
    is_long = (ledger["card"]["ns"] or 0) > 1.5e9  # of three seconds
    return 0 if attached.waits(ledger, "client", "server") and is_long else 1


if __name__ == "__main__":
    sys.exit(main())
