#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""scenes.py SCENE [ARGUMENT...]: programs whose verdict is known, for the recordings of this folder. Each process has a name of its own."""
import ctypes
import os
import select
import signal
import socket
import subprocess
import sys
import time

signal.alarm(60)  # where something hangs that should not
PORT_FILE = "port"


def name(word):
    with open("/proc/self/comm", "w", encoding="ascii") as f:
        f.write(word)


def child(word, does):
    """A process of that name, which ends when does() has."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        name(word)
        does()
        os._exit(0)
    return pid


def tcp(**options):
    """Two ends of a connection over loopback, paced by nobody."""
    server = socket.create_server(("127.0.0.1", 0))
    s = socket.socket()
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
    for option, value in options.items():
        for end in s, server:
            end.setsockopt(socket.SOL_SOCKET, getattr(socket, option), value)
    s.connect(server.getsockname())
    return s, server.accept()[0]


def ends(kind):
    """(reads, writes) of one end, and of the other."""
    if kind == "pipe":
        (r, w), (r2, w2) = os.pipe(), os.pipe()
        return (r, w2), (r2, w)
    a, b = tcp() if kind == "tcp" else socket.socketpair()
    return (a.detach(),) * 2, (b.detach(),) * 2


def close_all(fds):
    for fd in set(fds):
        os.close(fd)


def end_after(seconds):
    signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
    signal.setitimer(signal.ITIMER_REAL, seconds)


# --- nobody reads, nobody writes ---


def forgets():
    """A server that takes one request of two, and a client that it owes the other answer."""
    s, c = tcp()

    def server():
        s.close()
        c.recv(100)
        c.send(b"k")
        end_after(1.2)
        select.poll().poll()

    child("server", server)
    c.close()
    name("client")
    s.send(b"x" * 100)
    s.recv(1)
    s.send(b"y" * 100)
    time.sleep(0.05)
    s.send(b"z" * 100)
    asked = select.poll()
    asked.register(s, select.POLLIN)
    asked.poll(1000)


def hangs(kind):
    """Each end waits for the other to send."""
    mine, its = ends(kind)

    def server():
        close_all(mine)
        os.read(its[0], 100)
        os.write(its[1], b"k")
        os.read(its[0], 100)

    child("server", server)
    close_all(its)
    name("client")
    os.write(mine[1], b"q")
    os.read(mine[0], 100)
    end_after(0.8)
    os.read(mine[0], 100)


def errors_first():
    """A program's output is read to its end, while it is stuck in what it writes to its errors."""
    name("parent")
    text = "import sys; open('/proc/self/comm', 'w').write('worker'); print('begun', flush=True); sys.stderr.write('e' * 1000000); print('done')"
    with subprocess.Popen([sys.executable, "-c", text], stdout=-1, stderr=-1) as worker:
        signal.signal(signal.SIGALRM, lambda *_: (worker.kill(), os._exit(0)))
        signal.setitimer(signal.ITIMER_REAL, 1)
        worker.stdout.read()


def both_write():
    """Each end writes more than there is room for, and reads afterwards."""
    a, b = socket.socketpair()

    def writes(mine, other):
        other.close()
        mine.sendall(bytes(1 << 22))
        mine.recv(1)

    pids = child("peer", lambda: writes(a, b)), child("peer", lambda: writes(b, a))
    a.close()
    b.close()
    time.sleep(0.8)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def row(kind):
    """first > middle > last: the last reads a little at a time."""
    def link():
        if kind == "pipe":
            return os.pipe()
        s, c = tcp(SO_SNDBUF=16384, SO_RCVBUF=16384)
        return c.detach(), s.detach()

    one, two = link(), link()

    def write(fd, data):
        while data:
            data = data[os.write(fd, data):]

    def first():
        close_all((one[0], *two))
        write(one[1], bytes(1 << 20))

    def middle():
        close_all((one[1], two[0]))
        while data := os.read(one[0], 1 << 14):
            write(two[1], data)

    child("first", first)
    child("middle", middle)
    close_all((*one, two[1]))
    name("last")
    while os.read(two[0], 1 << 14):
        time.sleep(0.004)


