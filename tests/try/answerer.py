#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""answerer.py PORT_FILE [COUNT_FILE]: answers each message of 1016 bytes with 32, to any number of clients. COUNT_FILE: how many, in eight bytes."""
import mmap
import os
import socket
import struct
import sys
import threading

MESSAGE, ANSWER = 1016, bytes(32)


def count_page(path: str | None) -> mmap.mmap:
    if not path:
        return mmap.mmap(-1, 8)
    with open(path, "w+b") as f:
        f.write(bytes(8))
        f.flush()
        return mmap.mmap(f.fileno(), 8)


def serve(conn: socket.socket, count: mmap.mmap) -> None:
    while True:
        left = MESSAGE
        while left:
            piece = conn.recv(left)
            if not piece:
                return
            left -= len(piece)
        conn.sendall(ANSWER)
        struct.pack_into("Q", count, 0, struct.unpack_from("Q", count, 0)[0] + 1)


def main() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    count = count_page(sys.argv[2] if len(sys.argv) > 2 else None)
    with open(sys.argv[1] + ".new", "w", encoding="ascii") as f:
        f.write(str(listener.getsockname()[1]))
    os.replace(sys.argv[1] + ".new", sys.argv[1])
    while True:
        conn = listener.accept()[0]
        threading.Thread(target=serve, args=(conn, count), daemon=True).start()


main()
