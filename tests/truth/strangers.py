# SPDX-License-Identifier: GPL-2.0-only
"""Other patterns than requests in blocking calls: events, pings, idle pools, locks, proxies."""
import os
import sys

from truth import MS, go, harness, healthy, java, lang, need, sick

ANSWERS = "the client's rounds"
NEAR = (10 * MS, 0.03)

LOOP = '''
import asyncio, time
clock = time.monotonic_ns


def name(word):
    with open("/proc/self/comm", "w") as f:
        f.write(word)


async def talk(handler, client):
    """Two processes, each with an event loop of its own."""
    l = __import__("socket").create_server(("127.0.0.1", 0))
    port = l.getsockname()[1]
    pid = __import__("os").fork()
    if not pid:
        name("server")
        asyncio.set_event_loop(asyncio.new_event_loop())

        async def serve():
            async with await asyncio.start_server(handler, sock=l) as server:
                await server.serve_forever()
        loop = asyncio.new_event_loop()
        loop.run_until_complete(serve())
    l.close()
    name("client")
    await client(port)
    __import__("os").kill(pid, 9)


async def echo(r, w, delay=0.0):
    while line := await r.readline():
        await asyncio.sleep(delay)
        w.write(line)
        await w.drain()
'''


def loop(box, script):
    return box.run(sys.executable, box.write("program.py", LOOP + script))


ROUNDS = '''
async def client(port):
    r, w = await asyncio.open_connection("127.0.0.1", port)
    took = 0
    for _ in range(10):
        began = clock()
        w.write(b"question\\n")
        await r.readline()
        took += clock() - began
    print(took)
asyncio.run(talk(lambda r, w: echo(r, w, 0.1), client))
'''


@sick("asyncio-thinks", "waiting", cause="wait", who="^client", whom="^server", why="thinks 1\\d\\d ms a request, 10 requests", figure=ANSWERS, within=NEAR)
def asyncio_thinks(box):
    """Python's asyncio at both ends: the server thinks 100 ms a request. Neither is ever asleep in a receive call."""
    return loop(box, ROUNDS), box.own()


HELPER = '''
ours, theirs = socket.socketpair()
polls = dict()


def heard(s):
    """What comes next, awaited in epoll."""
    if s not in polls:
        polls[s] = select.epoll()
        polls[s].register(s, select.EPOLLIN)
    polls[s].poll()
    return s.recv(100)


'''

JOBS = HELPER + '''
def helper():
    ours.close()
    {greets}
    while heard(theirs):
        time.sleep(0.1)
        theirs.send(b"done")
time.sleep(0.01)  # the helper was not there when the pair was made
pid = child("helper", helper)
theirs.close()
name("asks")
{greeted}
began = clock()
for _ in range(10):
    ours.send(b"job")
    heard(ours)
print(clock() - began)
os.kill(pid, 9)
'''


def asks_helper(name, text, greets="pass", greeted="pass"):
    def body(box):
        return box.py(JOBS.format(greets=greets, greeted=greeted)), box.own()

    body.__doc__ = text
    sick(name, "waiting", cause="wait", who="^asks", whom="^helper",
         why="thinks (99\\.\\d|1\\d\\d) ms a request", figure=ANSWERS, within=NEAR)(body)


asks_helper("helper-pair",
            "Ten jobs of 100 ms for a helper on a socket pair; both ends wait in epoll.")
asks_helper("helper-greets", "The same, and the helper says first that it is ready.",
            'theirs.send(b"ready")', "heard(ours)")


@sick("helper-stdio-pairs", "waiting", cause="wait", who="^asks", whom="^helper",
      why="thinks (99\\.\\d|1\\d\\d) ms a request, 10 requests", figure=ANSWERS, within=NEAR)
def helper_stdio_pairs(box):
    """A helper has a socket pair for its input and another for its output, as Node makes them."""
    return box.py(HELPER + '''
answers, told = socket.socketpair()
def helper():
    while heard(theirs):
        time.sleep(0.1)
        told.send(b"done")
pid = child("helper", helper)
name("asks")
began = clock()
for _ in range(10):
    ours.send(b"job")
    heard(answers)
print(clock() - began)
os.kill(pid, 9)
'''), box.own()