def holds(kind):
    """Who answered has ended; a helper of its holds the descriptor on, so that no end comes."""
    mine, its = ends(kind)

    def answers():
        close_all(mine)
        child("helper", lambda: time.sleep(0.7))
        os.write(its[1], b"k")

    child("answers", answers)
    close_all(its)
    name("asks")
    while os.read(mine[0], 100):
        pass


# --- small pieces ---


def many_short():
    """Each of eight connections has the same stall."""
    server = socket.create_server(("127.0.0.1", 0))

    def answers():
        for _ in range(8):
            c = server.accept()[0]
            while c.recv(2, socket.MSG_WAITALL):
                c.send(b"k")
            c.close()

    child("server", answers)
    name("client")
    for _ in range(8):
        s = socket.create_connection(server.getsockname())
        for _ in range(3):
            s.send(b"a")
            s.send(b"b")
            s.recv(1)
        s.close()


def trickles():
    """Small writes one after the other, which nobody answers: Nagle's algorithm gathers them."""
    s, c = tcp()

    def takes():
        s.close()
        while c.recv(65536):
            pass

    child("reader", takes)
    c.close()
    name("writer")
    for _ in range(30000):
        s.send(b"x" * 50)


def listens():
    """A server that another process finds."""
    s = socket.create_server(("127.0.0.1", 0))
    with open(PORT_FILE + ".new", "w", encoding="ascii") as f:
        f.write(str(s.getsockname()[1]))
    os.rename(PORT_FILE + ".new", PORT_FILE)
    return s.accept()[0]


def finds():
    while not os.path.exists(PORT_FILE):
        time.sleep(0.01)
    with open(PORT_FILE, encoding="ascii") as f:
        return socket.create_connection(("127.0.0.1", int(f.read())))


def pieces(who):
    """Header and body in two writes, and a server that answers: one of both is traced."""
    name(who)
    if who == "server":
        c, got = listens(), 0
        while data := c.recv(1000):
            got += len(data)
            if got % 101 == 0:
                c.send(b"k")
        return
    s = finds()
    for _ in range(25):
        s.sendall(b"h" * 100)
        time.sleep(0.002)
        s.sendall(b"b")
        s.recv(10)


def ignores(who):
    """A server that does something else for most of a second, and a client that asked it."""
    name(who)
    if who == "server":
        c = listens()
        select.select([c], [], [])
        time.sleep(0.8)
        c.recv(100)
        c.send(b"k")
        return
    s = finds()
    s.sendall(b"q" * 100)
    s.recv(1)


def many_little():
    """Ten connections, each full for a moment: none stands out."""
    name("writer")
    pairs = [socket.socketpair() for _ in range(10)]

    def takes():
        for _, c in pairs:
            c.recv(1, socket.MSG_PEEK)
            time.sleep(0.0002)
            c.recv(20000, socket.MSG_WAITALL)
            c.send(b"k")

    child("reader", takes)
    for s, _ in pairs:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        s.sendall(bytes(20000))
        s.recv(1)


# --- nobody answers, or no CPU is left ---


def knocks():
    """At a listener whose queue is full."""
    name("client")
    full = socket.create_server(("127.0.0.1", 0), backlog=0)
    inside = socket.create_connection(full.getsockname())
    for _ in range(3):
        with socket.socket() as s:
            s.settimeout(0.6)
            try:
                s.connect(full.getsockname())
            except TimeoutError:
                pass
    inside.close()


def hog(cpu, seconds):
    def computes():
        os.sched_setaffinity(0, {cpu})
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pass

    child("hog", computes)


def hungry(who):
    """A server, a reader or a writer on a CPU that others have."""
    first, last = min(os.sched_getaffinity(0)), max(os.sched_getaffinity(0))
    s, c = tcp(SO_SNDBUF=65536)
    kept, given = (s, c) if who != "writer" else (c, s)

    def starves():
        kept.close()
        os.sched_setaffinity(0, {last})
        hog(last, 2.5)
        hog(last, 2.5)
        os.nice(15)
        {"server": serves, "reader": reads, "writer": writes}[who](given)

    child(who, starves)
    given.close()
    os.sched_setaffinity(0, {first})
    name("other")
    if who == "writer":
        while kept.recv(65536):
            pass
        return
    end = time.monotonic() + 2
    while time.monotonic() < end:
        kept.sendall(b"q" if who == "server" else b"x" * 200000)
        if who == "server":
            kept.recv(1)


