#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
lost_datagrams.py: without a ledger, datagrams that a slow reader's buffer has no room for are
counted; what was dropped before the session is not, nor what a filter of the program refused. So
they are where the sender alone is traced. Who refuses datagrams of a Unix socket is named, though
its sender waits nowhere.

Exit: 0 right, 1 wrong."""
import contextlib
import ctypes
import json
import re
import socket
import sys
import time

import attached
from talkers import PORT, child

SO_ATTACH_FILTER = 26


def dropped(port):
    with open("/proc/net/udp", encoding="ascii") as f:
        lines = [line.split() for line in f if f":{port:04X} " in line.split(" rem")[0]]
    return sum(int(words[-1]) for words in lines if words[1].endswith(f":{port:04X}"))


def read_slowly(s):
    while s.recv(2048):
        time.sleep(0.02)


def read_all(s):
    while s.recv(2048):
        pass


def send(s):
    while True:
        s.send(b"metric")
        time.sleep(0.002)


def send_to(s):
    """Without a connection: only its calls tell where."""
    while True:
        s.sendto(b"metric", ("127.0.0.1", PORT))
        time.sleep(0.002)


def refuse_all(s):
    """A filter of one instruction: take no byte."""
    code = ctypes.create_string_buffer(b"\x06\x00\x00\x00\x00\x00\x00\x00")
    program = ctypes.create_string_buffer(16)
    ctypes.c_uint16.from_buffer(program).value = 1
    ctypes.c_uint64.from_buffer(program, 8).value = ctypes.addressof(code)
    s.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)


def start(read, prepare, send_all):
    """The pids of the reader and the sender, of whose datagrams some are dropped."""
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    receiver.bind(("127.0.0.1", PORT))
    prepare(receiver)
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    if send_all is send:
        sender.connect(receiver.getsockname())
    pids = [child("reader", lambda: read(receiver), sender),
            child("sender", lambda: send_all(sender), receiver)]
    receiver.close()
    sender.close()
    time.sleep(0.5)
    return pids


def look(read, prepare):
    """The ledger, and the least and the most that the kernel counted meanwhile."""
    pids = start(read, prepare, send)
    try:
        before = dropped(PORT)
        ledger = attached.ledger(pids)
        after = dropped(PORT)
    finally:
        attached.end(pids)
    print(before, after, json.dumps(ledger["card"])[:600])
    return ledger, before, after - before


def from_sender_alone(read, prepare):
    """What its card says, by the ledger of two seconds."""
    pids = start(read, prepare, send_to)
    try:
        shown = attached.shown(attached.document(pids[1:], (), "6s"))
    finally:
        attached.end(pids)
    print(json.dumps(shown["card"])[:600])
    return shown


def try_to_send(s):
    while True:
        with contextlib.suppress(BlockingIOError):
            s.send(b"line", socket.MSG_DONTWAIT)
        time.sleep(0.002)


def refusing(pause):
    """Of a Unix socket whose reader sleeps for so long after each."""
    def read():
        while receiver.recv(2048):
            time.sleep(pause)

    receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    receiver.bind(f"\0ipcstall-{PORT}")
    sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    sender.connect(receiver.getsockname())
    pids = [child("reader", read, sender), child("sender", lambda: try_to_send(sender), receiver)]
    receiver.close()
    sender.close()
    try:
        time.sleep(0.5)  # the queue is full
        ledger = attached.ledger(pids)
    finally:
        attached.end(pids)
    print(pause, json.dumps(ledger["card"])[:600])
    return ledger["card"]["kind"] == "late" and "reader" in ledger["card"]["head"]


def main():
    ledger, before, most = look(read_slowly, lambda s: None)
    told = re.match(r"(\d+) datagrams dropped by its socket", ledger["card"]["why"])
    if ledger["outcome"] != "stalled" or not told or not before:
        return 1
    if not most <= 2 * int(told[1]) <= 2 * most:  # also while the session begins and ends
        return 1
    ledger, _, refused = look(read_all, refuse_all)
    if not refused or ledger["outcome"] != "healthy":
        return 1
    shown = from_sender_alone(read_slowly, lambda s: None)
    if shown["outcome"] != "stalled" or "datagrams to reader" not in shown["card"]["head"]:
        return 1
    if from_sender_alone(read_all, refuse_all)["outcome"] == "stalled":
        return 1
    return 0 if refusing(0.02) and not refusing(0) else 1


if __name__ == "__main__":
    sys.exit(main())
