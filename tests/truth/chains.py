# SPDX-License-Identifier: GPL-2.0-only
"""
Who waits for whom where several programs take part: proxies, helpers, threads, and what goes on
beside them.
"""
from truth import MS, healthy, need, sick

CLOCK = "the answers by the program's clock"

ASKS = '''
def asks(connect, times, each=1):
    """Ask `times` times, `each` on one connection; how long the answers took."""
    late, s = 0, None
    for i in range(times):
        if i % each == 0:
            if s:
                s.close()
            s = connect()
        s.send(b"question")
        began = clock()
        s.recv(100)
        late += clock() - began
    s.close()
    print(late)
'''

HELPER = '''
pairs = []
def helper(word, think):
    """This end of a socket pair, at whose other end a process answers what it is asked."""
    a, b = socket.socketpair()
    def work():
        for end in (a, *pairs):
            end.close()
        while b.recv(100):
            time.sleep(think)
            b.send(b"answer")
    child(word, work)
    b.close()
    pairs.append(a)
    return a
'''

BACKEND = '''
servers = []
def listener():
    l = socket.socket()
    l.bind(("127.0.0.1", 0))
    l.listen(64)
    return l
def serve(l, think):
    while True:
        c, _ = l.accept()
        while c.recv(100):
            time.sleep(think)
            c.send(b"answer")
        c.close()
def end():
    for pid in servers:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
'''


@sick("waits-behind-splice", "waiting", cause="wait", who="^client", whom="^backend",
      why="thinks (6[0-9]|7[0-4])", figure=CLOCK, within=(40 * MS, 0.05))
def behind_splice(box):
    """A proxy splices by epoll, asleep in no call; the server behind it thinks 60 ms, 12 times."""
    return box.py(BACKEND + ASKS + '''
back, front = listener(), listener()
servers.append(child("backend", lambda: serve(back, 0.06)))
def proxy():
    c, _ = front.accept()
    u = socket.create_connection(back.getsockname())
    ways = {c.fileno(): (u, *os.pipe()), u.fileno(): (c, *os.pipe())}
    for fd in ways:
        os.set_blocking(fd, False)
    poll = select.epoll()
    for fd in ways:
        poll.register(fd, select.EPOLLIN)
    while True:
        for fd, _ in poll.poll():
            to, r, w = ways[fd]
            while True:
                try:
                    n = os.splice(fd, w, 65536, flags=2)
                except BlockingIOError:
                    break
                if not n:
                    return
                os.splice(r, to.fileno(), n)
servers.append(child("proxy", proxy))
name("client")
asks(lambda: socket.create_connection(front.getsockname()), 12, 12)
end()
'''), box.own()


@sick("waits-behind-proxy", "waiting", cause="wait", who="^client", whom="^slow", why="thinks",
      figure="4 answers of 150 ms", within=(60 * MS, 0.05))
def behind_proxy(box):
    """A proxy asks three servers in turn, a connection each time; one of them thinks 150 ms."""
    return box.py(BACKEND + ASKS + '''
backs = [listener() for _ in range(3)]
front = listener()
for l, name_, think in zip(backs, ("quick-a", "slow", "quick-b"), (0, 0.15, 0)):
    servers.append(child(name_, lambda: serve(l, think)))
def proxy():
    c, _ = front.accept()
    i = 0
    while True:
        q = c.recv(100)
        if not q:
            return
        with socket.create_connection(backs[i % 3].getsockname()) as u:
            u.send(q)
            select.select([u], [], [])
            c.send(u.recv(100))
        i += 1
servers.append(child("proxy", proxy))
name("client")
asks(lambda: socket.create_connection(front.getsockname()), 12, 12)
end()
'''), 0.6e9


@sick("waits-in-threads", "waiting", cause="wait", who="^program", whom="thread",
      why="thinks (5[0-9]|6[0-4])", figure=CLOCK, within=(20 * MS, 0.05))
def in_threads(box):
    """Client and server are threads of one program; the server thinks 50 ms, 15 times."""
    return box.py(BACKEND + ASKS + '''
name("program")
l = listener()
threading.Thread(target=serve, args=(l, 0.05), daemon=True).start()
asks(lambda: socket.create_connection(l.getsockname()), 15, 15)
'''), box.own()


@sick("waits-for-one-worker", "waiting", cause="wait", who="^dispatcher", whom="^worker-3",
      why="thinks", figure="6 answers of 100 ms", within=(30 * MS, 0.05))
