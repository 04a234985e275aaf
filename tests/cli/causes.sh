#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Conversations whose cause is known, and is not the one that lies nearest.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 70
needs_ledger
PY=$("${PYTHON:-python3}" -c 'import sys; print(sys.executable)')
the='d = json.load(open("m.json")); l = d["ledger"]; said = [(f["cause"], f["blamed"], f["ns"] // 1000000, f["surety"], f["text"]) for f in l["findings"]]
own = [float(x) for x in open("out").read().split()]
ms = lambda e, side, state: (e[side]["states"][state]["ns"] or 0) / 1e6
of = lambda proto: [e for e in l["endpoints"] if e["proto"] == proto]
sender = lambda proto: max(of(proto), key=lambda e: e["beside"]["tx"]["bytes"] or 0)'
cat >talks.py <<'PY'
import ctypes, errno, fcntl, mmap, multiprocessing, os, platform, select, signal, socket, struct, sys, threading, time

signal.alarm(300)  # what hangs
SO_MAX_PACING_RATE = 47

def pair(paced=False):
    listener = socket.create_server(("127.0.0.1", 0))
    s = socket.socket()
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
    if paced:
        s.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, 1 << 30)  # a segment each microsecond
    s.connect(listener.getsockname())
    return s, listener.accept()[0]

def echo(c, size):
    if os.fork() == 0:
        while True:
            got = 0
            while got < size:
                data = c.recv(size - got)
                if not data:
                    os._exit(0)
                got += len(data)
            c.send(b"k")

def lets_go_late(option, hold, free, pieces):  # its writer does something else while the option holds the last piece back
    s, c = pair(paced=True)
    echo(c, sum(pieces))
    c.close()
    held = 0
    for _ in range(25):
        s.setsockopt(socket.IPPROTO_TCP, option, hold)
        for size in pieces:
            s.send(b"x" * size)
        t = time.monotonic()
        time.sleep(0.01)
        s.setsockopt(socket.IPPROTO_TCP, option, free)
        held += time.monotonic() - t
        s.recv(1)
    print(held * 1e3)

def uncorked():
    lets_go_late(socket.TCP_CORK, 1, 0, [300])

def late_nodelay():
    lets_go_late(socket.TCP_NODELAY, 0, 1, [100, 400])

def brokers():  # what it gets it answers before its kernel's timer would have: the ACK goes with the answer, and lets go of the second half
    s, c = pair()
    if os.fork() == 0:
        s.close()
        c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        held, first = 0, True
        while c.recv(16):
            at = time.monotonic()
            time.sleep(0.015)
            held += first * (time.monotonic() - at)
            first = not first
            c.send(b"k")
        print(held * 1e3)
        sys.stdout.flush()
        os._exit(0)
    c.close()
    for _ in range(20):
        s.send(b"x" * 16)
        s.send(b"y" * 16)
        assert s.recv(1) == s.recv(1) == b"k"
    s.close()
    os.wait()

def knocks():  # at a listener whose queue is full, and gives up before its request is sent again; and at a port where nobody listens
    full = socket.create_server(("127.0.0.1", 0), backlog=0)
    inside = socket.create_connection(full.getsockname())
    nobody = socket.create_server(("127.0.0.1", 0))
    closed = nobody.getsockname()
    nobody.close()
    waited = 0
    for _ in range(3):
        try:
            socket.create_connection(closed)
        except ConnectionRefusedError:
            pass
        s = socket.socket()
        s.settimeout(0.6)
        at = time.monotonic()
        try:
            s.connect(full.getsockname())
        except TimeoutError:
            pass
        waited += time.monotonic() - at
        s.close()
    print(waited * 1e3, full.getsockname()[1], closed[1])

def forgets():  # an edge-triggered server that takes one message of two
    s, c = pair()
    if os.fork() == 0:
        ready = select.epoll()
        ready.register(c, select.EPOLLIN | select.EPOLLET)
        ready.poll(5)
        c.recv(100)
        c.send(b"k")
        ready.poll(3)
        time.sleep(2)
        os._exit(0)
    c.close()
    s.send(b"x" * 100)
    s.recv(1)
    s.send(b"y" * 100)
    time.sleep(0.05)
    s.send(b"z" * 100)
    asked = select.poll()
    asked.register(s, select.POLLIN)
    t = time.monotonic()
    asked.poll(1500)
    print((time.monotonic() - t) * 1e3)