def serves(c):
    while c.recv(64):
        c.send(b"k")


def reads(c):
    poller = select.epoll()
    poller.register(c, select.EPOLLIN)
    while poller.poll():
        if not c.recv(1 << 20):
            break


def writes(s):
    end = time.monotonic() + 2
    while time.monotonic() < end:
        sum(range(20000))
        s.send(b"x" * 1000)


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def wire(other):
    """`here`, with 10.77.0.1, and what is at its other end in the process's network namespace: `there`, with .2."""
    ip("link", "add", "here", "type", "veth", "peer", "name", "there")
    ip("link", "set", "there", "netns", str(other))
    ip("addr", "add", "10.77.0.1/24", "dev", "here")
    ip("link", "set", "here", "up")


def behind_a_wire(does):
    """Another host at 10.77.0.2, which does this with its listener; its process, once it listens."""
    goes, comes = os.pipe()[::-1], os.pipe()

    def server():
        ctypes.CDLL(None).unshare(0x40000000)  # CLONE_NEWNET
        os.write(goes[0], b"1")
        os.read(comes[0], 1)
        ip("addr", "add", "10.77.0.2/24", "dev", "there")
        ip("link", "set", "there", "up")
        listener = socket.create_server(("10.77.0.2", 7000))
        os.write(goes[0], b"2")
        does(listener)

    pid = child("server", server)
    os.read(goes[1], 1)
    wire(pid)
    os.write(comes[1], b"1")
    os.read(goes[1], 1)
    return pid


def slow_wire(*words):
    """What is sent from here leaves by a bucket of these words."""
    subprocess.run(["tc", "qdisc", "add", "dev", "here", "root", "tbf", *words], check=True)


def far_away():
    """A new connection for each question, to a host to which a packet takes long."""
    def answers(listener):
        while True:
            c = listener.accept()[0]
            c.recv(1)
            c.send(b"k")
            c.close()

    pid = behind_a_wire(answers)
    slow_wire("rate", "10kbit", "burst", "80", "limit", "100000")
    name("client")
    for _ in range(8):
        with socket.create_connection(("10.77.0.2", 7000)) as s:
            s.send(b"q")
            s.recv(1)
    os.kill(pid, signal.SIGKILL)


def fills_the_link():
    """As much as the wire carries."""
    def takes(listener):
        c = listener.accept()[0]
        while c.recv(1 << 16):
            pass

    behind_a_wire(takes)
    slow_wire("rate", "20mbit", "burst", "16kb", "limit", "300kb")
    name("client")
    s = socket.create_connection(("10.77.0.2", 7000))
    for _ in range(30):
        s.sendall(bytes(100000))
    s.close()
    os.wait()


def no_neighbour():
    """The other host stops to answer for its address: what is sent waits for the link to find it."""
    def server(listener):
        c = listener.accept()[0]
        c.recv(1)
        with open("/proc/sys/net/ipv4/conf/all/arp_ignore", "w", encoding="ascii") as f:
            f.write("8")
        c.send(b"k")
        c.recv(100)

    pid = behind_a_wire(server)
    name("client")
    s = socket.create_connection(("10.77.0.2", 7000))
    s.send(b"x")
    s.recv(1)
    ip("neigh", "flush", "dev", "here")
    s.send(b"y" * 100)
    time.sleep(1)
    os.kill(pid, signal.SIGKILL)


def asks_nobody():
    """A question by UDP to a port at which no program listens, asked again and again."""
    name("client")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        s.settimeout(0.3)
        for _ in range(5):
            s.sendto(b"q", silent.getsockname())
            try:
                s.recv(100)
            except TimeoutError:
                pass


def sends_into_a_full_queue():
    """Datagrams that the host's own queue drops."""
    ip("link", "add", "here", "type", "veth", "peer", "name", "there")
    ip("addr", "add", "10.77.0.1/24", "dev", "here")
    for end in "here", "there":
        ip("link", "set", end, "up")
    ip("neigh", "add", "10.77.0.2", "lladdr", "02:00:00:00:00:02", "dev", "here")
    subprocess.run("tc qdisc add dev here root tbf rate 1mbit burst 2kb limit 4kb".split(), check=True)
    name("sender")
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.connect(("10.77.0.2", 7000))
    for _ in range(400):
        s.send(b"x" * 1000)
        time.sleep(0.001)


