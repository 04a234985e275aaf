# SPDX-License-Identifier: GPL-2.0-only
"""Nothing is held back, and yet the time goes by: servers that think, that are stopped, that have no CPU, that do not accept."""
import os
import signal
import socket
import subprocess

from healthy_http import nginx, url
from healthy_others import Postgres, redis
from truth import MS, Skip, go, harness, java, lang, need, sick

ANSWERS = "what curl waited for the first byte, in all"
THINK = 60


def asks(box, port, times=15):
    """curl on one connection; how long it waited for answers, by its own clock."""
    box.out([need("curl"), "-sS", "-w", "%{stderr}%{time_starttransfer} %{time_pretransfer}\n", *sum((["-o", "/dev/null", url(port)] for _ in range(times)), [])])
    with open(box.path("curl.log"), encoding="ascii") as f:
        took = [[float(x) for x in line.split()] for line in f]
    return sum(first - sent for first, sent in took) * 1e9


def thinks(name, argv, comm=None, **how):
    def body(box):
        port = harness.free_port()
        command = argv(port)
        box.serve(command, port, log="server.log", **{k: v(box) for k, v in how.items()})
        trace = box.attach("-a", "-P", str(port))
        own = asks(box, port)
        return trace.end(), own

    body.__doc__ = f"An HTTP server in {name} that thinks {THINK} ms a request; curl asks 15 times."
    sick(f"thinks-{name}", "waiting", cause="wait", who="^curl", whom=f"^{comm or name}", why="thinks (6[0-9]|7[0-4])", figure=ANSWERS, within=(20 * MS, 0.05))(body)


ENV = {**os.environ, "THINK_MS": str(THINK)}
thinks("go", lambda port: [go("http"), "serve", str(port), str(THINK)], comm="http-go")
thinks("node", lambda port: [need("node"), lang("http.js"), str(port), str(THINK)])
thinks("java", lambda port: (lambda a: [a[0], "-Dsun.net.httpserver.nodelay=true", *a[1:], str(port), str(THINK)])(java("Http")))
thinks("ruby", lambda port: [need("ruby"), lang("answers.rb"), str(port), str(THINK)])
thinks("perl", lambda port: [need("perl"), lang("answers.pl"), str(port), str(THINK)])
thinks("php", lambda port: [need("php"), "-S", f"127.0.0.1:{port}", lang("http.php")], env=lambda box: ENV)
thinks("gunicorn", lambda port: [need("gunicorn"), "--chdir", os.path.dirname(lang("think.py")), "-b", f"127.0.0.1:{port}", "think:app"], env=lambda box: ENV)


@sick("thinks-postgres", "waiting", cause="wait", who="^psql", whom="^postgres", why="thinks", figure="10 times pg_sleep(0.1)", within=(60 * MS, 0.05))
def pg_sleep(box):
    """psql asks PostgreSQL ten times to sleep 0.1 s, over TCP."""
    pg = Postgres(box)
    box.write("sleeps.sql", "select pg_sleep(0.1);\n" * 10)
    trace = box.attach("-a", "-P", str(pg.port))
    box.do(pg.psql("-f", box.path("sleeps.sql")))
    return trace.end(), 1e9


@sick("thinks-redis", "waiting", cause="wait", who="^python", whom="^redis", why="thinks", figure="10 times DEBUG SLEEP 0.1", within=(20 * MS, 0.05))
def redis_sleep(box):
    """A client asks redis ten times to sleep 0.1 s, and waits in recv()."""
    port = redis(box, "--enable-debug-command", "yes")
    trace = box.attach("-a", "-P", str(port))
    with socket.create_connection(("127.0.0.1", port)) as s:
        for _ in range(10):
            s.sendall(b"DEBUG SLEEP 0.1\r\n")
            s.recv(100)
    return trace.end(), 1e9


@sick("thinks-pipe", "waiting", cause="wait", who="^asks", whom="^answers", why="thinks", figure="the answers by the program's clock",
      within=(5 * MS, 0.03))
def pipe_thinks(box):
    """A helper over two pipes, as of an interpreter, that thinks 50 ms a question, 20 times."""
    return box.py('''
(r, w), (r2, w2) = os.pipe(), os.pipe()
def helper():
    os.close(w), os.close(r2)
    while os.read(r, 100):
        time.sleep(0.05)
        os.write(w2, b"answer")
child("answers", helper)
os.close(r), os.close(w2)
name("asks")
late = 0
for _ in range(20):
    os.write(w, b"question")
    began = clock()
    os.read(r2, 100)
    late += clock() - began
print(late)
'''), box.own()