def one_worker(box):
    """A dispatcher asks four workers in turn, over socket pairs; one of them takes 100 ms."""
    return box.py(HELPER + '''
workers = [helper(f"worker-{i}", 0.1 if i == 3 else 0.001) for i in range(1, 5)]
name("dispatcher")
for j in range(24):
    workers[j % 4].send(b"job")
    workers[j % 4].recv(100)
'''), 0.6e9


@sick("waits-for-output", "waiting", cause="wait", who="^parent", whom="^(sh|sleep)",
      figure="the 1.2 s of the child", within=(60 * MS, 0.03))
def output(box):
    """subprocess.run() looks by poll() at a child's output and its errors."""
    need("sh")
    return box.py('''
name("parent")
subprocess.run(["sh", "-c", "sleep 1.2; echo out; echo err >&2"], capture_output=True)
'''), 1.2e9


@sick("connects-refused", "waiting", cause="connect", who="^client", why="refused",
      figure="the 1.5 s without a listener", within=(150 * MS, 0.1))
def refused(box):
    """A client tries each 0.1 s to connect, until its server listens."""
    return box.py('''
l = socket.socket()
l.bind(("127.0.0.1", 0))
def server():
    time.sleep(1.5)
    l.listen()
    c, _ = l.accept()
    c.recv(100)
child("server", server)
name("client")
while True:
    s = socket.socket()
    try:
        s.connect(l.getsockname())
        break
    except ConnectionRefusedError:
        time.sleep(0.1)
s.send(b"hello")
'''), 1.5e9


@sick("polls-for-answers", "waiting", cause="late", who="^client", whom="^server", why="unread",
      figure="20 pauses of 50 ms", within=(60 * MS, 0.05))
def polls(box):
    """A client sleeps 50 ms between two looks for an answer that comes after 1 ms, 20 times."""
    return box.py('''
s, c = tcp()
def server():
    s.close()
    while c.recv(100):
        time.sleep(0.001)
        c.send(b"answer")
child("server", server)
c.close()
name("client")
s.setblocking(False)
for _ in range(20):
    s.send(b"q")
    while True:
        try:
            s.recv(100)
            break
        except BlockingIOError:
            time.sleep(0.05)
'''), 1.0e9


@sick("waits-beside-stream", "waiting", cause="wait", who="^asks", whom="^answers", why="thinks",
      figure=CLOCK, within=(30 * MS, 0.05))
def beside_stream(box):
    """A helper thinks 80 ms, 20 times, while a compressor beside it is limited by its CPU."""
    need("gzip")
    return box.py(ASKS + HELPER + '''
bulk = subprocess.Popen("head -c 30000000 /dev/urandom | gzip -9 >/dev/null", shell=True)
s = helper("answers", 0.08)
name("asks")
asks(lambda: s, 20, 20)
bulk.wait()
'''), box.own()


RING = '''
ways = [os.pipe() for _ in range(3)]
def reads(i, passes):
    """The i-th of a ring of three reads what the one before writes, and passes it on."""
    r, w = ways[i][0], ways[(i + 1) % 3][1]
    for way in ways:
        for fd in way:
            if fd not in (r, w):
                os.close(fd)
    for n in range(1000):
        if not os.read(r, 1):
            return
        time.sleep(0.01 if i else 0.02)
        if passes(n):
            os.write(w, b"x")
def ring(passes, seconds):
    pids = [child(f"ring-{i}", reads, i, passes if i == 1 else lambda n: True) for i in range(3)]
    os.write(ways[0][1], b"x")
    for way in ways:
        for fd in way:
            os.close(fd)
    time.sleep(seconds)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    for pid in pids:
        os.waitpid(pid, 0)
'''


@sick("readers-in-a-circle", "waiting", cause="mutual", who="^ring-", whom="^ring-",
      why="each waited for the next")
def readers_in_a_circle(box):
    """Three programs pass a token round, until after 10 rounds one of them loses it."""
    return box.py(RING + "ring(lambda n: n != 10, 3)")


@healthy("token-ring", cause="wait")
def token_ring(box):
    """Three programs pass a token round for 2 s, 20 ms the first and 10 ms the others: these wait
    for three quarters of the time."""
    return box.py(RING + "ring(lambda n: True, 2)")


HELPERS = "for i in $(seq 20); do a=$(sleep 0.03; echo $i); done"


@healthy("shell-helpers", outcome="healthy")
def shell_helpers(box):
    """A script reads the output of 20 short commands, and sleeps for most of the run."""
    return box.sh(f"{HELPERS}; sleep 4")


