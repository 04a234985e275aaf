# SPDX-License-Identifier: GPL-2.0-only
"""As writer.c. writer PORT [nodelay]"""
import socket
import sys


def send_message(conn: socket.socket) -> None:
    conn.sendall(bytes(16))
    conn.sendall(bytes(1000))  # the small piece


connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, int(len(sys.argv) > 2))
while True:
    send_message(connection)
    if not connection.recv(32, socket.MSG_WAITALL):
        break
