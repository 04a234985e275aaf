# SPDX-License-Identifier: GPL-2.0-only
"""Senders that hold back what they have: Nagle's algorithm, a cork, pacing, a buffer that is too small."""
import sys

from healthy_http import url
from healthy_others import RUNTIMES, rounds, rsync
from healthy_http import page
from truth import MS, NOBODY, go, harness, java, lang, need, sick
from harness import until  # noqa: E402 truth says where it is

DELACK = "delays its ACKs|delay their ACKs"
NAMES = {"python": "^python", "go": "^rounds-go", "rust": "^rounds-rust", "c": "^rounds-c", "tcl": "^tclsh"}
WORKS = (10 * MS, 0.1)  # what the server does itself is part of a round
LATE = "the rounds of 20 ms and more by the program's clock"


def two_writes(language):
    def body(box):
        return rounds(box, RUNTIMES[language](), 2, 25)

    body.__doc__ = f"{language}: head and body in two writes without TCP_NODELAY, 25 requests; the server answers when it has both, and its ACK of the head waits for the timer."
    sick(f"nagle-{language}", cause="nagle", who=NAMES.get(language, f"^{language}"), whom="^server", why=DELACK, figure=LATE, within=(10 * MS, 0.05))(body)


for runtime in RUNTIMES:
    two_writes(runtime)


def keepalive(box, argv, **how):
    """curl asks 20 times on one connection, and says how long each took."""
    port = harness.free_port()
    box.serve([a.replace("{port}", str(port)) for a in argv], port, log="server.log", **how)
    box.do([need("curl"), "-sS", "-o", "/dev/null", url(port)])  # what a server loads for its first answer is none of its stalls
    trace = box.attach("-a", "-P", str(port))
    box.out([need("curl"), "-sS", "-w", "%{stderr}%{time_total}\n", *sum((["-o", "/dev/null", url(port)] for _ in range(20)), [])])
    with open(box.path("curl.log"), encoding="ascii") as f:
        took = [float(line) * 1e9 for line in f]
    return trace.end(), sum(t for t in took if t >= 20 * MS)


@sick("http-server-python", cause="nagle", who="^python", whom="^curl", why=DELACK, figure=LATE, within=WORKS)
def http_python(box):
    """python3 -m http.server, HTTP/1.1: headers and body in two writes, curl asks 20 times on one connection."""
    return keepalive(box, [sys.executable, "-m", "http.server", "--protocol", "HTTP/1.1", "--bind", "127.0.0.1", "-d", page(box), "{port}"])


@sick("http-server-java", cause="nagle", who="^java", whom="^curl", why=DELACK, figure=LATE, within=WORKS)
def http_java(box):
    """Java's HttpServer: sendResponseHeaders() writes, then the body; no TCP_NODELAY (sun.net.httpserver.nodelay is false)."""
    return keepalive(box, [*java("Http"), "{port}"])


@sick("http-server-perl", cause="nagle", who="^perl", whom="^curl", why=DELACK, figure=LATE, within=WORKS)
def http_perl(box):
    """Perl's HTTP::Daemon prints headers and body apart, curl asks 20 times on one connection."""
    return keepalive(box, [need("perl"), lang("http.pl"), "{port}"])


@sick("http-server-ruby", cause="nagle", who="^ruby", whom="^curl", why=DELACK, figure=LATE, within=WORKS)
def http_ruby(box):
    """Ruby's WEBrick writes headers and body apart, curl asks 20 times on one connection."""
    return keepalive(box, [need("ruby"), lang("http.rb"), "{port}"])


@sick("rsync-daemon", cause="nagle", who="^rsync", whom="^rsync", why=DELACK)
def rsync_daemon(box):
    """rsync fetches 32 MB from its daemon: two of its small messages wait for a delayed ACK, which is 80 ms of 200."""
    return rsync(box)


@sick("sndbuf-python", cause="sndbuf", who="^writer", whom="^reader", why=DELACK, figure="what the calls of 20 ms and more took")
def sndbuf(box):
    """A send buffer of 4.6 KB, messages of 64 KB: the buffer is full before a second segment goes out, and the ACK waits for the timer."""
    return box.py('''
s, c = tcp(lambda s: (s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2304), reno(s)))
def reader():
    s.close()
    for _ in range(6):
        take(c, 65536)
        c.sendall(b"k")
child("reader", reader)
c.close()
name("writer")
late = 0
for _ in range(6):
    left = 65536
    while left:
        began = clock()
        left -= s.send(b"x" * left)
        took = clock() - began
        late += took if took >= 20000000 else 0
    s.recv(1)
print(late)
'''), box.own()


@sick("cork-left-on", cause="cork", who="^writer", whom=NOBODY, figure="what the answers took", within=(10 * MS, 0.05))
def cork(box):
    """TCP_CORK stays on: each of 6 messages waits 200 ms."""
    return box.py('''
s, c = tcp()
def reader():
    s.close()
    for _ in range(6):
        take(c, 100)
        c.sendall(b"k")
child("reader", reader)
c.close()
name("writer")
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
began = clock()
for _ in range(6):
    s.sendall(b"x" * 100)
    s.recv(1)
print(clock() - began)
'''), box.own()


@sick("msg-more", cause="cork", who="^writer", whom=NOBODY, figure="what the answers took", within=(10 * MS, 0.05))
def msg_more(box):
    """The last piece of each message is sent with MSG_MORE by mistake: 200 ms each."""
    return box.py('''
s, c = tcp()
def reader():
    s.close()
    for _ in range(5):
        take(c, 120)
        c.sendall(b"k")
child("reader", reader)
c.close()
name("writer")
began = clock()
for _ in range(5):
    s.send(b"x" * 100, socket.MSG_MORE)
    s.send(b"x" * 20, socket.MSG_MORE)
    s.recv(1)
print(clock() - began)
'''), box.own()


@sick("pacing-python", cause="pacing", who="^writer", whom=NOBODY, figure="the time to send it at that rate", within=(60 * MS, 0.1))
def pacing(box):
    """SO_MAX_PACING_RATE of 2 MB/s, 3 MB to send: 1.5 s."""
    return box.py('''
s, c = tcp(lambda s: reno(s))
def reader():
    s.close()
    take(c, 3000000)
    c.sendall(b"k")
child("reader", reader)
c.close()
name("writer")
s.setsockopt(socket.SOL_SOCKET, 47, 2000000)
began = clock()
s.sendall(b"x" * 3000000)
s.recv(1)
print(clock() - began)
'''), box.own()


@sick("pacing-iperf3", cause="pacing", who="^iperf3", whom=NOBODY, figure="iperf3's 2 s", within=(60 * MS, 0.12))
def pacing_iperf3(box):
    """iperf3 --fq-rate 50M sets SO_MAX_PACING_RATE: 2 s at 50 Mbit/s over loopback."""
    program, port = need("iperf3"), harness.free_port()
    box.start([program, "-s", "-1", "-B", "127.0.0.1", "-p", str(port)], log="server.log")
    until("iperf3", lambda: harness.listens(port))
    trace = box.attach("-a", "-P", str(port))
    box.do([program, "-c", "127.0.0.1", "-p", str(port), "-t", "2", "--fq-rate", "50M", "-C", "cubic"])
    return trace.end(), 2e9


@sick("go-small-writes", cause="nagle", who="^rounds-go", whom="^server", why=DELACK, figure=LATE, within=(10 * MS, 0.05))
def go_more(box):
    """Go with SetNoDelay(false), 40 requests in two writes."""
    return rounds(box, [go("rounds")], 2, 40)