@healthy("helper-reports", outcome="healthy")
def helper_reports(box):
    """A child reports on a socket pair every 100 ms, and its parent says at once that it heard it;
    both ends wait in epoll."""
    return box.py(HELPER + '''
def helper():
    ours.close()
    for _ in range(10):
        time.sleep(0.1)
        theirs.send(b"report")
        heard(theirs)
time.sleep(0.01)
pid = child("helper", helper)
theirs.close()
name("hears")
for _ in range(10):
    heard(ours)
    ours.send(b"yes")
os.waitpid(pid, 0)
''')


@sick("node-thinks", "waiting", cause="wait", who="^node", whom="^node",
      why="thinks (99\\.\\d|1\\d\\d) ms a request", figure=ANSWERS, within=(40 * MS, 0.05))
def node_thinks(box):
    """Node at both ends, one connection that is kept: the server's setTimeout() takes 100 ms."""
    return box.run(need("node"), lang("thinks.js")), box.own()


@sick("go-thinks", "waiting", cause="wait", who="^thinks", whom="^thinks",
      why="thinks (99\\.\\d|1\\d\\d) ms a request", figure=ANSWERS, within=(40 * MS, 0.05))
def go_thinks(box):
    """Go's net/http at both ends, in two processes: the handler sleeps 100 ms."""
    return box.run(go("thinks")), box.own()


@sick("java-nio-thinks", "waiting", cause="wait", who="^java", whom="^server",
      why="thinks (99\\.\\d|1\\d\\d(\\.\\d)?) ms a request", figure=ANSWERS, within=(40 * MS, 0.05))
def java_thinks(box):
    """Java's NIO waits in a Selector for a server that thinks 100 ms."""
    server = box.write("server.py", '''
import socket, sys, time
open("/proc/self/comm", "w").write("server")
l = socket.create_server(("127.0.0.1", int(sys.argv[1])))
c = l.accept()[0]
c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
while c.recv(100):
    time.sleep(0.1)
    c.send(b"answer")
''')
    port = harness.free_port()
    argv = " ".join(java("Thinks"))
    return box.sh(f"{sys.executable} {server} {port} & {argv} {port}; wait"), box.own()


@sick("curl-thinks", "waiting", cause="wait", who="^curl", whom="^python", why="thinks 1\\d\\d ms a request, 10 requests", figure=ANSWERS, within=(30 * MS, 0.05))
def curl_thinks(box):
    """curl waits in poll() for an HTTP server that thinks 100 ms, on one connection."""
    port = harness.free_port()
    box.serve([sys.executable, box.write("server.py", '''
import http.server, sys, time
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        time.sleep(0.1)
        self.wfile.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
    def log_message(self, *_): pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), H).serve_forever()
'''), str(port)], port)
    trace = box.attach("-a", "-P", str(port))
    box.out([need("curl"), "-sS", "-w", "%{stderr}%{time_total}\n", *sum((["-o", "/dev/null", f"http://127.0.0.1:{port}/"] for _ in range(10)), [])])
    with open(box.path("curl.log"), encoding="ascii") as f:
        return trace.end(), sum(float(line) * 1e9 for line in f)


@sick("asyncio-no-answer", "waiting", cause="wait", who="^client", whom="^server", figure="the 1.5 s until the client gives up", within=(50 * MS, 0.05))
def asyncio_no_answer(box):
    """An asyncio client asks once, and gives up after 1.5 s: the server has read, and says nothing."""
    return loop(box, '''
async def silent(r, w):
    await r.readline()
    await asyncio.sleep(9)
async def client(port):
    r, w = await asyncio.open_connection("127.0.0.1", port)
    w.write(b"question\\n")
    try:
        await asyncio.wait_for(r.readline(), 1.5)
    except asyncio.TimeoutError:
        pass
asyncio.run(talk(silent, client))
'''), 1.5e9