@sick("thinks-once", "waiting", cause="wait", who="^asks", whom="^answers",
      why="thinks 1.[0-9]* s over one of 10", figure="the answers by the program's clock", within=(5 * MS, 0.03))
def thinks_once(box):
    """A server that thinks a second over one of ten requests, and answers the others at once."""
    return box.py('''
s, c = tcp()
def server():
    s.close()
    for i in range(10):
        take(c, 100)
        time.sleep(i == 4)
        c.send(b"answer")
child("answers", server)
c.close()
name("asks")
late = 0
for _ in range(10):
    s.send(b"q" * 100)
    began = clock()
    s.recv(100)
    late += clock() - began
print(late)
'''), box.own()


@sick("thinks-unix", "waiting", cause="wait", who="^asks", whom="^answers", why="thinks", figure="the answers by the program's clock", within=(5 * MS, 0.03))
def unix_thinks(box):
    """A server over a Unix socket that thinks 50 ms a question, 20 times."""
    return box.py('''
a, b = socket.socketpair()
def helper():
    a.close()
    while b.recv(100):
        time.sleep(0.05)
        b.send(b"answer")
child("answers", helper)
b.close()
name("asks")
late = 0
for _ in range(20):
    a.send(b"question")
    began = clock()
    a.recv(100)
    late += clock() - began
print(late)
'''), box.own()


# --- stopped, frozen, without a CPU -----------------------------------------------------------------------------------------


def stopped(box, port, pid, ask, seconds=1.2):
    """The ledger of `ask` before, during and after a stop of the server."""
    trace = box.attach("-a", "-P", str(port))
    ask()
    os.kill(pid, signal.SIGSTOP)
    box.later(seconds, lambda: os.kill(pid, signal.SIGCONT))
    ask()
    ask()
    return trace.end()


STOP = "the 1.2 s of the stop"


@sick("redis-stopped", "waiting", cause="late", who="^python", whom="^redis", why="stopped", figure=STOP, within=(60 * MS, 0.05), longest=True)
def redis_stopped(box):
    """redis is stopped with SIGSTOP for 1.2 s in the middle of a busy connection."""
    port = redis(box)
    with socket.create_connection(("127.0.0.1", port)) as s:

        def ask():
            for _ in range(500):
                s.sendall(b"PING\r\n")
                s.recv(100)

        return stopped(box, port, box.children[-1].pid, ask), 1.2e9


@sick("memcached-stopped", "waiting", cause="late", who="^python", whom="^memcached", why="stopped", figure=STOP, within=(60 * MS, 0.05), longest=True)
def memcached_stopped(box):
    """memcached is stopped for 1.2 s; its client waits in poll(), not in recv()."""
    import select

    port = harness.free_port()
    server = box.serve([need("memcached"), "-u", "root", "-l", "127.0.0.1", "-p", str(port), "-U", "0", "-t", "1"], port)
    with socket.create_connection(("127.0.0.1", port)) as s:
        s.setblocking(False)

        def ask():
            for _ in range(300):
                s.sendall(b"get key\r\n")
                select.select([s], [], [])
                s.recv(100)

        return stopped(box, port, server.pid, ask), 1.2e9


@sick("nginx-stopped", "waiting", cause=("late", "wait"), who="^curl", whom="^nginx", why="stopped|accept", figure=STOP, within=(100 * MS, 0.05))
def nginx_stopped(box):
    """nginx's worker is stopped for 1.2 s while curl asks it."""
    port = nginx(box)
    worker = int(subprocess.run(["ps", "-o", "pid=", "--ppid", str(box.children[-1].pid)], capture_output=True, text=True, check=True).stdout.split()[0])
    trace = box.attach("-a", "-P", str(port))
    os.kill(worker, signal.SIGSTOP)
    box.later(1.2, lambda: os.kill(worker, signal.SIGCONT))
    box.do([need("curl"), "-sS", *sum((["-o", "/dev/null", url(port)] for _ in range(20)), [])])
    return trace.end(), 1.2e9