def hog(seconds):
    if os.fork() == 0:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pass
        os._exit(0)

def waits_for_cpu(pid):  # ms
    return int(open(f"/proc/{pid}/schedstat").read().split()[1]) / 1e6

def hungry_server():  # all on one CPU, which others have
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    s, c = pair()
    hog(4)
    hog(4)
    server = os.fork()
    if server == 0:
        os.nice(10)
        s.close()
        while c.recv(64):
            c.send(b"k")
        print(waits_for_cpu("self"), flush=True)
        os._exit(0)
    c.close()
    end = time.monotonic() + 3
    while time.monotonic() < end:
        s.send(b"q")
        s.recv(1)
    s.close()
    os.waitpid(server, 0)

def hungry(run, cpu):  # a process at that CPU, which others have; what it waited for it
    pid = os.fork()
    if pid == 0:
        os.sched_setaffinity(0, {cpu})
        hog(4)
        hog(4)
        os.nice(15)
        run()
        print(waits_for_cpu("self"), flush=True)
        os._exit(0)
    return pid

def hungry_poller():  # reads whatever comes as soon as it runs
    first, last = min(os.sched_getaffinity(0)), max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {first})
    s, c = pair()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
    def reads():
        s.close()
        c.setblocking(False)
        poller = select.epoll()
        poller.register(c, select.EPOLLIN)
        while poller.poll():
            if not c.recv(1 << 20):
                break
    reader = hungry(reads, last)
    c.close()
    end = time.monotonic() + 3
    while time.monotonic() < end:
        s.sendall(b"x" * 200000)
    s.close()
    os.waitpid(reader, 0)

def hungry_writer():  # is at work between its calls
    first, last = min(os.sched_getaffinity(0)), max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {first})
    s, c = pair()
    # or its small sends wait for delayed ACKs, too
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    def writes():
        c.close()
        end = time.monotonic() + 3
        while time.monotonic() < end:
            sum(range(20000))
            s.send(b"x" * 1000)
    writer = hungry(writes, last)
    s.close()
    while c.recv(65536):
        pass
    os.waitpid(writer, 0)

def downloads():  # as fast as it comes, of a server that is not traced
    s = socket.create_connection(("127.0.0.1", int(sys.argv[2])))
    n, t = 0, time.monotonic()
    while data := s.recv(65536):
        n += len(data)
    print(n, (time.monotonic() - t) * 1e3)

def serves():
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    s, piece = listener.accept()[0], b"x" * 1000000
    for _ in range(1000):
        s.sendall(piece)

def queue():  # its worker hangs in the first job; all its processes hold both ends
    q = multiprocessing.get_context("fork").Queue()
    hang = lambda: (q.get(), time.sleep(float(sys.argv[2])))
    worker = multiprocessing.get_context("fork").Process(target=hang)
    worker.start()
    for _ in range(3):
        q.put(b"x" * 400000)
    print(os.getpid(), worker.pid, flush=True)
    time.sleep(float(sys.argv[2]))
    worker.kill()
    q.cancel_join_thread()

def fifo():  # known by a name only; its reader sleeps, or leaves what there is
    kind = sys.argv[2]
    os.mkfifo(kind)
    both = os.open(kind, os.O_RDWR)
    if kind == "unread":
        os.write(both, b"x" * 1000)
    print(os.getpid(), flush=True)
    if kind == "unread":
        time.sleep(300)
    os.read(both, 1)

def late_page(memory, at, seconds):  # the memory's second page comes so much later than it is asked for (userfaultfd)
    fd = ctypes.CDLL(None, use_errno=True).syscall({"x86_64": 323, "aarch64": 282}[platform.machine()], os.O_CLOEXEC)
    if fd < 0:
        sys.exit("no userfaultfd")
    fcntl.ioctl(fd, 0xC018AA3F, struct.pack("3Q", 0xAA, 0, 0))  # UFFDIO_API, _REGISTER, _COPY
    fcntl.ioctl(fd, 0xC020AA00, struct.pack("4Q", at + 4096, 4096, 1, 0))
    page = ctypes.create_string_buffer(8192)
    def gives():
        os.read(fd, 32)
        time.sleep(seconds)
        fcntl.ioctl(fd, 0xC028AA03, struct.pack("5Q", at + 4096, ctypes.addressof(page) + 4095 & ~4095, 4096, 0, 0))
    threading.Thread(target=gives).start()

