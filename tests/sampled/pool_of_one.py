#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
pool_of_one.py: without a ledger, three clients and a proxy that asks its server one request at a
time. Each request has a connection of its own on both sides, and all wait in poll(). The proxy
resets its connections, as haproxy does, and TCP sets its counts back then.

Exit: 0 right, 1 wrong."""
import select
import socket
import struct
import sys
import threading

import attached
from talkers import PORT, child
from short_connections import serve

THINKS = 0.2
CLIENTS = 3
RESETS = struct.pack("ii", 1, 0)  # SO_LINGER: close() does not wait


def wait_for(s):
    select.select([s], [], [])
    return s.recv(100)


def ask(port):
    with socket.create_connection(("127.0.0.1", port)) as s:
        s.send(b"question")
        return wait_for(s)


def ask_server(port, turn):
    with turn, socket.create_connection(("127.0.0.1", port)) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESETS)
        s.send(b"question")
        return wait_for(s)


def pass_on(client, port, turn):
    with client:
        wait_for(client)
        client.send(ask_server(port, turn))


def proxy(listener, port):
    turn = threading.Lock()
    while True:
        client, _ = listener.accept()
        threading.Thread(target=pass_on, args=(client, port, turn)).start()


def ask_for_ever(port):
    while True:
        ask(port)


def main():
    server, front = (socket.create_server(("127.0.0.1", PORT + k)) for k in range(2))
    pids = [child("server", lambda: serve(server, THINKS), front),
            child("proxy", lambda: proxy(front, PORT), server)]
    pids += [child("client", lambda: ask_for_ever(PORT + 1), server, front)
             for _ in range(CLIENTS)]
    server.close()
    front.close()
    ledger = attached.ledger_until_end(pids)
    ns = ledger["card"]["ns"] or 0
    whole = 0.9 * CLIENTS * 3e9 < ns < 1.1 * CLIENTS * 3e9
    return 0 if attached.waits(ledger, "client", "server") and whole else 1


if __name__ == "__main__":
    sys.exit(main())