@sick("late-answer-forgotten", "waiting", cause="late", who="^client", whom="^server", figure="the 1.5 s in which the server sleeps", within=(60 * MS, 0.05))
def forgets(box):
    """A server that reads one of two requests, and takes up the second after 1.5 s."""
    return box.py('''
s, c = tcp()
def server():
    s.close()
    c.recv(100)
    c.send(b"k")
    time.sleep(1.5)
    c.recv(100)
    c.send(b"k")
child("server", server)
c.close()
name("client")
s.send(b"x" * 100)
s.recv(1)
s.send(b"y" * 100)
s.recv(1)
'''), 1.5e9


@sick("accept-late", "waiting", cause="late", who="^client", whom="^server",
      why="accept", figure="what the client waited for the answer", within=(20 * MS, 0.03))
def accept_late(box):
    """The server listens, and calls accept() 1 s late; the request lies in the listener's queue."""
    return box.py('''
l = socket.create_server(("127.0.0.1", 0))
def server():
    time.sleep(1)
    c = l.accept()[0]
    c.recv(100)
    c.send(b"k")
child("server", server)
name("client")
s = socket.create_connection(l.getsockname())
l.close()
s.send(b"x" * 100)
began = clock()
s.recv(1)
print(clock() - began)
'''), box.own()


@sick("accept-late-unix", "waiting", cause="late", who="^client", whom="^server", why="accept",
      figure="what the client waited for the answer", within=(20 * MS, 0.03))
def accept_late_unix(box):
    """The same through a Unix socket."""
    return box.py('''
l = socket.socket(socket.AF_UNIX)
l.bind("\\0accept-late-%d" % os.getpid())
l.listen(8)
def server():
    time.sleep(1)
    c = l.accept()[0]
    c.recv(100)
    c.send(b"k")
child("server", server)
name("client")
s = socket.socket(socket.AF_UNIX)
s.connect(l.getsockname())
l.close()
s.send(b"x" * 100)
began = clock()
s.recv(1)
print(clock() - began)
'''), box.own()


@sick("accept-busy", "waiting", cause=("late", "wait"), who="^(client|second)", whom="^server",
      why="busy with|thinks")
def accept_busy(box):
    """A server with one thread thinks 1 s for its first client, and accepts no other meanwhile."""
    return box.py('''
l = socket.create_server(("127.0.0.1", 0))
def asks():
    s = socket.create_connection(l.getsockname())
    s.send(b"x" * 100)
    s.recv(1)
def server():
    for _ in range(2):
        c = l.accept()[0]
        c.recv(100)
        time.sleep(1)
        c.send(b"k")
        c.close()
child("server", server)
first = child("first", asks)
time.sleep(0.1)
second = child("second", asks)
l.close()
os.wait(), os.wait(), os.wait()
''')


@sick("cpu-quota", "waiting", who="^(asks|server)", why="(?i)quota", figure="what the answers took", within=(150 * MS, 0.15))
def quota(box):
    """A server that needs 4 ms of CPU an answer and may have a twentieth of a CPU."""
    group = next((g for g in (f"/sys/fs/cgroup/cpu/truth-{os.getpid()}", f"/sys/fs/cgroup/truth-{os.getpid()}") if os.path.isdir(os.path.dirname(g))), None)
    try:
        os.mkdir(group)
        try:
            with open(group + "/cpu.cfs_quota_us", "w", encoding="ascii") as f:
                f.write("5000")
        except OSError:
            with open(group + "/cpu.max", "w", encoding="ascii") as f:
                f.write("5000 100000")
    except OSError as e:
        raise Skip(f"no cgroup with a CPU quota: {e}") from e
    try:
        return box.py('''
a, b = socket.socketpair()
def server():
    a.close()
    while d := b.recv(100):
        end = time.thread_time() + 0.004
        while time.thread_time() < end:
            pass
        b.send(d)
pid = child("server", server)
b.close()
with open(sys.argv[1] + "/cgroup.procs", "w") as f:
    f.write(str(pid))
name("asks")
late = 0
for _ in range(25):
    began = clock()
    a.send(b"x")
    a.recv(100)
    late += clock() - began
print(late)
a.close()
os.waitpid(pid, 0)
''', group), box.own()
    finally:
        os.rmdir(group)