def spell():  # 0.4 s in which something lies there, or waits
    t = time.monotonic()
    time.sleep(0.4)
    return (time.monotonic() - t) * 1e3

def all_taken():  # to the last byte that there is room for: nobody waits for more, though a bit of the socket's says so still
    if sys.argv[2] == "pipe":
        r, w = os.pipe()
    else:
        ends = socket.socketpair()
        w, r = [end.detach() for end in ends]
    for fd in (r, w):
        os.set_blocking(fd, False)
    def until_refused(call):
        n = 0
        try:
            while True:
                n += call()
        except BlockingIOError:
            return n
    room = until_refused(lambda: os.write(w, b"x" * 4096))
    until_refused(lambda: len(os.read(r, 65536)) or room)
    for _ in range(room // 4096):
        assert os.writev(w, [b"x" * 2048] * 2) == 4096
    print(spell())

def deadline():  # SO_SNDTIMEO: whoever blocks for so long and no longer does not wait elsewhere
    w, r = socket.socketpair()
    w.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 0, 100000))
    t = time.monotonic()
    try:
        while True:
            w.send(b"x" * 4096)
    except BlockingIOError:
        print((time.monotonic() - t) * 1e3, spell())

def deferred():  # what comes with the ACK that establishes a connection
    listener = socket.socket()
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 5)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    s = socket.create_connection(listener.getsockname())
    s.send(b"hello")
    c = listener.accept()[0]
    print(spell(), flush=True)
    c.recv(5)

def goes():  # both ends, at once, with something unread
    how = sys.argv[2]
    a, b = socket.socketpair()
    a.send(b"x" * 100)
    print(spell(), flush=True)
    fds = sorted((a.fileno(), b.fileno()))
    if how == "close_range":
        os.closerange(fds[0], fds[1] + 1)
    elif how == "dup2":
        for fd in fds:
            os.dup2(2, fd)
    else:
        os.execlp("sleep", "sleep", "0.3")
    time.sleep(0.3)
    os._exit(0)

def through():  # from pipe to pipe
    (r, w), (there, at) = os.pipe(), os.pipe()
    os.write(w, b"x" * 4096)
    os.splice(r, at, 4096) if hasattr(os, "splice") else ctypes.CDLL(None, use_errno=True).splice(r, None, at, None, ctypes.c_size_t(4096), 0)
    print(spell(), flush=True)
    os.read(there, 4096)

def faults():  # sleeps in a write for its own memory, and then in one for room
    kind = sys.argv[2]
    memory = mmap.mmap(-1, 8192, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory[:4096] = b"x" * 4096
    late_page(memory, ctypes.addressof(ctypes.c_char.from_buffer(memory)), 0.4)
    if kind == "pipe":
        r, w = os.pipe()
    elif kind == "tcp":
        w, r = (s.detach() for s in pair())
    else:
        w, r = (s.detach() for s in socket.socketpair())
    t = time.monotonic()
    os.write(w, memory)
    fault = time.monotonic() - t
    if os.fork() == 0:
        os.close(w)
        time.sleep(0.3)
        while os.read(r, 65536):
            pass
        os._exit(0)
    os.close(r)
    t = time.monotonic()
    rest = memoryview(bytes(8 << 20))
    while rest:
        rest = rest[os.write(w, rest):]
    print(fault * 1e3, (time.monotonic() - t) * 1e3)

def fans_in():  # three ask by poll() for room at one datagram socket; whom another is quicker than sleeps on
    server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    server.bind("")
    for _ in range(3):
        if os.fork() == 0:
            c, waited, asked = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM), 0, select.poll()
            c.connect(server.getsockname())
            server.close()
            c.setblocking(False)
            asked.register(c, select.POLLOUT)
            for _ in range(40):
                while True:
                    try:
                        c.send(b"x" * 100)
                        break
                    except BlockingIOError:
                        t = time.monotonic()
                        asked.poll(2000)
                        waited += time.monotonic() - t
            os.write(1, b"%f\n" % (waited * 1e3))
            os._exit(0)
    for _ in range(120):
        time.sleep(0.01)
        server.recv(200)

