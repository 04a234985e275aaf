# SPDX-License-Identifier: GPL-2.0-only
"""Readers that do not read, or too slowly, or too little at a time."""
import os
import socket
import sys

from healthy_http import nginx, url
from healthy_others import Postgres, redis
from truth import MS, harness, need, pause, sick
from harness import until  # noqa: E402 truth says where it is

READER = "not reading|reads often|reads every|reads .* times|stopped"
PACE = "the size over the reader's rate"


@sick("curl-limit-rate", cause=("rwnd", "sndbuf"), who="^nginx", whom="^curl", why=READER, figure="what curl took, less what fits in its buffer", within=(1500 * MS, 0))
def curl_slow(box):
    """curl --limit-rate reads 128 MB at 32 MB/s from nginx; up to 32 MB of that fit in the receive buffer (net.ipv4.tcp_rmem)."""
    program, port = need("curl"), nginx(box, 128 << 20)
    trace = box.attach("-a", "-P", str(port))
    box.do([program, "-sS", "--limit-rate", "32M", "-o", "/dev/null", url(port)])
    return trace.end(), 3.5e9


@sick("wget-limit-rate", cause=("rwnd", "sndbuf"), who="^nginx", whom="^wget", why=READER, figure="what wget took, less what fits in its buffer", within=(1500 * MS, 0))
def wget_slow(box):
    """wget --limit-rate reads 96 MB at 32 MB/s from nginx."""
    program, port = need("wget"), nginx(box, 96 << 20)
    trace = box.attach("-a", "-P", str(port))
    box.do([program, "-q", "--limit-rate=32m", "-O", "/dev/null", url(port)])
    return trace.end(), 2.5e9


SENDER = '''
import fcntl, socket, struct, sys, termios, time
l = socket.socket()
l.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
l.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
l.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
l.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
l.bind(("127.0.0.1", int(sys.argv[1])))
l.listen()
c = l.accept()[0]
open("/proc/self/comm", "w").write("sender")
began = time.monotonic_ns()
c.sendall(b"x" * int(sys.argv[2]))
while struct.unpack("i", fcntl.ioctl(c, termios.TIOCOUTQ, b"0000"))[0]:
    time.sleep(0.001)
print(time.monotonic_ns() - began, file=open(sys.argv[3], "w"))
c.close()
'''


def slow_reader(name, program, argv):
    """A reader in this language takes 64 KB at most, every 20 ms, of 6 MB."""

    def body(box):
        command = argv(program and need(program))
        port = harness.free_port()
        sender = box.start([sys.executable, box.write("sender.py", SENDER), str(port), "6000000", box.path("took")])
        until("the sender", lambda: harness.listens(port))
        trace = box.attach("-a", "-P", str(port))
        box.do([a.replace("{port}", str(port)) for a in command])
        sender.wait(harness.HUNG)
        return trace.end(), box.own("took")

    body.__doc__ = f"{name} reads 64 KB every 20 ms of 6 MB that are sent to it: its window is closed, or the sender's buffer full."
    sick(f"slow-reader-{name}", cause=("rwnd", "sndbuf"), who="^sender", whom=f"^{name}", why=READER, figure="what the sender took until all was acknowledged", within=(200 * MS, 0.25))(body)


slow_reader("perl", "perl", lambda p: [p, "-MIO::Socket::INET", "-e", '$s = IO::Socket::INET->new(PeerAddr => "127.0.0.1:{port}") or die;'
                                       " while (sysread($s, $b, 65536)) { select undef, undef, undef, 0.02 }"])
slow_reader("ruby", "ruby", lambda p: [p, "-rsocket", "-e", "s = TCPSocket.new('127.0.0.1', {port}); begin; loop { s.readpartial(65536); sleep 0.02 }; rescue EOFError; end"])
slow_reader("php", "php", lambda p: [p, "-r", '$s = stream_socket_client("tcp://127.0.0.1:{port}"); stream_set_read_buffer($s, 0); while (fread($s, 65536)) usleep(20000);'])
slow_reader("node", "node", lambda p: [p, "-e", "const s = require('net').connect({port}, '127.0.0.1'); s.on('data', () => { s.pause(); setTimeout(() => s.resume(), 20); });"])
slow_reader("socat", "socat", lambda p: [p, "-u", "-b65536", "TCP:127.0.0.1:{port}", "EXEC:'sh -c \"while head -c 65536 | grep -q . ; do sleep 0.02; done\"'"])


@sick("rcvbuf-small", cause=("rwnd", "sndbuf"), who="^writer", whom="^reader", figure="what the calls of the writer took that blocked", within=(100 * MS, 0.25))
def rcvbuf(box):
    """A receive buffer of 4 KB, and a reader that comes every 10 ms."""
    return box.py('''
s, c = tcp(lambda s: (s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048), s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096), reno(s)))
def reader():
    s.close()
    while c.recv(2048):
        time.sleep(0.01)
child("reader", reader)
c.close()
name("writer")
late = 0
for _ in range(300):
    began = clock()
    s.sendall(b"x" * 1024)
    took = clock() - began
    late += took if took >= 1000000 else 0
print(late)
'''), box.own()


