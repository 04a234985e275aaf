# SPDX-License-Identifier: GPL-2.0-only
"""Paths, in a network namespace of the case's own: requests for a connection that nobody answers, losses, a full link, a queue that is full."""
import sys

from truth import MS, PRELUDE, Space, harness, need, sick
from harness import until  # noqa: E402 truth says where it is

SYN = "SYN|backlog"


def inside(box, space, script):
    return box.run(*space.argv(sys.executable, box.write("program.py", PRELUDE + script)))


def filtered(box, *rule):
    space = Space(box)
    space.do(need("iptables"), *rule)
    return space


@sick("syn-dropped-curl", cause="recovery", who="^curl", whom=r"127\.0\.0\.1:99", why=SYN, figure="curl's 2.5 s", within=(60 * MS, 0.02))
def syn_curl(box):
    """A firewall drops curl's SYN; it gives up after 2.5 s."""
    space = filtered(box, "-A", "INPUT", "-p", "tcp", "--dport", "99", "-j", "DROP")
    return box.run(*space.argv(need("curl"), "-s", "--connect-timeout", "2.5", "http://127.0.0.1:99/")), 2.5e9


@sick("syn-dropped-bash", cause="recovery", who="^bash", whom=r"127\.0\.0\.1:99", why=SYN, figure="the 2 s until it is ended", within=(60 * MS, 0.02))
def syn_bash(box):
    """A firewall drops the SYN of bash's /dev/tcp, which timeout ends after 2 s."""
    space = filtered(box, "-A", "INPUT", "-p", "tcp", "--dport", "99", "-j", "DROP")
    return box.run(*space.argv("timeout", "2", "bash", "-c", ": </dev/tcp/127.0.0.1/99")), 2e9


@sick("syn-lost-once", cause="recovery", who="^client", whom=r"server|127\.0\.0\.1", why=SYN, figure="what connect() took", within=(5 * MS, 0.02))
def syn_once(box):
    """The first SYN is lost, and connect() takes a second; then ten requests are answered at once."""
    space = filtered(box, "-A", "INPUT", "-p", "tcp", "--dport", "99", "--syn", "-m", "statistic", "--mode", "nth", "--every", "2", "--packet", "0", "-j", "DROP")
    return inside(box, space, '''
l = socket.create_server(("127.0.0.1", 99))
def server():
    c = l.accept()[0]
    for _ in range(10):
        c.send(c.recv(100))
child("server", server)
name("client")
began = clock()
s = socket.create_connection(("127.0.0.1", 99))
took = clock() - began
for _ in range(10):
    s.send(b"x")
    s.recv(100)
print(took)
'''), box.own()


@sick("backlog-full", cause="recovery", who="^client", whom="server|127", why=SYN, figure="what connect() took", within=(5 * MS, 0.02))
def backlog(box):
    """A listener with a backlog of 0 whose server does not accept: the second connection takes a second."""
    return box.py('''
l = socket.socket()
l.bind(("127.0.0.1", 0))
l.listen(0)
def server():
    time.sleep(0.5)
    a = l.accept()[0]
    b = l.accept()[0]
    b.send(b.recv(100))
child("server", server)
name("client")
first = socket.create_connection(l.getsockname())
began = clock()
second = socket.create_connection(l.getsockname())
print(clock() - began)
second.send(b"x")
second.recv(100)
'''), box.own()


@sick("udp-lost-between", cause="loss", who="^receiver", why="120 of 600 datagrams did not arrive")
def udp_lost(box):
    """Each fifth of 600 datagrams is lost on its way to a socket that reads them all."""
    space = filtered(box, "-A", "INPUT", "-p", "udp", "--dport", "99", "-m", "statistic",
                     "--mode", "nth", "--every", "5", "--packet", "0", "-j", "DROP")
    return inside(box, space, '''
r = socket.socket(type=socket.SOCK_DGRAM)
r.bind(("127.0.0.1", 99))
def sender():
    r.close()
    s = socket.socket(type=socket.SOCK_DGRAM)
    s.connect(("127.0.0.1", 99))
    for _ in range(600):
        s.send(b"a:1|c")
        time.sleep(0.001)
child("sender", sender)
name("receiver")
r.settimeout(0.5)
try:
    while True:
        r.recv(100)
except TimeoutError:
    pass
''')


LOSSY = ("-A", "INPUT", "-p", "tcp", "--dport", "99", "-m", "statistic", "--mode", "nth", "--every", "40", "--packet", "30", "-j", "DROP")