# --- one end is all that is seen ---


def drips():
    """A pipe's writer, whose reader was not asked for."""
    name("writer")
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    for _ in range(40):
        os.write(1, bytes(16384))


def sips():
    while os.read(0, 16384):
        time.sleep(0.02)


def multipath():
    """A conversation by MPTCP, of whose calls no hook is told."""
    name("client")
    server = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP)
    server.bind(("127.0.0.1", 0))
    server.listen()
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP)
    s.connect(server.getsockname())
    c = server.accept()[0]
    for _ in range(50):
        s.send(b"q" * 1000)
        c.recv(1000)
        c.send(b"k")
        s.recv(1)


# --- all is well ---


def computes(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def busy():
    """A pipe whose reader computes over what it reads, on a CPU of its own."""
    first, last = min(os.sched_getaffinity(0)), max(os.sched_getaffinity(0))
    r, w = os.pipe()

    def takes():
        os.close(w)
        os.sched_setaffinity(0, {last})
        while os.read(r, 1 << 16):
            computes(0.001)

    child("reader", takes)
    os.close(r)
    os.sched_setaffinity(0, {first})
    name("writer")
    for _ in range(300):
        os.write(w, bytes(1 << 16))


def copies(kind):
    """As fast as it goes."""
    mine, its = ends(kind)

    def takes():
        close_all(mine)
        while os.read(its[0], 1 << 16):
            pass

    child("reader", takes)
    close_all(its)
    name("writer")
    for _ in range(1000):
        os.write(mine[1], bytes(1 << 12))


def keeps_its_output():
    """A filter that flushes at the end of its input, as sed does into a pipe, and a parent that
    waits for the line before it closes."""
    (reads, writes), (its_input, its_output) = ends("pipe")

    def filters():
        close_all((reads, writes))
        kept = b""
        while data := os.read(its_input, 100):
            kept += data
        os.write(its_output, kept)

    pid = child("filter", filters)
    close_all((its_input, its_output))
    name("parent")
    os.write(writes, b"line\n")
    select.select([reads], [], [], 0.8)
    os.close(writes)
    os.read(reads, 100)
    os.waitpid(pid, 0)


def asks_three():
    """A master that asks three helpers by pipes and waits for all in epoll; one of them is slow."""
    helpers = {}

    def helps(word, fds, slow):
        for other in helpers.values():
            close_all(other)
        while os.read(fds[0], 1):
            time.sleep(0.2 if slow else 0.002)
            os.write(fds[1], b"a")

    for i in range(3):
        mine, its = ends("pipe")
        word = "slow" if i == 1 else f"quick{i}"

        def run(word=word, mine=mine, its=its, slow=i == 1):
            close_all(mine)
            helps(word, its, slow)

        child(word, run)
        close_all(its)
        helpers[word] = mine
    name("master")
    poll = select.epoll()
    for reads, _ in helpers.values():
        poll.register(reads, select.EPOLLIN)
    for _ in range(4):
        for _, writes in helpers.values():
            os.write(writes, b"q")
        left = len(helpers)
        while left:
            for fd, _ in poll.poll():
                os.read(fd, 1)
                left -= 1


def asks_two_servers():
    """As a resolver: one socket asks a server that never answers, and then another one that does."""
    dead, alive = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    for s in dead, alive:
        s.bind(("127.0.0.1", 0))

    def reads_only():
        while True:
            dead.recv(100)

    def answers():
        while True:
            alive.sendto(b"a", alive.recvfrom(100)[1])

    pids = child("dead", reads_only), child("alive", answers)
    name("client")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for _ in range(3):
            s.sendto(b"q", dead.getsockname())
            if not select.select([s], [], [], 0.3)[0]:
                s.sendto(b"q", alive.getsockname())
                s.recv(100)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def pauses_once():
    """Sixty requests, each answered at once but one, which takes 0.4 s: garbage is collected."""
    s, c = tcp()

    def server():
        s.close()
        for i in range(60):
            c.recv(100)
            if i == 30:
                time.sleep(0.4)
            c.send(b"a" * 100)

    child("server", server)
    c.close()
    name("client")
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for _ in range(60):
        s.send(b"q" * 100)
        s.recv(100)
        time.sleep(0.01)


def answers_late(who):
    """A server that thinks 60 ms a request; one of both ends is traced."""
    name(who)
    if who == "server":
        c = listens()
        while c.recv(100):
            time.sleep(0.06)
            c.send(b"a" * 100)
        return
    s = finds()
    for _ in range(12):
        s.send(b"q" * 100)
        s.recv(100)


def receives(s, how):
    """All that has come; in_epoll: what it waits for, it waits for in no receive call."""
    if how == "in_epoll":
        poll = select.epoll()
        poll.register(s, select.EPOLLIN)
        poll.poll()
    return s.recv(100)


def pool_of_one(how=""):
    """Three clients ask at once a proxy that asks its only server for one after the other."""
    front, back = socket.create_server(("127.0.0.1", 0)), socket.create_server(("127.0.0.1", 0))

    def server():
        front.close()
        c = back.accept()[0]
        while receives(c, how):
            time.sleep(0.03)
            c.send(b"a" * 100)

    def proxy():
        upstream = socket.create_connection(back.getsockname())
        back.close()
        poll, fds = select.epoll(), {}
        for _ in range(3):
            c = front.accept()[0]
            fds[c.fileno()] = c
            poll.register(c, select.EPOLLIN)
        while fds:
            for fd, _ in poll.poll():
                if not (data := fds[fd].recv(100)):
                    poll.unregister(fd)
                    fds.pop(fd)
                    continue
                upstream.send(data)
                fds[fd].send(receives(upstream, how))

    def client():
        back.close()
        with socket.create_connection(front.getsockname()) as s:
            for _ in range(8):
                s.send(b"q" * 100)
                s.recv(100)

    child("server", server)
    child("proxy", proxy)
    clients = [child("client", client) for _ in range(3)]
    front.close()
    back.close()
    for pid in clients:
        os.waitpid(pid, 0)

def pairs_up(asks, answers, *how):
    """client asks by one end of a connection, and server answers at the other."""
    a, b = tcp()
    child("client", lambda: (b.close(), asks(a, *how)))
    child("server", lambda: (a.close(), answers(b)))
    a.close()
    b.close()
    os.wait()
    os.wait()


def is_stopped_at_work():
    """server is stopped while it works on an answer, for which client waits in epoll."""
    there = socket.create_server(("127.0.0.1", 0))

    def answers():
        for n in range(4):
            c = there.accept()[0]
            c.recv(100)
            if n == 2:
                os.kill(os.getpid(), signal.SIGSTOP)
            c.send(b"a" * 100)
            c.close()

    def asks():
        for _ in range(4):
            with socket.create_connection(there.getsockname()) as s:
                poll = select.epoll()
                poll.register(s, select.EPOLLIN)
                s.send(b"q" * 100)
                poll.poll()
                s.recv(100)

    server = child("server", answers)
    client = child("client", asks)
    there.close()
    os.waitpid(server, os.WUNTRACED)
    time.sleep(1)
    os.kill(server, signal.SIGCONT)
    os.waitpid(client, 0)
    os.waitpid(server, 0)


def in_two_writes():
    """client pauses, and writes each question in two pieces: server is quick, and asks nothing."""
    def asks(s):
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(40):
            s.send(b"h" * 100)
            s.send(b"b" * 200)
            s.recv(1)
            time.sleep(0.02)

    def answers(s):
        while len(s.recv(300, socket.MSG_WAITALL)) == 300:
            s.send(b"o")

    pairs_up(asks, answers)


def too_short():
    """server waits for all of a question, of which client sends less, until client gives up."""
    def asks(s):
        s.settimeout(0.8)
        for size in (100, 100, 90):
            s.send(b"q" * size)
            try:
                s.recv(10)
            except TimeoutError:
                pass

    def answers(s):
        while len(s.recv(100, socket.MSG_WAITALL)) == 100:
            s.send(b"a" * 10)

    pairs_up(asks, answers)


def thinks_for_most():
    """client pauses for half as long as server thinks over each question."""
    def asks(s):
        for _ in range(12):
            s.send(b"q" * 100)
            s.recv(100)
            time.sleep(0.03)

    def answers(s):
        while s.recv(100):
            time.sleep(0.06)
            s.send(b"a" * 100)

    pairs_up(asks, answers)


def tries_again():
    """writer tries to send without waiting for room; reader takes a little every 20 ms."""
    a, b = socket.socketpair()

    def writes_on():
        b.close()
        a.setblocking(False)
        end = time.monotonic() + 1
        while time.monotonic() < end:
            try:
                a.send(b"x" * 5000)
            except BlockingIOError:
                pass

    def reads_now_and_then():
        a.close()
        while b.recv(20000):
            time.sleep(0.02)

    child("writer", writes_on)
    child("reader", reads_now_and_then)
    a.close()
    b.close()
    os.wait()


def through_a_broker():
    """caller's requests reach worker through broker, which wraps them; worker is slow."""
    listener = socket.create_server(("127.0.0.1", 0))

    def broker():
        callers, worker = listener.accept()[0], listener.accept()[0]
        if callers.recv(1) == b"w":
            callers, worker = worker, callers
            callers.recv(1)
        else:
            worker.recv(1)
        poll = select.epoll()
        poll.register(callers, select.EPOLLIN)
        poll.register(worker, select.EPOLLIN)
        while True:
            for fd, _ in poll.poll():
                source, to = (callers, worker) if fd == callers.fileno() else (worker, callers)
                data = source.recv(200)
                if not data:
                    return
                to.send(b"from a broker: " * (1 + (to is callers)) + data)

    def caller():
        with socket.create_connection(listener.getsockname()) as s:
            s.send(b"c")
            for _ in range(12):
                s.send(b"q" * 20)
                s.recv(200)

    def worker():
        with socket.create_connection(listener.getsockname()) as s:
            s.send(b"w")
            while s.recv(200):
                time.sleep(0.06)
                s.send(b"a" * 20)

    child("broker", broker)
    child("worker", worker)
    child("caller", caller)
    listener.close()
    for _ in range(3):
        os.wait()


def has_a_straggler():
    """master has a pool with a pipe for the work and one for the results: a worker takes long."""
    (work, hands_out), (results, puts) = os.pipe(), os.pipe()

    def worker():
        os.close(hands_out)
        os.close(results)
        while job := os.read(work, 1):
            time.sleep(1 if job == b"5" else 0.01)
            os.write(puts, job)

    for _ in range(3):
        child("worker", worker)
    name("master")
    os.close(work)
    for i in range(10):
        os.write(hands_out, b"%d" % i)
    for i in range(10):
        os.read(results, 1)
    os.write(puts, b"e")
    os.close(hands_out)
    os.close(puts)
    while os.read(results, 1):
        pass
    for _ in range(3):
        os.wait()


def is_killed_while_stopped():
    """reader is stopped, writer's pipe is full, and both end so."""
    r, w = os.pipe()

    def reads_all():
        os.close(w)
        while os.read(r, 4096):
            time.sleep(0.001)

    def writes_all():
        os.close(r)
        while True:
            os.write(w, b"x" * 200)

    reader, writer = child("reader", reads_all), child("writer", writes_all)
    os.close(r)
    os.close(w)
    time.sleep(0.2)
    os.kill(reader, signal.SIGSTOP)
    time.sleep(1)
    os.kill(reader, signal.SIGKILL)
    os.waitpid(reader, 0)
    os.waitpid(writer, 0)


def is_reset():
    """server closes each connection with the question unread; client tries again after 50 ms."""
    listener = socket.create_server(("127.0.0.1", 0))

    def closes():
        for _ in range(12):
            c = listener.accept()[0]
            select.select([c], [], [])
            c.close()

    child("server", closes)
    name("client")
    for _ in range(12):
        with socket.create_connection(listener.getsockname()) as s:
            s.send(b"question")
            try:
                s.recv(1)
            except ConnectionResetError:
                time.sleep(0.05)
    os.wait()


def defers_accept():
    """server has one client after the other, for 1.2 s each. What a client asks comes with the ACK
    that establishes its connection."""
    listener = socket.socket()
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 5)
    listener.bind(("127.0.0.1", 0))
    listener.listen()

    def asks():
        with socket.create_connection(listener.getsockname()) as s:
            s.send(b"question")
            s.recv(100)
            s.recv(100)

    def answers():
        for _ in range(3):
            with listener.accept()[0] as c:
                c.send(c.recv(100))
                time.sleep(1.2)

    child("server", answers)
    for pid in [child("client", asks) for _ in range(3)]:
        os.waitpid(pid, 0)