def answers_late(c):  # and in eight pieces
    if os.fork() == 0:
        c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while c.recv(64):
            time.sleep(0.1)
            for _ in range(8):
                time.sleep(0.01)
                c.send(b"k")
        os._exit(0)
    c.close()

def tail_lost():  # every other question is lost once: its receiver's filter drops all for a while; a tail loss probe repeats it
    s, c = pair()
    deaf = multiprocessing.Semaphore(0)
    if os.fork() == 0:
        s.close()
        drop = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))  # return 0
        for i in range(12):
            if i % 2:
                time.sleep(0.06)  # the last answer's ACK has come
                c.setsockopt(socket.SOL_SOCKET, 26, struct.pack("HL", 1, ctypes.addressof(drop)))  # SO_ATTACH_FILTER
                deaf.release()
                time.sleep(0.05)
                c.setsockopt(socket.SOL_SOCKET, 27, 0)  # SO_DETACH_FILTER
            if not c.recv(100):
                break
            c.send(b"k")
        os._exit(0)
    c.close()
    waited = 0
    for i in range(12):
        if i % 2:
            deaf.acquire()
        t = time.monotonic()
        s.send(b"q" * 100)
        s.recv(1)
        if i % 2:
            waited += time.monotonic() - t
    print(waited * 1e3, flush=True)
    s.close()
    os.wait()

def accepted_late(kind, size):  # who connects to a Unix socket writes at once; it is accepted after half a second
    listener = socket.socket(socket.AF_UNIX, kind)
    listener.bind("late")
    listener.listen()
    began = multiprocessing.Event()
    if os.fork() == 0:
        c = socket.socket(socket.AF_UNIX, kind)
        c.connect("late")
        began.set()
        c.send(b"q" * size)
        c.recv(1)
        os._exit(0)
    began.wait()
    t = time.monotonic()
    time.sleep(0.5)
    c, got = listener.accept()[0], 0
    first = len(c.recv(1 << 16))
    waited = time.monotonic() - t
    while first + got < size:
        got += len(c.recv(1 << 16))
    c.send(b"k")
    os.wait()
    os.unlink("late")
    print(waited * 1e3)

def late_and_small():
    accepted_late(socket.SOCK_STREAM if sys.argv[2] == "stream" else socket.SOCK_SEQPACKET, 100)

def late_and_large():
    accepted_late(socket.SOCK_STREAM, 1 << 20)

def asks():  # its reader sleeps in poll() or select() only: for one socket, or for two at a time; or reads late what it asked for
    (s, c), (t, d) = pair(), pair()
    answers_late(c)
    answers_late(d)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 8)
    asked, waited = select.poll(), 0
    asked.register(s, select.POLLIN)
    if sys.argv[2] == "two":
        asked.register(t, select.POLLIN)
    if sys.argv[2] == "listener":
        asked.register(socket.create_server(("127.0.0.1", 0)).detach(), select.POLLIN)
    if sys.argv[2] == "epoll":
        other = select.epoll()
        other.register(t, select.EPOLLIN)
        asked.register(other, select.POLLIN)
    if sys.argv[2] == "event":  # by which a thread of its own would wake it
        asked.register(os.eventfd(0), select.POLLIN)
    late = 0
    for _ in range(5):
        s.send(b"q")
        at = time.monotonic()
        if sys.argv[2] == "select":
            select.select([s], [], [])
        else:
            asked.poll()
        waited += time.monotonic() - at
        if sys.argv[2] == "late":
            at = time.monotonic()
            end = at + 0.06
            while time.monotonic() < end:  # without another sleep
                pass
            late += time.monotonic() - at
        assert len(s.recv(8)) == 8
    print(waited * 1e3, s.getsockname()[1], late * 1e3, flush=True)

def two_ends(kind):  # each with a file to read and one to write
    if kind == "pipe":
        (r, w), (r2, w2) = os.pipe(), os.pipe()
        return (r, w2), (r2, w)
    a, b = pair() if kind == "tcp" else socket.socketpair()
    return (a.detach(),) * 2, (b.detach(),) * 2