@sick("no-cpu", "waiting", cause="starved", who="^server", whom="CPU", figure="what the answers took", within=(200 * MS, 0.25))
def no_cpu(box):
    """A server that needs 3 ms an answer shares its CPU with four programs that compute."""
    return box.py('''
a, b = socket.socketpair()
cpu = sorted(os.sched_getaffinity(0))[-1]
hogs = [subprocess.Popen(["sh", "-c", "while :; do :; done"], preexec_fn=lambda: os.sched_setaffinity(0, {cpu})) for _ in range(4)]
def server():
    a.close()
    os.sched_setaffinity(0, {cpu})
    while d := b.recv(100):
        end = time.thread_time() + 0.003
        while time.thread_time() < end:
            pass
        b.send(d)
child("server", server)
b.close()
name("asks")
late = 0
for _ in range(60):
    began = clock()
    a.send(b"x")
    a.recv(100)
    late += clock() - began
print(late)
for h in hogs:
    h.kill()
'''), box.own()


# --- datagrams -----------------------------------------------------------------------------------------------------------


def dig(box, port, *options):
    child = box.start([need("dig"), "@127.0.0.1", "-p", str(port), "a.test", *options])
    child.wait(harness.HUNG)


@sick("dns-stopped", ("waiting", "stalled"), cause="unanswered", who="^(dig|isc)", whom="^dnsmasq", figure="dig's 2 s", within=(150 * MS, 0.05))
def dns_stopped(box):
    """dig asks a dnsmasq that is stopped, twice a second's patience."""
    port = harness.free_port()
    server = box.serve([need("dnsmasq"), "-d", "-p", str(port), "--listen-address=127.0.0.1", "--bind-interfaces", "--no-resolv", "--no-hosts", "--address=/a.test/10.0.0.1", "-u", "root"], port)
    os.kill(server.pid, signal.SIGSTOP)
    trace = box.attach("-a", "-P", str(port))
    dig(box, port, "+time=1", "+tries=2")
    return trace.end(), 2e9


@sick("dns-refused", ("waiting", "stalled"), cause="unanswered", who="^(dig|isc)", whom=r"127\.0\.0\.1")
def dns_refused(box):
    """dig asks a port at which nobody is: ICMP says so."""
    port = harness.free_port()
    trace = box.attach("-a", "-P", str(port))
    dig(box, port, "+time=1", "+tries=2")
    return trace.end()


@sick("udp-unanswered", ("waiting", "stalled"), cause="unanswered", who="^client", whom="^server", figure="the client's second and a half", within=(30 * MS, 0.03))
def udp_unanswered(box):
    """A client that sends a query and waits 1.5 s in recv() for a server that reads and says nothing."""
    return box.py('''
l = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
l.bind(("127.0.0.1", 0))
def server():
    l.recv(100)
    time.sleep(2)
child("server", server)
name("client")
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(l.getsockname())
s.settimeout(1.5)
s.send(b"query")
began = clock()
try:
    s.recv(100)
except TimeoutError:
    pass
print(clock() - began)
'''), box.own()


@sick("thinks-in-queue", "waiting", cause="wait", who="^client", whom="^server",
      why="thinks 1[12][0-9]", figure="the answers by the clients' clocks",
      within=(60 * MS, 0.05))
def queue_thinks(box):
    """
    Of each connection a thread of the server reads, and hands its request to the one thread that
    answers, in 30 ms; four clients ask.
    """
    return box.py('''
import queue
l = socket.create_server(("127.0.0.1", 0), backlog=16)
def server():
    jobs = queue.Queue()
    def reads(c):
        while c.recv(100):
            jobs.put(c)
        jobs.put(None)
    for _ in range(4):
        threading.Thread(target=reads, args=(l.accept()[0],), daemon=True).start()
    ended = 0
    while ended < 4:
        c = jobs.get()
        ended += c is None
        if c:
            time.sleep(0.03)
            c.send(b"answer")
child("server", server)
def client(out):
    s = socket.create_connection(l.getsockname())
    late = 0
    for _ in range(15):
        s.send(b"question")
        began = clock()
        s.recv(100)
        late += clock() - began
    os.write(out, struct.pack("d", late))
r, w = os.pipe()
for _ in range(4):
    child("client", client, w)
print(sum(struct.unpack("d", os.read(r, 8))[0] for _ in range(4)))
'''), box.own()


@sick("thinks-forked", "waiting", cause="wait", who="^(client|python)", whom="^server",
      why="think 15[0-9]", figure="the answers by the clients' clocks",
      within=(60 * MS, 0.05))
