# SPDX-License-Identifier: GPL-2.0-only
"""Senders whose option holds the stream back. streams.py KIND COUNT_FILE [fixed]; counts in bytes what arrived, prints the sender's pid."""
import fcntl
import os
import socket
import struct
import sys
import typing

F_SETPIPE_SZ = 1031
SO_MAX_PACING_RATE = 47
PART = 65536


def tcp_pair() -> tuple[socket.socket, socket.socket]:
    listener = socket.create_server(("127.0.0.1", 0))
    out = socket.create_connection(listener.getsockname())
    return out, listener.accept()[0]


def corked(fixed: bool) -> tuple[socket.socket, socket.socket]:
    out, into = tcp_pair()
    out.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    out.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, int(not fixed))
    return out, into


def paced(fixed: bool) -> tuple[socket.socket, socket.socket]:
    out, into = tcp_pair()
    if not fixed:
        out.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, 4 << 20)
    return out, into


def small_buffer(fixed: bool) -> tuple[socket.socket, socket.socket]:
    out, into = tcp_pair()
    if not fixed:
        out.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4608)
    return out, into


def small_unix(fixed: bool) -> tuple[socket.socket, socket.socket]:
    out, into = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    if not fixed:
        out.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4608)
    return out, into


def small_pipe(fixed: bool) -> tuple[int, int]:
    into, out = os.pipe()
    fcntl.fcntl(out, F_SETPIPE_SZ, 1 << 20 if fixed else 4096)
    return out, into


def count_into(path: str, take: typing.Callable[[], int]) -> None:
    page, got = os.open(path, os.O_RDWR | os.O_CREAT, 0o600), 0
    while n := take():
        got += n
        os.pwrite(page, struct.pack("Q", got), 0)


def take_and_answer(into: socket.socket) -> int:
    n = len(into.recv(100, socket.MSG_WAITALL))
    into.sendall(b"k")
    return n


def over_sockets(kind: str, path: str, fixed: bool) -> None:
    out, into = SOCKETS[kind](fixed)
    if not os.fork():
        out.close()
        count_into(path, lambda: take_and_answer(into) if kind == "corked" else len(into.recv(1 << 20)))
        return
    into.close()
    print(os.getpid(), flush=True)
    while kind == "corked":
        out.sendall(bytes(100))
        if not out.recv(1):
            return
    while True:
        out.sendall(bytes(PART))


def over_a_pipe(path: str, fixed: bool) -> None:
    out, into = small_pipe(fixed)
    if not os.fork():
        os.close(out)
        count_into(path, lambda: len(os.read(into, 1 << 20)))
        return
    os.close(into)
    print(os.getpid(), flush=True)
    while True:
        os.write(out, bytes(PART))


SOCKETS = {"corked": corked, "paced": paced, "sndbuf": small_buffer, "unix": small_unix}


def main() -> None:
    kind, path = sys.argv[1:3]
    if kind == "pipe":
        over_a_pipe(path, len(sys.argv) > 3)
    else:
        over_sockets(kind, path, len(sys.argv) > 3)


main()