def hangs():  # after a question and an answer the one keeps the next in a buffer of its own; or it asks, and is answered late each time
    kind, how = sys.argv[2:]
    began = time.monotonic()
    mine, his = two_ends(kind)
    other = os.fork()
    if other == 0:
        for fd in set(mine):
            os.close(fd)
        while os.read(his[0], 100):
            time.sleep(0.05 if how == "turns" else 0)
            os.write(his[1], b"k")
        os._exit(0)
    for fd in set(his):
        os.close(fd)
    for _ in range(10 if how == "turns" else 1):
        os.write(mine[1], b"q")
        os.read(mine[0], 100)
    if how == "hang":
        # both have ended when the session does: else the other may still be about to
        signal.signal(signal.SIGALRM, lambda *_: (os.kill(other, 9), os.waitpid(other, 0), os._exit(0)))
        long = max(0.8, 20 * (time.monotonic() - began))  # most of its life, also where a busy host let it begin late
        signal.setitimer(signal.ITIMER_REAL, long)
        print(long * 1000, flush=True)
        os.read(mine[0], 100)

def many_short():  # each new connection has the same stall, twice: a second small write until the first is acknowledged, by a timer
    server = socket.create_server(("127.0.0.1", 0))
    if os.fork() == 0:
        for _ in range(8):
            c = server.accept()[0]
            while data := c.recv(2, socket.MSG_WAITALL):
                c.send(b"k")
            c.close()
        os._exit(0)
    held = 0
    for _ in range(8):
        s = socket.create_connection(server.getsockname())
        for _ in range(3):
            at = time.monotonic()
            s.send(b"a")
            s.send(b"b")
            s.recv(1)
            held += time.monotonic() - at
        s.close()
    print(held * 1e3)

globals()[sys.argv[1]]()
PY

traced --proto tcp -- "$PY" talks.py many_short
says_true 'the same stall of many short connections is told together' "$the; f = l['findings'][0]" \
	'len(said) == 1 and f["cause"] == "nagle" and f["connections"] == 8 and f["ns"] < 0.5 * f["all_ns"] and 0.8 * own[0] < f["all_ns"] / 1e6 < own[0] and " in 8 connections, " in l["verdict"]' '(own, f)'

for kind in tcp unix pipe; do
	traced -- "$PY" talks.py hangs $kind hang
	says_true "each waits for the other to send, and neither goes on: $kind" "$the; w = l['long_wait']; ends = w and w['mutual'] is not None and [l['endpoints'][w[k]] for k in ('endpoint', 'mutual')]" \
		'ends and all(abs(ms(e, "rx", "wait") - own[0]) < max(100, 0.05 * own[0]) for e in ends) and "a deadlock until one closed: " in l["verdict"] and not said' '(own, w, l["verdict"])'
done
traced -- "$PY" talks.py hangs tcp turns
says_true 'who asks and is answered waits by turns' "$the" 'not (l["long_wait"] or {}).get("mutual") and "waits for the other" not in l["verdict"]' '(l["long_wait"], l["verdict"])'

for way in poll select event; do
	traced --proto tcp -- "$PY" talks.py asks $way
	says_true "who asks by $way() for one socket waits, until there is as much as it asks for" "$the; e = [e for e in of('tcp') if e['local'].endswith(':%d' % own[1])][0]" \
		'abs(ms(e, "rx", "wait") - own[0]) < 0.02 * own[0] + 10 and ms(e, "rx", "unread") < 10' '(own, e["rx"]["states"])'
done
traced --proto tcp -- "$PY" talks.py asks late
says_true 'what it asked for and does not read lies unread' "$the; e = [e for e in of('tcp') if e['local'].endswith(':%d' % own[1])][0]" \
	'abs(ms(e, "rx", "wait") - own[0]) < 0.02 * own[0] + 10 and abs(ms(e, "rx", "unread") - own[2]) < 0.02 * own[2] + 10' '(own, e["rx"]["states"])'
for other in two listener epoll; do
	traced --proto tcp -- "$PY" talks.py asks $other
	says_true "of two ($other) nobody knows which one" "$the; e = [e for e in of('tcp') if e['local'].endswith(':%d' % own[1])][0]" \
		'ms(e, "rx", "wait") == 0 and "waited" not in l["verdict"]' '(own, e["rx"]["states"], l["verdict"])'
