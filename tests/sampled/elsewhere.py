#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
elsewhere.py: the card tells what a program does instead that keeps another waiting: it sleeps in a
system call, perhaps for yet another, was stopped, or computes in another thread than the one that
should answer. Where nothing waits for it, the card tells what the traced program itself waits for.

Exit: 0 right, 1 wrong."""
import fcntl
import hashlib
import json
import os
import select
import signal
import socket
import sys
import threading
import time

import attached
from talkers import PORT, ask, child, pair, serve

PROVES = ()


def card(pids, tier=PROVES):
    """The one on the screen: a proof's, where there is one."""
    return attached.shown(attached.document(pids, tier, "6s"))["card"]


def fill(fd):
    while True:
        os.write(fd, bytes(4096))


def wait_for_lock(fd):
    with open("lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.read(fd, 1)


def wait_for_child(fd):
    os.waitpid(child("sleeper", lambda: (os.close(fd), time.sleep(60))), 0)
    os.read(fd, 1)


def relay(fd):
    """Copy all to a process that reads nothing."""
    out, into = os.pipe()
    child("last", lambda: (os.close(into), os.close(fd), time.sleep(60)))
    os.close(out)
    while True:
        os.write(into, os.read(fd, 4096))


def by_pipe(read, tier=PROVES):
    """Of the writer alone, whose reader does that."""
    out, into = os.pipe()
    pids = [child("reader", lambda: (os.close(into), read(out))),
            child("writer", lambda: (os.close(out), fill(into)))]
    os.close(out)
    os.close(into)
    try:
        time.sleep(0.3)  # the pipe is full
        return card([pids[1]], tier)
    finally:
        attached.end(pids)


def itself():
    """A program that reads from a pipe until its end, which it forgot to let come."""
    def read():
        out, into = os.pipe()
        os.write(into, b"all there is")
        while os.read(out, 100):
            pass

    pids = [child("forgetful", read)]
    try:
        time.sleep(0.3)
        return card(pids)
    finally:
        attached.end(pids)


def compute():
    spun = b""
    while True:
        spun = hashlib.sha512(spun + bytes(1 << 20)).digest()


def serve_beside_computing(s):
    threading.Thread(target=compute, daemon=True).start()
    serve(s, 0.1, False)


def by_socket(work, then=None):
    """Of the client alone."""
    server, client = pair()
    pids = [child("server", lambda: work(server), client),
            child("client", lambda: ask(client, 0.01), server)]
    server.close()
    client.close()
    try:
        time.sleep(0.3)  # they talk
        if then:
            then(pids[0])
        return card([pids[1]])
    finally:
        attached.end(pids)


def talk_slowly(s):
    serve(s, 0.1, False)


def serve_from_database(s):
    """Each request takes a thread, which asks a database, while the main one looks for clients."""
    there, here = pair()
    child("database", lambda: serve(there, 0.1, False), here, s)
    there.close()

    def work():
        while s.recv(100):
            here.send(b"query")
            here.recv(100)
            s.send(b"answer")
    threading.Thread(target=work, daemon=True).start()
    select.epoll().poll()


def stop(pid):
    os.kill(pid, signal.SIGSTOP)
    os.waitpid(pid, os.WUNTRACED)


def talk_between_opens(s):
    while True:
        s.send(bytes(8))
        s.recv(8)
        os.close(os.open("fifo", os.O_WRONLY))


def open_other_end():
    while True:
        time.sleep(0.3)
        os.close(os.open("fifo", os.O_RDONLY | os.O_NONBLOCK))


def by_itself(tier):
    """Its peer answers at once, and nobody reads the FIFO that it opens, but for an instant."""
    server, client = pair()
    os.mkfifo("fifo")
    pids = [child("server", lambda: serve(server, 0, False), client),
            child("opener", open_other_end, server, client),
            child("client", lambda: talk_between_opens(client), server)]
    server.close()
    client.close()
    try:
        time.sleep(0.3)  # they talk
        return card([pids[2]], tier)
    finally:
        attached.end(pids)
        os.unlink("fifo")


def unaccepted(*make):
    """Of a client whose connection lies in the queue of a listener that two processes have."""
    with socket.socket(*make) as listener:
        inet = make[0] == socket.AF_INET
        listener.bind(("127.0.0.1", 0) if inet else f"\0listener-{os.getpid()}")
        listener.listen()
        at = listener.getsockname()

        def work():
            child("worker", lambda: (listener.accept(), time.sleep(60)))
            signal.pause()

        def wait():
            time.sleep(0.2)  # the worker has accepted another one
            s = socket.socket(*make)
            s.connect(at)
            s.send(b"question")
            s.recv(100)

        pids = [child("master", work), child("other", lambda: ask_and_wait(make, at), listener),
                child("client", wait, listener)]
    try:
        time.sleep(0.5)
        return card([pids[2]])
    finally:
        attached.end(pids)


def pass_on(listener):
    """Of a client that asks, a worker that answers and an observer: a request for the worker goes
    on to it, and its answer back; the observer is answered at once."""
    client, worker, observer = (listener.accept()[0] for _ in range(3))
    to = {client: worker, worker: client, observer: observer}
    while True:
        for ready in select.select(list(to), [], [])[0]:
            to[ready].send(ready.recv(100))


def brokered():
    """Of a client whose broker has a worker, and both connected to it."""
    with socket.create_server(("127.0.0.1", PORT)) as listener:
        client, worker, observer = (socket.create_connection(listener.getsockname())
                                    for _ in range(3))
        pids = [child("broker", lambda: pass_on(listener), client, worker, observer),
                child("worker", lambda: serve(worker, 0.4, False), client, observer, listener),
                child("observer", lambda: ask(observer, 1), client, worker, listener),
                child("client", lambda: ask(client, 0.01), worker, observer, listener)]
        for s in (client, worker, observer):
            s.close()
        try:
            time.sleep(1)  # they talk
            return card([pids[3]])
        finally:
            attached.end(pids)


def ask_and_wait(make, at):
    s = socket.socket(*make)
    s.connect(at)
    signal.pause()


def names(said, word):
    """As the one that does not read, which the ledger knows, or for whom that sleeps."""
    return said["for_whom"].startswith(word) or says(said, word)


def says(said, word):
    print(word in said["why"], word, json.dumps(said)[:700])
    return word in said["why"]


def main():
    with open("lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        right = [says(by_pipe(wait_for_lock, tier), "sleeps in flock(), for a lock on a file")
                 for tier in (PROVES, attached.EXACT)]
    right += [says(by_pipe(wait_for_child), "sleeps in wait4() for sleeper[")]
    right += [says(by_pipe(relay, tier), "sleeps in write() to last[")
              for tier in (attached.LOOKS, attached.EXACT)]
    right += [names(by_pipe(relay), "last[")]
    right += [says(by_itself(tier), "itself sleeps in openat() of fifo: no program")
              for tier in (PROVES, attached.EXACT)]
    right += [says(by_socket(talk_slowly), "sleeps in clock_nanosleep(), for a timer"),
              says(by_socket(talk_slowly, stop), "was stopped"),
              says(by_socket(serve_beside_computing), "computes: its thread"),
              says(itself(), "neither data nor EOF can come"),
              says(unaccepted(socket.AF_INET, socket.SOCK_STREAM), "queue: worker["),
              says(unaccepted(socket.AF_UNIX, socket.SOCK_STREAM), "not accepted it; it sleeps "
                   "in clock_nanosleep(), for a timer"),
              says(by_socket(serve_from_database),
                   "has a thread that sleeps in recvfrom() for database["),
              says(brokered(), "for worker[")]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