@sick("never-reads", cause=("rwnd", "sndbuf"), who="^writer", whom="^server", why=READER, figure="1.2 s, in which the server sleeps", within=(60 * MS, 0.05))
def never(box):
    """A server that accepts and then sleeps 1.2 s: its window is full, and the writer hangs."""
    return box.py('''
s, c = tcp(lambda s: (s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32768), s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 32768), reno(s)))
def server():
    s.close()
    time.sleep(1.2)
    drain(c)
child("server", server)
c.close()
name("writer")
s.sendall(b"x" * 400000)
s.close()
'''), 1.2e9


@sick("socat-byte-reads", cause=("rwnd", "sndbuf", "cwnd"), who="^sender", whom="^socat", why="reads .* times", figure="what the sender took", within=(200 * MS, 0.25))
def byte_reads(box):
    """socat -b1 reads a byte at a time: 300 KB, 300,000 reads."""
    program, port = need("socat"), harness.free_port()
    sender = box.start([sys.executable, box.write("sender.py", SENDER), str(port), "300000", box.path("took")])
    until("the sender", lambda: harness.listens(port))
    trace = box.attach("-a", "-P", str(port))
    box.do([program, "-u", "-b1", f"TCP:127.0.0.1:{port},rcvbuf=8192", "/dev/null"])
    sender.wait(harness.HUNG)
    return trace.end(), box.own("took")


# --- pipes -------------------------------------------------------------------------------------------------------------


@sick("pipe-pv", cause="sndbuf", who="^cat", whom="^pv", why=READER, figure=PACE, within=(150 * MS, 0.15))
def pipe_pv(box):
    """cat into pv -L 2m: 4 MB, 2 s."""
    need("pv")
    box.random(4)
    return box.sh("cat random | pv -q -L 2m >/dev/null"), 2e9


@sick("pipe-nobody-reads", cause="sndbuf", who="^dd", whom="^(bash|sleep|several)", figure="the second of sleep", within=(60 * MS, 0.05))
def pipe_sleep(box):
    """dd | (sleep 1; cat): for a second the shell has the pipe and does not read it; cat, which reads all at once, is not to blame."""
    return box.sh("dd if=/dev/zero bs=64k count=100 2>/dev/null | (sleep 1; cat >/dev/null)"), 1e9


@sick("pipe-tee-slow", cause="sndbuf", who="^(cat|tee)", whom="^pv", why=READER, figure=PACE, within=(200 * MS, 0.15))
def pipe_tee(box):
    """cat into tee, which also writes to a pv of 2 MB/s: cat waits for tee, and that for pv."""
    need("pv")
    box.random(4)
    return box.sh("cat random | tee >(pv -q -L 2m >/dev/null) >/dev/null; wait"), 2e9


def stops(box, name, seconds, argv):
    """The ledger of argv, whose program of this name is stopped for so long soon after it began."""
    script = f'''import os, signal, subprocess, sys, time
def pid_of(word):
    for p in os.listdir("/proc"):
        try:
            if p.isdigit() and open("/proc/" + p + "/comm").read().strip() == word and os.getpgid(int(p)) == os.getpgid(0):
                return int(p)
        except OSError:
            pass
c = subprocess.Popen(["bash", "-c", sys.argv[1]])
while not pid_of("{name}"):
    time.sleep(0.01)
p = pid_of("{name}")
time.sleep(0.3)
os.kill(p, signal.SIGSTOP)
time.sleep({seconds})
os.kill(p, signal.SIGCONT)
c.wait()
'''
    return box.run(sys.executable, box.write("stops.py", script), f"cd {box.dir}; {argv}")


@sick("pipe-reader-stopped", cause="sndbuf", who="^(cat|head)", whom="^wc", why="stopped", figure="the 1.5 s of the stop", within=(100 * MS, 0.05))
def pipe_stopped(box):
    """wc is stopped with SIGSTOP for 1.5 s while head writes to it through cat."""
    return stops(box, "wc", 1.5, "(for i in 1 2 3 4 5 6 7 8; do head -c 300000 /dev/zero; sleep 0.1; done) | cat | wc -c >/dev/null"), 1.5e9


@sick("fifo-slow", cause="sndbuf", who="^cat", whom="^pv", why=READER, figure=PACE, within=(150 * MS, 0.15))
def fifo(box):
    """cat into a FIFO that pv -L 2m reads: 3 MB, 1.5 s."""
    need("pv")
    box.random(3)
    return box.sh("mkfifo f; (pv -q -L 2m f >/dev/null) & cat random >f; wait"), 1.5e9