def workers_are_few():
    """Two workers, 40 ms a request, six clients with a connection for each."""
    listener = socket.create_server(("127.0.0.1", 0))

    def asks():
        for _ in range(4):
            with socket.create_connection(listener.getsockname()) as s:
                s.send(b"q")
                s.recv(1)

    def answers():
        end_after(2)
        while True:
            with listener.accept()[0] as c:
                c.recv(1)
                time.sleep(0.04)
                c.send(b"a")

    workers = [child("worker", answers) for _ in range(2)]
    for pid in [child("client", asks) for _ in range(6)]:
        os.waitpid(pid, 0)
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def shares_a_server():
    """server answers slow after 200 ms each; quick asks it too, and waits behind that."""
    listener = socket.create_server(("127.0.0.1", 0))

    def asks(n):
        s = socket.create_connection(listener.getsockname())
        for _ in range(n):
            s.send(b"q")
            s.recv(1)

    def answers():
        slow, quick = listener.accept()[0], listener.accept()[0]
        for _ in range(4):
            for c, seconds in (slow, 0.2), (quick, 0.002):
                c.recv(1)
                time.sleep(seconds)
                c.send(b"a")

    child("server", answers)
    child("slow", lambda: asks(4))
    time.sleep(0.05)
    child("quick", lambda: asks(4))
    for _ in range(3):
        os.wait()


