#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""waits_in_epoll.py: a client that waits in poll() for a server that thinks; and a server that is idle in recv(). Without a ledger.

Exit: 0 right, 1 wrong."""
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time

PORT = 20000 + os.getpid() % 10000  # below the ephemeral ports: a server's


def pair():
    """A server's end and a client's, of one connection."""
    with socket.create_server(("127.0.0.1", PORT)) as listener:
        client = socket.create_connection(listener.getsockname())
        return listener.accept()[0], client


def child(name, work, others):
    pid = os.fork()
    if not pid:
        signal.alarm(60)
        others.close()
        with open("/proc/self/comm", "w", encoding="ascii") as f:
            f.write(name)
        work()
        os._exit(0)
    return pid


def serve(s, think, polls):
    while True:
        if polls:
            select.select([s], [], [])
        if not s.recv(100):
            return
        time.sleep(think)
        s.send(b"answer")


def ask(s, pause):
    while True:
        s.send(b"question")
        select.select([s], [], [])
        s.recv(100)
        time.sleep(pause)


def card(think, pause, polls):
    server, client = pair()
    pids = [child("server", lambda: serve(server, think, polls), client), child("client", lambda: ask(client, pause), server)]
    server.close()
    client.close()
    try:
        time.sleep(0.3)
        subprocess.run([os.environ["IPCSTALL"], "attach", "-p", str(pids[0]), "-p", str(pids[1]), "-d", "3s", "--zoom-budget", "0", "-q",
                        "--json", "waits.json"], check=True, timeout=60, stderr=subprocess.DEVNULL)
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    with open("waits.json", encoding="utf-8") as f:
        ledger = json.load(f)["ledger"]
    print(json.dumps(ledger["card"])[:600])
    return ledger["outcome"], ledger["card"]


def main():
    outcome, said = card(think=0.1, pause=0, polls=True)
    if outcome != "waiting" or not said["who"].startswith("client") or not said["for_whom"].startswith("server"):
        return 1
    outcome, _ = card(think=0, pause=0.2, polls=False)
    return 0 if outcome == "healthy" else 1


if __name__ == "__main__":
    sys.exit(main())
