#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""answerer.py PORT_FILE [COUNT_FILE]: answers each message of 1016 bytes with 32, to any number of clients. COUNT_FILE: how many, in eight
bytes."""
import os
import socket
import struct
import sys
import threading

MESSAGE, ANSWER = 1016, bytes(32)
answered = 0
lock = threading.Lock()


def count(page: int) -> None:
    global answered
    with lock:
        answered += 1
        if page >= 0:
            os.pwrite(page, struct.pack("Q", answered), 0)


def serve(conn: socket.socket, page: int) -> None:
    while True:
        left = MESSAGE
        while left:
            piece = conn.recv(left)
            if not piece:
                return
            left -= len(piece)
        conn.sendall(ANSWER)
        count(page)


def main() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    page = os.open(sys.argv[2], os.O_RDWR | os.O_CREAT, 0o600) if len(sys.argv) > 2 else -1
    with open(sys.argv[1] + ".new", "w", encoding="ascii") as f:
        f.write(str(listener.getsockname()[1]))
    os.replace(sys.argv[1] + ".new", sys.argv[1])
    while True:
        conn = listener.accept()[0]
        threading.Thread(target=serve, args=(conn, page), daemon=True).start()


main()