def greets_never():
    """Two ends that each wait for the other's greeting, beside a pipe in which something goes."""
    subprocess.run("echo begins | cat", shell=True, check=True, stdout=subprocess.DEVNULL)

    def asks(s):
        s.settimeout(1)
        try:
            s.recv(1)
        except TimeoutError:
            pass

    pairs_up(asks, lambda s: s.recv(1))


def answers_half():
    """A UDP server that answers every second question, at once."""
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 0))
    asks = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    asks.connect(server.getsockname())
    asks.settimeout(0.1)

    def answers():
        for i in range(20):
            whom = server.recvfrom(10)[1]
            if i % 2:
                server.sendto(b"a", whom)

    child("server", answers)
    name("client")
    server.close()
    for _ in range(20):
        asks.send(b"q")
        try:
            asks.recv(1)
        except TimeoutError:
            pass
    os.wait()


def takes_turns():
    """Each end computes for 2 ms, and then it is the other's turn."""
    def asks(s):
        for _ in range(200):
            computes(0.002)
            s.send(b"q")
            s.recv(1)

    def answers(s):
        while s.recv(1):
            computes(0.002)
            s.send(b"a")

    pairs_up(asks, answers)


def is_a_log():
    """A bound Unix datagram socket, whose reader takes a line each 4 ms."""
    log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    log.bind(b"\0ipcstall-a-log")

    def reads_lines():
        for _ in range(200):
            log.recv(100)

    child("log", reads_lines)
    name("program")
    out = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    out.connect(b"\0ipcstall-a-log")
    for _ in range(200):
        time.sleep(0.004)
        out.send(b"a line")
    os.wait()