@sick("waits-for-helpers", "waiting", cause="wait", who="^bash", whom="^bash.* and others")
def waits_for_helpers(box):
    """A script does nothing but read the output of 20 short commands."""
    return box.sh(HELPERS)


@sick("waits-beside-helpers", "waiting", cause="wait", who="^asks", whom="^answers", why="thinks",
      figure=CLOCK, within=(30 * MS, 0.05))
def beside_helpers(box):
    """A helper thinks 100 ms, 20 times; a shell beside it reads the output of short commands."""
    return box.py(ASKS + HELPER + f'''
bulk = subprocess.Popen(["bash", "-c", "{HELPERS}"])
s = helper("answers", 0.1)
name("asks")
asks(lambda: s, 20, 20)
bulk.wait()
'''), box.own()


@sick("control-frames", "waiting", cause="wait", who="^client", whom="^server", why="a message",
      figure=CLOCK, within=(60 * MS, 0.05))
def control_frames(box):
    """As HTTP/2 does, a server sends a window at once and a ping after 50 ms; its answer after 100."""
    return box.py('''
s, c = tcp()
def server():
    s.close()
    while c.recv(1):
        c.send(b"window")
        time.sleep(0.05)
        c.send(b"ping")
        c.recv(1)
        time.sleep(0.05)
        c.send(b"answer")
child("server", server)
c.close()
name("client")
late = 0
for _ in range(20):
    s.send(b"q")
    began = clock()
    take(s, 10)
    s.send(b"p")
    take(s, 6)
    late += clock() - began
s.close()
print(late)
'''), box.own()


@healthy("greeter-idle", outcome="healthy")
def greeter_idle(box):
    """A server greets, as MySQL and SMTP do, and answers at once; its client is slow to ask."""
    return box.py('''
s, c = tcp()
def server():
    s.close()
    c.send(b"welcome")
    while c.recv(4) and c.recv(100):
        c.send(b"answer")
child("server", server)
c.close()
name("client")
s.recv(100)
for _ in range(12):
    time.sleep(0.1)
    s.send(b"1234query")
    s.recv(100)
''')


@healthy("helper-idle", outcome="healthy")
def helper_idle(box):
    """A helper on a socket pair answers at once; its parent thinks 100 ms in between."""
    return box.py(HELPER + '''
s = helper("helper", 0)
name("parent")
for _ in range(12):
    s.send(b"q")
    s.recv(100)
    time.sleep(0.1)
''')


@sick("waits-in-merge", "waiting", cause="wait", who="^paste", whom="^feed",
      why=r"^nothing was held back: feed\[\d+\] sent", figure="the sleeps of the slow feed",
      within=(60 * MS, 0.05))
def in_merge(box):
    """paste reads a line from each of two; one is slow, and the other's pipe is full meanwhile."""
    return box.py('''
quick, slow = os.pipe(), os.pipe()
def feeds():
    os.close(slow[0]); os.close(quick[0]); os.close(quick[1])
    for i in range(40):
        time.sleep(0.05)
        os.write(slow[1], b"x" * 3000 + b"\\n")
def quickly():
    os.close(slow[0]); os.close(slow[1]); os.close(quick[0])
    for i in range(40):
        os.write(quick[1], b"y" * 65535 + b"\\n")
child("feed", feeds)
child("quick", quickly)
os.close(quick[1]); os.close(slow[1])
a, b = os.fdopen(quick[0], "rb"), os.fdopen(slow[0], "rb")
name("paste")
for i in range(40):
    a.readline(); b.readline()
'''), 2.0e9


@sick("waits-given-up", "waiting", cause="wait", who="^client", whom="^server",
      why="left 6 of 6 requests unanswered", figure="six times a quarter of a second",
      within=(40 * MS, 0.05))
def given_up(box):
    """A server takes 600 ms for an answer; its client closes after 250 ms and tries again."""
    return box.py(BACKEND + '''
import threading
l = listener()
def late(c):
    c.recv(100)
    time.sleep(0.6)
    try:
        c.send(b"answer")
    except OSError:
        pass
def server():
    while True:
        c, _ = l.accept()
        threading.Thread(target=late, args=(c,), daemon=True).start()
servers.append(child("server", server))
name("client")
for _ in range(6):
    s = socket.create_connection(l.getsockname())
    s.settimeout(0.25)
    s.send(b"question")
    try:
        s.recv(100)
    except socket.timeout:
        pass
    s.close()
end()
'''), 1.5e9