@sick("db-lock-wait", "waiting", cause="wait", who="^second", whom="^database", figure="what the second one waited", within=NEAR)
def lock_wait(box):
    """A database's clients: the first one holds a lock for a second, the second one asks for it; both wait in epoll."""
    return box.py('''
a, b = tcp()
c, d = tcp()
def database():
    for s in (a, c):
        s.close()
    lock, waiting = None, []
    p = select.epoll()
    for s in (b, d):
        p.register(s, select.EPOLLIN)
    while True:
        for fd, _ in p.poll():
            s = b if fd == b.fileno() else d
            word = s.recv(100)
            if not word:
                return
            if word == b"lock" and lock:
                waiting.append(s)
            elif word == b"lock":
                lock = s
                s.send(b"ok")
            else:
                s.send(b"ok")
                lock = waiting.pop() if waiting else None
                if lock:
                    lock.send(b"ok")
def ask(s, word):
    s.send(word)
    p = select.epoll()
    p.register(s, select.EPOLLIN)
    p.poll()
    s.recv(100)
held, told = os.pipe()
def first():
    ask(a, b"lock")
    os.write(told, b"x")
    time.sleep(1)
    ask(a, b"done")
def second():
    os.read(held, 1)
    began = clock()
    ask(c, b"lock")
    print(clock() - began, flush=True)
    ask(c, b"done")
pids = [child("database", database)]
pids += [child("first", first), child("second", second)]
for s in (a, b, c, d):
    s.close()
for p in pids:
    os.waitpid(p, 0)
'''), box.own()


@sick("producer-twice-as-fast", cause="sndbuf", who="^producer", whom="^consumer", figure="what the producer's calls took that blocked", within=(40 * MS, 0.05))
def producer(box):
    """A producer writes 64 KB to a pipe every 5 ms; its consumer takes 10 ms for each."""
    return box.py('''
r, w = os.pipe()
def consumer():
    os.close(w)
    n = 0
    while data := os.read(r, 1 << 16):
        n += len(data)
        if n >= 1 << 16:
            n -= 1 << 16
            time.sleep(0.01)
pid = child("consumer", consumer)
os.close(r)
name("producer")
blocked = 0
for _ in range(100):
    began = clock()
    os.write(w, b"x" * (1 << 16))
    took = clock() - began
    blocked += took if took > 1e6 else 0
    time.sleep(0.005)
os.close(w)
os.waitpid(pid, 0)
print(blocked)
'''), box.own()


def passed(box, late):
    """A supervisor accepts and a worker, which was there before, serves: which of the two lets 0.8 s pass."""
    return box.py('''
late = sys.argv[1]
l = socket.create_server(("127.0.0.1", 0))
ours, theirs = socket.socketpair()
def worker():
    ours.close()
    s = socket.socket(fileno=socket.recv_fds(theirs, 10, 1)[1][0])
    if late == "worker":
        time.sleep(0.8)
    while question := s.recv(100):
        s.send(b"answer")
def supervisor():
    theirs.close()
    c = l.accept()[0]
    if late == "supervisor":
        time.sleep(0.8)
    socket.send_fds(ours, [b"x"], [c.fileno()])
    c.close()
    ours.recv(1)
pids = [child("worker", worker), child("supervisor", supervisor)]
ours.close()
theirs.close()
name("client")
s = socket.create_connection(l.getsockname())
began = clock()
s.send(b"question")
s.recv(100)
print(clock() - began)
s.close()
for p in pids:
    os.waitpid(p, 0)
''', late), box.own()


@sick("passed-late-supervisor", "waiting", cause="late", who="^client", whom="^supervisor", figure="what the client waited for the answer", within=NEAR)
def passed_by(box):
    """A supervisor accepts, and passes the connection to its worker (SCM_RIGHTS) 0.8 s later: the worker answers at once."""
    return passed(box, "supervisor")


@sick("passed-late-worker", "waiting", cause="late", who="^client", whom="^worker", figure="what the client waited for the answer", within=NEAR)
def passed_to(box):
    """A supervisor accepts, and passes the connection to its worker at once, which takes it up 0.8 s later."""
    return passed(box, "worker")