@sick("loss-pingpong", cause="recovery", who="^client", whom="server|path|127", why="lost", figure="the rounds of 20 ms and more by the client's clock", within=(10 * MS, 0.05))
def loss(box):
    """Each fortieth packet to the server is lost, of a client that asks 200 times and waits for each answer."""
    return inside(box, filtered(box, *LOSSY), '''
l = socket.create_server(("127.0.0.1", 99))
reno(l)
def server():
    c = l.accept()[0]
    while d := c.recv(100):
        c.send(d)
child("server", server)
name("client")
s = socket.socket()
reno(s)
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
s.connect(("127.0.0.1", 99))
late = 0
for _ in range(200):
    began = clock()
    s.send(b"x")
    s.recv(100)
    took = clock() - began
    late += took if took >= 20000000 else 0
print(late)
'''), box.own()


@sick("blackhole", cause="recovery", who="^(client|server)", whom=r"server|127", why="lost|path", figure="the 2 s until the client gives up", within=(100 * MS, 0.08))
def blackhole(box):
    """In the middle of a connection a firewall begins to drop what goes to the server: its requests, and its ACKs of the last answer, so that both ends send again."""
    space = Space(box)
    return inside(box, space, f'''
l = socket.create_server(("127.0.0.1", 99))
def server():
    c = l.accept()[0]
    while d := c.recv(100):
        c.send(d)
pid = child("server", server)
name("client")
s = socket.create_connection(("127.0.0.1", 99))
for _ in range(50):
    s.send(b"x")
    s.recv(100)
subprocess.run(["{need("iptables")}", "-A", "INPUT", "-p", "tcp", "--dport", "99", "-j", "DROP"], check=True)
s.settimeout(2)
s.send(b"x")
try:
    s.recv(100)
except TimeoutError:
    os.kill(pid, 9)
'''), 2e9


@sick("cable-pulled", cause="undelivered", who="^client", whom=r"^(10\.77\.0\.2|python3)",
      why="had not left this host", figure="the 2 s until the client ends", within=(100 * MS, 0.05))
def pulled(box):
    """In the middle of a stream the other end of the cable goes down: what the client sends stays in its queue."""
    space, far = Space(box), Space(box, "far")
    space.do("ip", "link", "add", "here", "type", "veth", "peer", "name", "there", "netns", far.name)
    for at, end, address in (space, "here", "10.77.0.1/24"), (far, "there", "10.77.0.2/24"):
        at.do("ip", "addr", "add", address, "dev", end)
        at.do("ip", "link", "set", end, "up")
    server = box.start(far.argv(sys.executable, box.write("server.py", PRELUDE + '''
c = socket.create_server(("10.77.0.2", 99)).accept()[0]
while c.recv(100000):
    pass
''')), log="server.log")
    until("the server", lambda: ":99 " in far.do("ss", "-ltn"))
    ledger = inside(box, space, f'''
name("client")
s = socket.create_connection(("10.77.0.2", 99))
for _ in range(100):
    s.sendall(bytes(8192))
    time.sleep(0.005)
subprocess.run(["ip", "-n", "{far.name}", "link", "set", "there", "down"], check=True)
s.settimeout(2)
try:
    while True:
        s.sendall(bytes(8192))
except TimeoutError:
    pass
''')
    server.kill()
    return ledger, 2e9


def slow_link(box, cc):
    """iperf3 for 3 s over loopback as of a link: packets of 1500 bytes, 20 Mbit/s, a queue of 60 KB."""
    program = need("iperf3")
    space = Space(box)
    space.do("ip", "link", "set", "lo", "mtu", "1500")
    space.do(need("ethtool"), "-K", "lo", "tso", "off", "gso", "off")
    space.do("tc", "qdisc", "add", "dev", "lo", "root", "tbf", "rate", "20mbit", "burst", "6kb", "limit", "60kb")
    server = box.start(space.argv(program, "-s", "-1", "-p", "5201"), log="server.log")
    until("iperf3", lambda: ":5201 " in space.do("ss", "-ltn"))
    ledger = box.run(*space.argv(program, "-c", "127.0.0.1", "-t", "3", "-C", cc))
    server.wait(harness.HUNG)
    return ledger


@sick("link-full-cubic", "healthy", cause=("cwnd", "pacing", "device"), who="^iperf3", why=r"(1[6-9]|20)(\.\d+)? ?Mbit")
def link_cubic(box):
    """A bottleneck of 20 Mbit/s, cubic: the stream is as fast as the link, and its rate is named."""
    return slow_link(box, "cubic")


@sick("link-full-bbr", "healthy", cause=("cwnd", "pacing", "device"), who="^iperf3", why=r"(1[6-9]|20)(\.\d+)? ?Mbit")
def link_bbr(box):
    """The same with BBR, which paces."""
    return slow_link(box, "bbr")