def buffers_lines():
    """filter reads a line each 60 ms, and writes all of them at the end; reader waits for it."""
    (r, w), (r2, w2) = os.pipe(), os.pipe()

    def feeds():
        close_all([r, r2, w2])
        for _ in range(20):
            time.sleep(0.06)
            os.write(w, b"a line")

    def keeps():
        close_all([w, r2])
        kept = b""
        while data := os.read(r, 100):
            kept += data
        os.write(w2, kept)

    def reads_kept():
        close_all([r, w, w2])
        while os.read(r2, 4096):
            pass

    pids = [child("feeder", feeds), child("filter", keeps), child("reader", reads_kept)]
    close_all([r, w, r2, w2])
    for pid in pids:
        os.waitpid(pid, 0)


def has_idle_workers():
    """Two workers of server wait at a pipe for work that does not come; client waits for server."""
    r, w = os.pipe()
    a, b = tcp()

    def works():
        close_all([w])
        a.close()
        b.close()
        while os.read(r, 1):
            pass

    def serves_alone():
        name("server")
        a.close()
        workers = [child("server", works) for _ in range(2)]
        time.sleep(0.1)
        while b.recv(1):
            time.sleep(0.05)
            b.send(b"a")
        os.write(w, b"..")
        os.close(w)
        for pid in workers:
            os.waitpid(pid, 0)
        os._exit(0)

    def asks():
        close_all([r, w])
        b.close()
        for _ in range(20):
            a.send(b"q")
            a.recv(1)

    client, server = child("client", asks), child("server", serves_alone)
    close_all([r, w])
    a.close()
    b.close()
    for pid in client, server:
        os.waitpid(pid, 0)