done

traced --proto tcp -- "$PY" talks.py uncorked
says_true 'what lay under the cork was not paced' "$the; e = sender('tcp')" \
	'abs(ms(e, "tx", "cork") - own[0]) < 0.03 * own[0] + 5 and ms(e, "tx", "pacing") < 5 and said[0][0] == "cork"' '(own, said, e["tx"]["states"])'
traced --proto tcp -- "$PY" talks.py late_nodelay
says_true "nor was what Nagle's algorithm held until TCP_NODELAY" "$the; e = sender('tcp')" \
	'ms(e, "tx", "nagle") > 0.9 * own[0] and ms(e, "tx", "nagle") < own[0] + 20 and ms(e, "tx", "pacing") < 5' '(own, said, e["tx"]["states"])'

traced --proto tcp -- "$PY" talks.py brokers
says_true "an ACK that goes with a late answer was withheld until then" "$the; e = sender('tcp'); b = [b for b in e['blame'] if b['by'] == 'peer delayed ACK']" \
	'said[0][:2] == ("nagle", "peer delayed ACK") and said[0][3] == "both ends seen" and abs(b[0]["ns"] / 1e6 - own[0]) < 0.05 * own[0] + 10' '(own, said, b)'

traced --proto tcp -- "$PY" talks.py knocks
says_true "requests for a connection that nobody answered are told of, with where they went" "$the; at = [e for e in of('tcp') if e['remote'].endswith(':%d' % own[1]) and not e['beside']['tx']['bytes'] and ms(e, 'tx', 'recovery')]" \
	'len(at) == 3 and abs(sum(ms(e, "tx", "recovery") for e in at) - own[0]) < 0.02 * own[0] + 10 and said[0][0] == "recovery" and l["findings"][0]["unanswered_syn"]' '(own, said, [(e["remote"], e["tx"]["states"]["recovery"]["ns"]) for e in of("tcp")])'
says_true "one that was refused was answered" "$the; at = [e for e in of('tcp') if e['remote'].endswith(':%d' % own[2])]" \
	'len(at) == 3 and not any(ms(e, "tx", "recovery") for e in at)' '(own, [(e["remote"], e["tx"]["states"]) for e in of("tcp")])'

traced --proto tcp -- "$PY" talks.py forgets
says_true 'a request that lies unread is no health, though no sender stalls' "$the; late = l['late_reader']" \
	'not said and late and abs(late["ns"] / 1e6 - own[0]) < 0.1 * own[0] + 100 and "has unread data" in l["verdict"] and "the sender may wait for an answer" in l["verdict"]' \
	'(own, said, late, l["verdict"])'

traced --proto tcp -- "$PY" talks.py hungry_server
says_true 'a server that has no CPU is told, and that nobody stalled' "$the; s = l['starved']" \
	'own[0] > 500 and not said and s and abs(s["ns"] / 1e6 - own[0]) < 0.15 * own[0] + 50 and "was woken" in l["verdict"] and "waited for a CPU" in l["verdict"]' '(own, said, s, l["verdict"])'

traced --proto tcp -- "$PY" talks.py hungry_poller
says_true 'a reader by epoll that has no CPU is not one that does not read' "$the; e = sender('tcp'); no_cpu = l['endpoints'][e['peer']]['beside']['rx']['no_cpu_ns']" \
	'own[0] > 500 and said[0][1] == "no CPU for the peer" and said[0][3] == "both ends seen" and "waiting for a CPU" in l["verdict"] and abs(no_cpu / 1e6 - own[0]) < 0.1 * own[0] + 50 and sum(b["ns"] for b in e["blame"] if b["by"] == "no CPU for the peer") < 1.02e6 * own[0]' \
	'(own, said, no_cpu, e["blame"])'
traced --proto tcp -- "$PY" talks.py hungry_writer
says_true 'a writer that has no CPU between its calls is told' "$the; s = l['starved']" \
	'own[0] > 500 and not said and s and abs(s["ns"] / 1e6 - own[0]) < 0.15 * own[0] + 50 and s["count"] == 0 and "was waiting for a CPU while others waited for it" in l["verdict"]' '(own, said, s, l["verdict"])'