@sick("proxy-by-splice", ("stalled", "unknown"), who="^(client|)", whom="^(server|proxy|127|)", figure=None)
def splices(box):
    """A proxy moves what comes with splice(), as haproxy does; the server behind it reads late. The proxy, which does all it can, is not told to read sooner."""
    return box.py('''
a, b = tcp(reno)
c, d = tcp(reno)
def proxy():
    for s in (a, d):
        s.close()
    r, w = os.pipe()
    while n := os.splice(b.fileno(), w, 65536):
        while n:
            n -= os.splice(r, c.fileno(), n)
def server():
    for s in (a, b, c):
        s.close()
    time.sleep(1)
    drain(d)
pids = [child("proxy", proxy), child("server", server)]
for s in (b, c, d):
    s.close()
name("client")
a.sendall(b"x" * 30000000)
a.close()
for p in pids:
    os.waitpid(p, 0)
''')


@sick("proxy-nagle", cause="nagle", who="^server", whom="^proxy", why="delays its ACKs", figure="the rounds of 20 ms and more by the client's clock", within=(10 * MS, 0.05))
def proxied(box):
    """A server without TCP_NODELAY behind a proxy that is quick: the server's second piece waits for the proxy's ACK, and the client for all of it."""
    return box.py('''
def nodelay(s):
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
a, b = tcp(nodelay)
c, d = tcp()
c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
def proxy():
    for s in (a, d):
        s.close()
    p = select.epoll()
    for s in (b, c):
        p.register(s, select.EPOLLIN)
    while True:
        for fd, _ in p.poll():
            at, to = (b, c) if fd == b.fileno() else (c, b)
            data = at.recv(65536)
            if not data:
                return
            to.send(data)
def server():
    for s in (a, b, c):
        s.close()
    while d.recv(100):
        d.send(b"h" * 50)
        d.send(b"b" * 100)
pids = [child("proxy", proxy), child("server", server)]
for s in (b, c, d):
    s.close()
name("client")
late = 0
for _ in range(20):
    began = clock()
    a.send(b"q" * 50)
    take(a, 150)
    took = clock() - began
    late += took if took >= 20e6 else 0
a.close()
for p in pids:
    os.waitpid(p, 0)
print(late)
'''), box.own()


# --- healthy ---------------------------------------------------------------------------------------------------------


@healthy("websocket-pings", outcome="healthy")
def pings(box):
    """A ping every 100 ms, and its pong at once, as WebSockets and MQTT keep a connection alive: both ends are idle."""
    return loop(box, '''
async def client(port):
    r, w = await asyncio.open_connection("127.0.0.1", port)
    for _ in range(12):
        w.write(b"ping\\n")
        await r.readline()
        await asyncio.sleep(0.1)
asyncio.run(talk(echo, client))
''')


@healthy("server-sent-events")
def events(box):
    """A client asks once, and is told something every 200 ms: it waits for nothing in particular."""
    return loop(box, '''
async def events(r, w):
    await r.readline()
    for _ in range(6):
        w.write(b"data: x\\n")
        await w.drain()
        await asyncio.sleep(0.2)
    w.close()
async def client(port):
    r, w = await asyncio.open_connection("127.0.0.1", port)
    w.write(b"GET\\n")
    while await r.readline():
        pass
asyncio.run(talk(events, client))
''')


@healthy("chunked-upload")
def upload(box):
    """A client sends a chunk every 100 ms, as it has them, and is answered at the end."""
    return loop(box, '''
async def take(r, w):
    while (await r.readline()) != b"end\\n":
        pass
    w.write(b"ok\\n")
async def client(port):
    r, w = await asyncio.open_connection("127.0.0.1", port)
    for _ in range(10):
        w.write(b"c" * 999 + b"\\n")
        await w.drain()
        await asyncio.sleep(0.1)
    w.write(b"end\\n")
    await r.readline()
asyncio.run(talk(take, client))
''')


@healthy("slow-loris")
def loris(box):
    """A client that sends a line of its request every 150 ms: the server has nothing to answer yet."""
    return loop(box, '''
async def serve(r, w):
    while (await r.readline()).strip():
        pass
    w.write(b"ok\\n")
async def client(port):
    r, w = await asyncio.open_connection("127.0.0.1", port)
    for _ in range(8):
        w.write(b"X-A: b\\n")
        await asyncio.sleep(0.15)
    w.write(b"\\n")
    await r.readline()
asyncio.run(talk(serve, client))
''')