def answers_unread():
    """server greets whoever comes, and never reads: two clients have what they came for."""
    listener = socket.create_server(("127.0.0.1", 0))

    def greets():
        kept = []
        for _ in range(2):
            kept.append(listener.accept()[0])
            kept[-1].recv(1, socket.MSG_PEEK)
            kept[-1].send(b"hello")
        time.sleep(1)

    def comes():
        s = socket.create_connection(listener.getsockname())
        s.send(b"q")
        s.recv(5)
        time.sleep(0.8)

    pids = [child("server", greets), child("client", comes), child("client", comes)]
    for pid in pids:
        os.waitpid(pid, 0)


def streams_its_answer():
    """server answers one question in ten pieces, one each 80 ms; client waits for them in epoll."""
    def asks(s):
        poll = select.epoll()
        poll.register(s, select.EPOLLIN)
        s.send(b"q")
        for _ in range(10):
            poll.poll()
            s.recv(100)

    def answers(s):
        s.recv(1)
        for _ in range(10):
            time.sleep(0.08)
            s.send(b"a piece")

    pairs_up(asks, answers)


def forgets_some():
    """server does not answer three of 24 questions, for which client waits 0.25 s each."""
    def asks(s):
        s.settimeout(0.25)
        for _ in range(24):
            s.send(b"q")
            try:
                s.recv(1)
            except TimeoutError:
                pass

    def answers(s):
        for i in range(24):
            s.recv(1)
            if i % 8 != 5:
                s.send(b"a")

    pairs_up(asks, answers)


def passes_a_token():
    """holder has the only token of a pipe for 0.8 s; waiter sleeps in read() for it."""
    r, w = os.pipe()
    os.write(w, b"t")

    def holds_it():
        os.read(r, 1)
        time.sleep(0.8)
        os.write(w, b"t")

    def waits_for_it():
        time.sleep(0.1)
        os.read(r, 1)
        os.write(w, b"t")

    pids = [child("holder", holds_it), child("waiter", waits_for_it)]
    for pid in pids:
        os.waitpid(pid, 0)


def forwards_datagrams():
    """client asks forwarder by UDP, and that one server, whose port another had bound before."""
    ports = []
    for _ in range(2):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.bind(("127.0.0.1", 0))
            ports.append(s.getsockname())

    def udp(bind=None, to=None):
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        if bind:
            s.bind(bind)
        if to:
            s.connect(to)
        return s

    def answers():
        s = udp(ports[0])
        for _ in range(8):
            whom = s.recvfrom(10)[1]
            time.sleep(0.1)
            s.sendto(b"a", whom)

    def forwards():
        s, up = udp(ports[1]), udp(to=ports[0])
        for _ in range(8):
            question, whom = s.recvfrom(10)
            up.send(question)
            s.sendto(up.recv(10), whom)

    def asks():
        s = udp(to=ports[1])
        for _ in range(8):
            s.send(b"q")
            s.recv(10)

    pids = [child("server", answers), child("forwarder", forwards)]
    time.sleep(0.2)
    pids.append(child("client", asks))
    for pid in pids:
        os.waitpid(pid, 0)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