traced --proto unix -- "$PY" talks.py fans_in
says_true 'who asks for room where others are quicker waits on' "$the; waits = sorted(ms(e, 'tx', 'sndbuf') for e in of('unix-dgram') if e['beside']['tx']['bytes']); own.sort()" \
	'len(waits) == 3 and all(abs(w - o) < 0.05 * o + 10 for w, o in zip(waits, own))' '(waits, own)'

rm -f port
"$PY" talks.py serves >port &
jobs_to_end+=($!)
until_true test -s port
traced --proto tcp -- "$PY" talks.py downloads "$(cat port)"
says_true 'who reads as fast as it comes is not late' "$the" 'own[0] == 1e9 and not l["late_reader"] and not said and "unread" not in l["verdict"]' '(own, said, l["late_reader"], l["verdict"])'

rm -f out # until_true is not to see what stood there
"$PY" talks.py queue 300 >out &
jobs_to_end+=($!)
until_true test -s out
until_true sleeps_in "$(cut -d' ' -f1 out)" pipe_write
"$IPCSTALL" attach --exact -q -d 1s -p "$(cut -d' ' -f1 out)" --json m.json 2>err
says_true 'of two that hold the end that is not read it is the one that does not write' "$the; f = l['findings'][0]" \
	'f["cause"] == "sndbuf" and f["ns"] > 0.9e9 and f["pid"] == int(own[0]) and f["blamed_pid"] == int(own[1]) and f["surety"] == "both ends seen"' '(own, f)'
says_true 'a sleep that goes on is blocked time' "$the; e = l['endpoints'][l['findings'][0]['endpoint']]" \
	'abs(e["beside"]["tx"]["blocked_ns"] - e["tx"]["states"]["sndbuf"]["ns"]) < 1e6' '(e["beside"]["tx"], e["tx"]["states"]["sndbuf"])'

for kind in asks unread; do
	rm -f out
	"$PY" talks.py fifo $kind >out &
	jobs_to_end+=($!)
	until_true test -s out
	until_true sleeps "$(cat out)"
	"$IPCSTALL" attach --exact -q -d 1s -p "$(cat out)" --json m.json >/dev/null 2>err
	says_true "a FIFO from before the session: $kind" "$the; state = {'asks': 'wait', 'unread': 'unread'}['$kind']; e = max(of('pipe'), key=lambda e: ms(e, 'rx', state), default=None)" \
		'e and e["rx"]["lifetime_ns"] > 0.9e9 and abs(ms(e, "rx", state) - e["rx"]["lifetime_ns"] / 1e6) < 20 and e["beside"]["rx"]["pid"] == int(own[0])' '(own, of("pipe"))'
done

for kind in tcp unix-stream pipe; do
	traced -- "$PY" talks.py faults $kind
	if grep -q 'no userfaultfd' err; then
		echo "skip $kind: no userfaultfd here"
		continue
	fi
	says_true "who sleeps in a write for its own memory lacks no room: $kind" "$the; e = max(of('$kind'), key=lambda e: e['beside']['tx']['bytes'] or 0)
held = sum(ms(e, 'tx', s) for s in ('sndbuf', 'rwnd', 'cwnd', 'pacing'))" \
		'own[0] > 400 and ms(e, "tx", "idle") + ms(e, "tx", "flight") > own[0] - 20 and 250 < held < own[1] + 20 and not l["unaccounted_ns"] and not l["unpaired"]' '(own, held, e["tx"], l["unpaired"])'
done

for kind in pipe unix-stream; do
	traced -- "$PY" talks.py all_taken "${kind%-stream}"
	says_true "a writev() that was taken whole is no refusal: $kind" "$the; e = sender('$kind')" \
		'own[0] > 390 and ms(e, "tx", "sndbuf") < 50 and not said' '(own, e["tx"]["states"]["sndbuf"], said)'
done
traced -- "$PY" talks.py deadline
says_true 'a send call that ends at its deadline waits no longer' "$the; e = sender('unix-stream')" \
	'own[1] > 390 and abs(ms(e, "tx", "sndbuf") - own[0]) < 30' '(own, e["tx"]["states"]["sndbuf"])'