@sick("deadlock-popen", cause="sndbuf", who="^(parent|child)", whom="^(parent|child)", figure="the second until it is ended", within=(100 * MS, 0.05))
def deadlock(box):
    """A parent writes all it has to a child that echoes it, and reads nothing before that: both pipes are full, until a timer ends it after 1.2 s."""
    return box.py('''
(r, w), (r2, w2) = os.pipe(), os.pipe()
def echo():
    os.close(w), os.close(r2)
    while d := os.read(r, 65536):
        os.write(w2, d)
pid = child("child", echo)
os.close(r), os.close(w2)
name("parent")
signal.signal(signal.SIGALRM, lambda *_: (os.kill(pid, 9), os._exit(0)))
signal.setitimer(signal.ITIMER_REAL, 1.2)
os.write(w, b"x" * 1000000)
'''), 1.2e9


# --- Unix sockets --------------------------------------------------------------------------------------------------------


def unix(box, kind, send):
    return box.py(f'''
a, b = socket.socketpair(socket.AF_UNIX, socket.{kind})
def reader():
    a.close()
    for _ in range(20):
        time.sleep(0.05)
        b.recv({send})
    while b.recv({send}):
        pass
child("reader", reader)
b.close()
name("writer")
late = 0
for _ in range(600):
    began = clock()
    a.send(b"x" * {send})
    took = clock() - began
    late += took if took >= 1000000 else 0
print(late)
a.send(b"")
'''), box.own()


@sick("unix-stream-slow", cause="sndbuf", who="^writer", whom="^reader", why=READER, figure="what the calls took that blocked", within=(60 * MS, 0.1))
def unix_stream(box):
    """A Unix stream whose reader sleeps 50 ms after each of 20 reads."""
    return box.py('''
a, b = socket.socketpair()
def reader():
    a.close()
    for _ in range(20):
        time.sleep(0.05)
        b.recv(16384)
    drain(b)
child("reader", reader)
b.close()
name("writer")
late = 0
for _ in range(100):
    began = clock()
    a.sendall(b"x" * 16384)
    took = clock() - began
    late += took if took >= 1000000 else 0
print(late)
a.close()
'''), box.own()


@sick("unix-dgram-slow", cause="sndbuf", who="^writer", whom="^reader", why=READER, figure="what the calls took that blocked", within=(60 * MS, 0.1))
def unix_dgram(box):
    """A Unix datagram socket, as of a log daemon, whose reader sleeps 50 ms after each of 20 reads."""
    return unix(box, "SOCK_DGRAM", 100)


@sick("postgres-slow-client", cause="sndbuf", who="^(postgres|psql)", whom="^pv", figure=PACE, within=(400 * MS, 0.2))
def postgres_slow(box):
    """psql copies 4 MB over the Unix socket into pv -L 2m: the backend waits for psql, and that for pv."""
    need("pv")
    pg = Postgres(box)
    command = " ".join(pg.psql("-c", "'copy (select repeat(md5(i::text), 32) from generate_series(1, 4096) i) to stdout'", host=box.path("pg")))
    client = box.start(["bash", "-c", f"until [ -e {box.path('go')} ]; do sleep 0.02; done; {command} | pv -q -L 2m >/dev/null"])
    trace = box.attach("-p", str(pg.server.pid), "-p", str(client.pid))
    box.write("go", "")
    client.wait(harness.HUNG)
    return trace.end(), 2e9


@sick("redis-slow-client", cause=("rwnd", "sndbuf"), who="^redis", whom="^python", why=READER, figure="the 1.5 s in which the client sleeps", within=(150 * MS, 0.05))
def redis_slow(box):
    """A client asks redis for 40 MB and sleeps 1.5 s before it reads."""
    port = redis(box)
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        s.connect(("127.0.0.1", port))
        s.sendall(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1000000\r\n" + b"x" * 1000000 + b"\r\n")
        s.recv(100)
        trace = box.attach("-a", "-P", str(port))
        s.sendall(b"GET k\r\n" * 40)
        pause(1.5)
        left = 40 * 1000012
        while left > 0:
            left -= len(s.recv(1 << 20))
    return trace.end(), 1.5e9


@sick("ssh-slow-client", cause=("rwnd", "sndbuf"), whom="^pv", figure=PACE, within=(700 * MS, 0.2))
def ssh_slow(box):
    """ssh fetches 8 MB into pv -L 3m: the far cat waits for pv, through sshd and ssh."""
    import ssh as openssh

    need("pv", "sshd", "ssh")
    openssh.keys(box)
    os.makedirs("/run/sshd", exist_ok=True)
    port = harness.free_port()
    data = box.random(8)
    sshd = f"{need('sshd')} -D -e -f {box.write('sshd_config', openssh.CONF.format(dir=box.dir, port=port))} 2>{box.path('sshd.log')}"
    command = f"{sshd} & until grep -q listening {box.path('sshd.log')}; do sleep 0.02; done; ssh -F none -i {box.path('user')} -p {port} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR root@127.0.0.1 cat {data} | pv -q -L 3m >/dev/null; kill %1; wait"
    return box.sh(command), 8 / 3 * 1e9
