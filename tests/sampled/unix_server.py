#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
unix_server.py: no Unix socket tells when it was last used. A session of the server alone that
begins after the request came finds the client asleep in a call to receive: somebody waits for
that server. One whose client does something else keeps nobody waiting, nor does one that waits
for more to come there.

Exit: 0 right, 1 wrong."""
import json
import os
import select
import socket
import sys
import time

import attached
from talkers import child

LONG = 60


def work(listener):
    """Serve one client, whose request takes longer than the test."""
    s, _ = listener.accept()
    listener.close()
    s.recv(100)
    time.sleep(LONG)


def wait_for_more(listener):
    s, _ = listener.accept()
    listener.close()
    s.recv(100)
    select.select([s], [], [], LONG)


def ask(path, receive):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        s.send(b"question")
        receive(s)


def by_call(s):
    s.recv(100)


def by_poll(s):
    poll = select.poll()
    poll.register(s, select.POLLIN)
    poll.poll()


def not_at_all(_):
    time.sleep(LONG)


def said_of_server(receive, serve=work):
    path = f"\0ipcstall-server-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        pids = [child("server", lambda: serve(listener)),
                child("client", lambda: ask(path, receive), listener)]
    try:
        time.sleep(0.3)  # it has asked
        said = attached.ledger(pids[:1], attached.EXACT)
    finally:
        attached.end(pids)
    print(receive.__name__, said["outcome"], json.dumps(said["card"])[:500])
    return said


def waits(said):
    return attached.waits(said, "client", "server") and "sent nothing" in said["card"]["why"]


def main():
    right = [waits(said_of_server(by_call)), waits(said_of_server(by_poll)),
             said_of_server(not_at_all)["outcome"] == "unknown",
             said_of_server(by_call, wait_for_more)["outcome"] == "unknown"]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