traced -- "$PY" talks.py deferred
says_true 'what comes with the handshake is unread until it is read' "$the; e = max(of('tcp'), key=lambda e: e['beside']['rx']['bytes'] or 0)" \
	'abs(ms(e, "rx", "unread") - own[0]) < 20' '(own, e["rx"]["states"])'
traced --proto tcp -- "$PY" talks.py tail_lost
says_true 'what a tail loss probe repeated had been lost' "$the; e = max(of('tcp'), key=lambda e: ms(e, 'tx', 'recovery'))" \
	'own[0] > 1000 and abs(ms(e, "tx", "recovery") - own[0]) < 0.03 * own[0] + 30 and said[0][0] == "recovery" and 5 <= e["tx"]["states"]["recovery"]["count"] <= 6 and not e["tx"]["unaccounted_ns"]' '(own, said, e["tx"]["states"])'
for kind in unix-stream unix-seqpacket; do
	traced -- "$PY" talks.py late_and_small ${kind#unix-}
	says_true "what was sent before anybody accepted lies unread: $kind" "$the; e = max(of('$kind'), key=lambda e: ms(e, 'rx', 'unread'))" \
		'abs(ms(e, "rx", "unread") - own[0]) < 20 and "has unread data" in l["verdict"]' '(own, e["rx"]["states"], l["verdict"])'
done
traced -- "$PY" talks.py late_and_large
says_true 'who fills a connection that nobody has accepted waits for its reader' "$the; e = sender('unix-stream')" \
	'abs(ms(e, "tx", "sndbuf") - own[0]) < 30 and said[0][:2] == ("sndbuf", "peer application not reading")' '(own, said, e["tx"]["states"]["sndbuf"])'
for how in close_range dup2 exec; do
	traced -- "$PY" talks.py goes $how
	says_true "what nobody read until it went is unread: $how" "$the; e = max(of('unix-stream'), key=lambda e: ms(e, 'rx', 'unread'))" \
		'abs(ms(e, "rx", "unread") - own[0]) < 20' '(own, e["rx"]["states"])'
done
traced -- "$PY" talks.py through
says_true 'what splice() put into a pipe lies there' "$the; e = sorted(of('pipe'), key=lambda e: e['serial'])" \
	'any(abs(ms(x, "rx", "unread") - own[0]) < 20 and x["beside"]["tx"]["bytes"] == 4096 for x in e)' '(own, [(x["rx"]["states"]["unread"], x["beside"]["tx"]["bytes"]) for x in e])'

(ulimit -f 1; exec "$IPCSTALL" run -q --json long.json -- true) 2>err
rc=$?
check 'a file that may not grow is told of in one line' "exit $rc: $(cat err)" [ "$rc $(wc -l <err)" = '6 1' ]
(ulimit -n 16; exec "$IPCSTALL" run -- true) 2>err
rc=$?
check 'a limit of open files that is too low is told of, and how to raise it' "exit $rc: $(cat err)" [ "$rc $(grep -c 'ulimit -n' err)" = '5 1' ]

mkfifo full
"$PY" -c 'import time; f = open("full"); time.sleep(300)' & # holds its end, and reads nothing
holder=$!
jobs_to_end+=("$holder")
"$PY" -c 'import os, time; f = os.open("full", os.O_WRONLY); os.write(f, bytes(1 << 20))' 2>/dev/null &
writer=$!
until_true sleeps_in $writer pipe_write
"$IPCSTALL" export --exact -p $writer --once --interval 1200ms >metrics 2>err
says_true 'a sleep that goes on is in the metrics' 'g = dict(l.rsplit(" ", 1) for l in open("metrics") if l.startswith("ipcstall_blocked_seconds_total{"))' \
	'any(float(v) > 0.05 for v in g.values())' '(g, open("err").read())'
kill $holder
wait $writer
traced -- sh -c 'head -c 20000 /dev/zero | (cat; sleep 1) | wc -c >/dev/null'
says_true "who reads all there is and then ends is the one that is awaited, with whoever holds its end" "import re; $the" 're.search(r"EOF: cat\[\d+\] has (ended|closed its descriptor), but (sh|sleep)\[\d+\] still holds", l["verdict"]) and "for head[" not in l["verdict"]' 'l["verdict"]'
finish
