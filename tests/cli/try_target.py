#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A service for `ipcstall try`: its client writes a header and a body apart and waits for the answer.

try_target.py client|healthy|paced PIDS STATUS: writes "CLIENT SERVER" to PIDS once both talk, and until it is told to
end (SIGTERM) keeps in STATUS what the client's socket has: "TCP_NODELAY TCP_QUICKACK MESSAGES INTACT".
"""
import ctypes
import hashlib
import os
import signal
import socket
import sys
import threading
import time

HEAD, BODY = 16, 1000
PR_SET_PDEATHSIG = 1
PACE_S = 0.1  # of "paced": far longer than a delayed ACK takes


def whole(conn: socket.socket, size: int) -> bytes:
    parts = b""
    while len(parts) < size:
        piece = conn.recv(size - len(parts))
        if not piece:
            raise SystemExit(0)
        parts += piece
    return parts


def serve(listener: socket.socket) -> None:
    conn = listener.accept()[0]
    while True:
        message = whole(conn, HEAD + BODY)
        conn.sendall(hashlib.sha256(message).digest())


class Client:
    def __init__(self, address: tuple[str, int], kind: str) -> None:
        self.socket = socket.create_connection(address)
        self.kind, self.messages, self.intact = kind, 0, True
        self.next = time.monotonic()

    def talk(self) -> None:
        while True:
            head = self.messages.to_bytes(HEAD, "big")
            body = os.urandom(8) * (BODY // 8)
            if self.kind == "healthy":
                self.socket.sendall(head + body)
            else:
                self.socket.sendall(head)
                self.socket.sendall(body)
            answer = whole(self.socket, 32)
            self.intact &= answer == hashlib.sha256(head + body).digest()
            self.messages += 1
            if self.kind == "paced":
                self.next += PACE_S
                time.sleep(max(0.0, self.next - time.monotonic()))

    def status(self) -> str:
        options = [self.socket.getsockopt(socket.IPPROTO_TCP, o) for o in (socket.TCP_NODELAY, socket.TCP_QUICKACK)]
        return f"{options[0]} {options[1]} {self.messages} {int(self.intact)}\n"


def put(path: str, text: str) -> None:
    with open(path + ".new", "w", encoding="ascii") as f:
        f.write(text)
    os.replace(path + ".new", path)


def main() -> None:
    kind, pids, status = sys.argv[1:4]
    listener = socket.create_server(("127.0.0.1", 0))
    server = os.fork()
    if server == 0:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        serve(listener)
    client = Client(listener.getsockname(), kind)
    listener.close()
    threading.Thread(target=client.talk, daemon=True).start()
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    while client.messages < 5:
        time.sleep(0.01)
    put(pids, f"{os.getpid()} {server}\n")
    while True:
        put(status, client.status())
        time.sleep(0.02)


main()