@healthy("idle-pool", outcome="healthy")
def pool(box):
    """Four connections are made, one question each is answered at once, and then nobody needs them for a second."""
    return loop(box, '''
async def client(port):
    conns = [await asyncio.open_connection("127.0.0.1", port) for _ in range(4)]
    for r, w in conns:
        w.write(b"hello\\n")
        await r.readline()
    await asyncio.sleep(1)
asyncio.run(talk(echo, client))
''')


@healthy("log-shipper", outcome="healthy")
def shipper(box):
    """A program ships a line every 100 ms over TCP and is never answered: nobody waits."""
    return loop(box, '''
async def sink(r, w):
    while await r.readline():
        pass
async def client(port):
    r, w = await asyncio.open_connection("127.0.0.1", port)
    for _ in range(10):
        w.write(b"a line of a log\\n")
        await asyncio.sleep(0.1)
asyncio.run(talk(sink, client))
''')


@healthy("syslog-datagrams", outcome="healthy")
def syslog(box):
    """50 datagrams to a Unix socket, as syslog() and sd_notify() send them, and a daemon that reads them in epoll."""
    return box.py('''
at = "/tmp/truth-log-%d" % os.getpid()
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(at)
def daemon():
    p = select.epoll()
    p.register(s, select.EPOLLIN)
    n = 0
    while n < 50:
        p.poll()
        n += len(s.recv(1000)) > 0
pid = child("daemon", daemon)
name("program")
c = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
c.connect(at)
for _ in range(50):
    c.send(b"<13>program: a line")
    time.sleep(0.01)
os.waitpid(pid, 0)
os.unlink(at)
''')


@healthy("x11-requests")
def x11(box):
    """A client sends ten requests without a reply, then one that has one, over a Unix socket: the server answers at once."""
    return box.py('''
a, b = socket.socketpair()
def server():
    a.close()
    p = select.poll()
    p.register(b, select.POLLIN)
    while p.poll():
        data = b.recv(4096)
        if not data:
            return
        for _ in range(data.count(b"?")):
            b.send(b"r" * 32)
pid = child("server", server)
b.close()
name("client")
p = select.poll()
p.register(a, select.POLLIN)
for _ in range(100):
    for _ in range(10):
        a.send(b"draw....")
    a.send(b"ask?....")
    p.poll()
    a.recv(4096)
    time.sleep(0.005)
a.close()
os.waitpid(pid, 0)
''')


@healthy("heartbeats", outcome="healthy")
def heartbeats(box):
    """Both ends send a heartbeat every 100 ms, and read the other's when it comes: nobody waits in vain."""
    return box.py('''
a, b = tcp()
def end(s, other):
    other.close()
    p = select.poll()
    p.register(s, select.POLLIN)
    for _ in range(12):
        s.send(b"beat")
        until = time.monotonic() + 0.1
        while (left := until - time.monotonic()) > 0:
            if p.poll(left * 1000):
                s.recv(100)
pid = child("right", end, b, a)
name("left")
end(a, b)
os.waitpid(pid, 0)
''')


@healthy("pipe-tee")
def tee(box):
    """cat into tee, which writes a file and a pipe: all are quick."""
    box.random(8)
    return box.sh("cat random | tee copy | wc -c >/dev/null")


@healthy("xargs-parallel")
def xargs(box):
    """seq into xargs -P 4, whose commands take 50 ms each: seq has written all there is."""
    return box.sh("seq 24 | xargs -P 4 -n 1 sh -c 'sleep 0.05'")


@healthy("rsync-local")
def rsync_local(box):
    """rsync copies a folder on one host: two processes and a socket pair."""
    need("rsync")
    os.makedirs(box.path("from"))
    box.random(8, "from/file")
    return box.sh("rsync -a from/ to/")


@healthy("tar-nc")
def tar_nc(box):
    """tar to nc, nc to tar, over loopback: 8 MB of random bytes."""
    need("nc.openbsd")
    box.random(8)
    port = harness.free_port()
    return box.sh(f"(nc.openbsd -N -l 127.0.0.1 {port} </dev/null | tar tf - >/dev/null) & until ss -ltn | grep -q :{port}; do sleep 0.05; done;"
                  f" tar cf - random | nc.openbsd -N 127.0.0.1 {port}; wait")
