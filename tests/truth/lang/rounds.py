# SPDX-License-Identifier: GPL-2.0-only
import socket
import sys
import time

port, rounds, pieces = map(int, sys.argv[1:])
s = socket.create_connection(("127.0.0.1", port))
late = 0
for _ in range(rounds):
    began = time.monotonic_ns()
    if pieces == 2:
        s.sendall(b"head")
        s.sendall(b"b" * 200)
    else:
        s.sendall(b"head" + b"b" * 200)
    s.recv(1)
    took = time.monotonic_ns() - began
    late += took if took >= 20_000_000 else 0
print(late)