def forked_thinks(box):
    """
    A server forks for each connection, and answers after 150 ms; ten clients, each a program of its
    own, ask once, one after another.
    """
    return box.py('''
l = socket.create_server(("127.0.0.1", 0), backlog=16)
def server():
    for _ in range(10):
        c = l.accept()[0]
        if not os.fork():
            c.recv(100)
            time.sleep(0.15)
            c.send(b"answer")
            os._exit(0)
        c.close()
child("server", server)
def client(out):
    s = socket.create_connection(l.getsockname())
    s.send(b"question")
    began = clock()
    s.recv(100)
    os.write(out, struct.pack("d", clock() - began))
r, w = os.pipe()
late = 0
for _ in range(10):
    child("client", client, w)
    late += struct.unpack("d", os.read(r, 8))[0]
print(late)
'''), box.own()


@sick("thinks-udp", "waiting", cause="wait", who="^client", whom="^server",
      why="10[0-9] ms", figure="the answers by the program's clock",
      within=(20 * MS, 0.03))
def udp_thinks(box):
    """
    A client that names the server's address in each sendto(), and waits in recvfrom(); the server,
    bound to every address, thinks 100 ms.
    """
    return box.py('''
l = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
l.bind(("", 0))
there = ("127.0.0.1", l.getsockname()[1])
def server():
    for _ in range(12):
        question, sender = l.recvfrom(100)
        time.sleep(0.1)
        l.sendto(question, sender)
child("server", server)
l.close()
name("client")
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
late = 0
for _ in range(12):
    s.sendto(b"question", there)
    began = clock()
    s.recvfrom(100)
    late += clock() - began
print(late)
'''), box.own()


@sick("udp-drops", cause="loss", who="^slow", why="receive buffer|rcvbuf")
def udp_drops(box):
    """A receiver that sleeps while 3000 datagrams come: most are dropped for want of buffer."""
    return box.py('''
l = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
l.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
l.bind(("127.0.0.1", 0))
l.settimeout(1)
def slow():
    time.sleep(0.5)
    try:
        while l.recv(2000):
            pass
    except TimeoutError:
        pass
pid = child("slow", slow)
name("sends")
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(l.getsockname())
for _ in range(3000):
    s.send(b"x" * 1000)
os.waitpid(pid, 0)
''')


# --- each waits for the other -----------------------------------------------------------------------------------------------


@sick("mutual-wait", "waiting", cause="mutual", who="^(client|server)", whom="^(client|server)", figure="the 1.2 s until it is ended", within=(30 * MS, 0.03))
def mutual(box):
    """Client and server each wait in recv() for the other, after one exchange."""
    return box.py('''
s, c = tcp()
def server():
    s.close()
    c.recv(100)
    c.send(b"k")
    c.recv(100)
child("server", server)
c.close()
name("client")
s.send(b"q")
s.recv(100)
signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
signal.setitimer(signal.ITIMER_REAL, 1.2)
s.recv(100)
'''), 1.2e9


@sick("half-a-request", "waiting", cause="mutual", who="^(client|server)", whom="^(client|server)",
      figure="the client's patience by its own clock", within=(20 * MS, 0.03))
def half_a_request(box):
    """The server waits in recv() for the rest of a request; the client polls 1 s for a go-ahead
    that never comes, and then sends it (100 Continue)."""
    return box.py('''
s, c = tcp()
def server():
    s.close()
    take(c, 200)
    c.send(b"answer")
child("server", server)
c.close()
name("client")
s.send(b"h" * 100)
p = select.poll()
p.register(s, select.POLLIN)
began = clock()
p.poll(1000)
print(clock() - began)
s.send(b"b" * 100)
s.recv(100)
'''), box.own()


@sick("pipe-end-held", "waiting", cause="wait", who="^reads", figure="the 1.2 s in which it is held", within=(30 * MS, 0.03))
def held(box):
    """A reader waits for the end of a pipe whose writer has ended; a daemon that was started with it still holds the descriptor."""
    return box.py('''
r, w = os.pipe()
def daemon():
    time.sleep(1.2)
def writer():
    os.close(r)
    child("daemon", daemon)
    os.write(w, b"x")
child("writer", writer)
os.close(w)
name("reads")
while os.read(r, 100):
    pass
'''), 1.2e9
