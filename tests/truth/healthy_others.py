# SPDX-License-Identifier: GPL-2.0-only
"""Brokers, databases, the shell's pipes, bulk streams, proxies: nothing of it is wrong."""
import os
import pwd
import socket
import subprocess
import sys

from healthy_http import certificate, nginx
from truth import Skip, built, go, harness, healthy, java, lang, need, ports, which
from harness import until  # noqa: E402 truth says where it is

CPU = r"(?i)CPU"
CPU_LIMIT = ("healthy", "waiting")  # the reader's CPU is the limit; where other programs have it, the reader waits for a CPU


def redis(box, *options, port=None):
    port = port or harness.free_port()
    box.serve([need("redis-server"), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", box.dir, *options], port, log="server.log")
    return port


@healthy("redis-benchmark")
def redis_benchmark(box):
    """redis-benchmark: 8 connections, one command at a time on each."""
    program, port = need("redis-benchmark"), redis(box)
    trace = box.attach("-a", "-P", str(port))
    box.do([program, "-p", str(port), "-q", "-c", "8", "-n", "20000", "-t", "set,get"])
    return trace.end()


@healthy("redis-pipelined")
def redis_pipelined(box):
    """redis-benchmark -P 32: batches of 32 commands."""
    program, port = need("redis-benchmark"), redis(box)
    trace = box.attach("-a", "-P", str(port))
    box.do([program, "-p", str(port), "-q", "-c", "4", "-P", "32", "-n", "200000", "-t", "set"])
    return trace.end()


@healthy("redis-unix")
def redis_unix(box):
    """redis over a Unix socket: 10000 commands on two connections."""
    path = box.path("redis.sock")
    redis(box, "--unixsocket", path)
    program = need("redis-benchmark")
    trace = box.attach("-a", "--proto", "unix")
    box.do([program, "-s", path, "-q", "-c", "2", "-n", "10000", "-t", "get"])
    return trace.end()


@healthy("redis-subscriber", outcome="waiting", cause="wait")
def redis_subscriber(box):
    """redis-cli subscribes and is told something five times in a second: it waits for redis, which has nothing to say."""
    program, port = need("redis-cli"), redis(box)
    trace = box.attach("-a", "-P", str(port))
    box.start([program, "-p", str(port), "subscribe", "news"])
    until("a subscriber", lambda: b"news\n1\n" in subprocess.run([program, "-p", str(port), "pubsub", "numsub", "news"], capture_output=True, check=True).stdout)
    for _ in range(5):
        box.do(["sleep", "0.2"])
        box.do([program, "-p", str(port), "publish", "news", "something"])
    return trace.end()


@healthy("memcached-tcp")
def memcached(box):
    """memcached, asked 2000 times by a Python client on one connection."""
    port = harness.free_port()
    box.serve([need("memcached"), "-u", "root", "-l", "127.0.0.1", "-p", str(port), "-U", "0", "-t", "1"], port)
    trace = box.attach("-a", "-P", str(port))
    with socket.create_connection(("127.0.0.1", port)) as s:
        for _ in range(2000):
            s.sendall(b"get key\r\n")
            s.recv(100)
    return trace.end()


class Postgres:
    """A PostgreSQL of the case's own, as the user nobody."""

    def __init__(self, box):
        found = sorted(f"/usr/lib/postgresql/{v}/bin" for v in os.listdir("/usr/lib/postgresql")) if os.path.isdir("/usr/lib/postgresql") else []
        found = [d for d in found if os.path.exists(d + "/initdb") and os.path.exists(d + "/pgbench")]
        if not found:
            raise Skip("postgresql is not installed")
        self.box, self.bin, self.port = box, found[-1], harness.free_port()
        self.user = pwd.getpwnam("nobody")
        os.makedirs(box.path("pg"))
        os.chown(box.path("pg"), self.user.pw_uid, self.user.pw_gid)
        how = {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": [], "cwd": box.path("pg"), "env": {**os.environ, "LC_ALL": "C"}}
        if box.start([self.bin + "/initdb", "-D", box.path("pg/data"), "-A", "trust", "-U", "nobody", "--no-sync"], **how).wait():
            raise harness.Wrong("initdb: " + harness.tail(box.path("initdb.log")))
        self.server = box.serve([self.bin + "/postgres", "-D", box.path("pg/data"), "-p", str(self.port), "-k", box.path("pg"), "-c", "fsync=off", "-h", "127.0.0.1"],
                  self.port, **how)
        until("PostgreSQL", lambda: subprocess.run([self.bin + "/pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)], check=False).returncode == 0)

    def psql(self, *argv, host=None):
        return [self.bin + "/psql", "-X", "-q", "-U", "nobody", "-h", host or "127.0.0.1", "-p", str(self.port), "-d", "postgres", *argv]

    def bench(self, *argv):
        return [self.bin + "/pgbench", "-U", "nobody", "-h", "127.0.0.1", "-p", str(self.port), *argv, "postgres"]


@healthy("postgres-pgbench")
def postgres_pgbench(box):
    """pgbench -S: selects on four connections over TCP."""
    pg = Postgres(box)
    box.do(pg.bench("-i", "-q"))
    trace = box.attach("-a", "-P", str(pg.port))
    box.do(pg.bench("-S", "-c", "4", "-t", "1000"))
    return trace.end()


@healthy("postgres-unix-copy")
def postgres_unix(box):
    """COPY of 200,000 rows to psql over the Unix socket, which reads as fast as it can."""
    pg = Postgres(box)
    trace = box.attach("-a", "--proto", "unix")
    box.do(pg.psql("-c", "copy (select generate_series(1, 200000)) to stdout", host=box.path("pg")))
    return trace.end()


@healthy("mariadb-unix")
def mariadb(box):
    """MariaDB answers 2000 selects of its client over a Unix socket."""
    program = need("mariadbd", "mariadb", "mariadb-install-db")
    box.do([program[2], "--no-defaults", f"--datadir={box.path('db')}", "--user=root", "--skip-test-db", "--auth-root-authentication-method=normal"])
    sock = box.path("m.sock")
    box.start([program[0], "--no-defaults", f"--datadir={box.path('db')}", f"--socket={sock}", "--user=root", "--skip-networking", f"--pid-file={box.path('pid')}"])
    until("MariaDB", lambda: os.path.exists(sock))
    box.write("selects.sql", "select 1;\n" * 2000)
    trace = box.attach("-a", "--proto", "unix")
    box.do(["bash", "-c", f"{program[1]} --no-defaults -S {sock} -u root -N <{box.path('selects.sql')} >/dev/null"])
    return trace.end()


@healthy("mosquitto")
def mosquitto(box):
    """mosquitto with set_tcp_nodelay passes 500 lines from a publisher to a subscriber, all with TCP_NODELAY."""
    program, port = need("mosquitto", "mosquitto_pub", "mosquitto_sub"), harness.free_port()
    box.serve([program[0], "-c", box.write("m.conf", f"listener {port} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\nuser root\n")], port)
    trace = box.attach("-a", "-P", str(port))
    sub = box.start([program[2], "-p", str(port), "-t", "t", "-C", "500", "--nodelay"], log="sub.log")
    until("the subscriber", lambda: connections(port) >= 1)
    box.do(["sleep", "0.3"])
    box.do(["bash", "-c", f"seq 500 | {program[1]} -p {port} -t t -l -q 1 --nodelay"])
    sub.wait(harness.HUNG)
    return trace.end()


def connections(port):
    with open("/proc/net/tcp", encoding="ascii") as f:
        return sum(line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "01" for line in f)


@healthy("nats-server")
def nats(box):
    """nats-server passes 300 messages from one Python client to another."""
    program, port = need("nats-server"), harness.free_port()
    box.serve([program, "-a", "127.0.0.1", "-p", str(port)], port)
    trace = box.attach("-a", "-P", str(port))
    with socket.create_connection(("127.0.0.1", port)) as sub, socket.create_connection(("127.0.0.1", port)) as pub:
        sub.sendall(b'CONNECT {"verbose":false}\r\nSUB t 1\r\nPING\r\n')
        read_to(sub, b"PONG\r\n")
        pub.sendall(b'CONNECT {"verbose":false}\r\n')
        for i in range(300):
            pub.sendall(b"PUB t 8\r\n%08d\r\n" % i)
            read_to(sub, b"%08d\r\n" % i)
    return trace.end()


def read_to(s, end):
    got = b""
    while not got.endswith(end):
        more = s.recv(4096)
        if not more:
            raise harness.Wrong(f"no {end} but {got}")
        got += more


@healthy("beanstalkd")
def beanstalkd(box):
    """beanstalkd takes and gives 500 jobs on one connection."""
    program, port = need("beanstalkd"), harness.free_port()
    box.serve([program, "-l", "127.0.0.1", "-p", str(port)], port)
    trace = box.attach("-a", "-P", str(port))
    with socket.create_connection(("127.0.0.1", port)) as s:
        for _ in range(500):
            s.sendall(b"put 0 0 60 3\r\njob\r\n")
            read_to(s, b"\r\n")
            s.sendall(b"reserve\r\n")
            read_to(s, b"job\r\n")
    return trace.end()


@healthy("dnsmasq-dig")
def dnsmasq(box):
    """dnsmasq answers 200 queries of dig over UDP, from its own table."""
    program, port = need("dnsmasq", "dig"), harness.free_port()
    box.serve([program[0], "-d", "-p", str(port), "--listen-address=127.0.0.1", "--bind-interfaces", "--no-resolv", "--no-hosts", "--address=/a.test/10.0.0.1", "-u", "root"], port)
    box.write("queries", "a.test\n" * 200)
    trace = box.attach("-a", "-P", str(port))
    box.do([program[1], "@127.0.0.1", "-p", str(port), "-f", box.path("queries"), "+short"])
    return trace.end()


@healthy("unbound-dig-tcp")
def unbound(box):
    """unbound answers 50 queries of dig over TCP, a connection each, from local data."""
    program, port = need("unbound", "dig"), harness.free_port()
    conf = f"""server:
 interface: 127.0.0.1
 port: {port}
 do-daemonize: no
 username: ""
 chroot: ""
 directory: "{box.dir}"
 pidfile: "{box.dir}/pid"
 use-syslog: no
 local-zone: "test." static
 local-data: "a.test. A 10.0.0.1"
remote-control:
 control-enable: no
"""
    box.serve([program[0], "-d", "-c", box.write("unbound.conf", conf)], port)
    box.write("queries", "a.test\n" * 50)
    trace = box.attach("-a", "-P", str(port))
    box.do([program[1], "@127.0.0.1", "-p", str(port), "-f", box.path("queries"), "+short", "+tcp"])
    return trace.end()


@healthy("openssl-tls")
def openssl(box):
    """openssl s_server -www and s_client, one after the other: 10 TLS sessions."""
    program, port = need("openssl"), harness.free_port()
    certificate(box)
    box.serve([program, "s_server", "-accept", f"127.0.0.1:{port}", "-cert", box.path("cert.pem"), "-key", box.path("key.pem"), "-www", "-quiet"], port)
    trace = box.attach("-a", "-P", str(port))
    box.do(["bash", "-c", f"for i in 1 2 3 4 5 6 7 8 9 10; do printf 'GET / HTTP/1.0\\r\\n\\r\\n' | openssl s_client -quiet -connect 127.0.0.1:{port} >/dev/null 2>&1; done; true"])
    return trace.end()


@healthy("stunnel-nginx")
def stunnel(box):
    """stunnel before nginx: 60 requests of curl over TLS on one connection."""
    (inner, port), program = ports(), need("stunnel4")
    nginx(box, port=inner)
    certificate(box)
    conf = f"foreground = yes\npid =\n[s]\naccept = 127.0.0.1:{port}\nconnect = 127.0.0.1:{inner}\ncert = {box.path('cert.pem')}\nkey = {box.path('key.pem')}\n"
    box.serve([program, box.write("stunnel.conf", conf)], port)
    trace = box.attach("-a", "-P", f"{inner}-{port}")
    box.do([need("curl"), "-sSk", *sum((["-o", "/dev/null", f"https://127.0.0.1:{port}/page"] for _ in range(60)), [])])
    return trace.end()


@healthy("rsync-nodelay")
def rsync_nodelay(box):
    """rsync fetches 32 MB from its daemon, both told to set TCP_NODELAY."""
    return rsync(box, "socket options = TCP_NODELAY\n", "--sockopts=TCP_NODELAY")


def rsync(box, setting="", *options):
    program, port = need("rsync"), harness.free_port()
    os.makedirs(box.path("from"))
    box.random(32, "from/file")
    conf = f"use chroot = no\n{setting}uid = root\ngid = root\n[m]\npath = {box.path('from')}\n"
    box.serve([program, "--daemon", "--no-detach", f"--config={box.write('rsyncd.conf', conf)}", f"--port={port}", "--address=127.0.0.1"], port)
    trace = box.attach("-a", "-P", str(port))
    box.do([program, "-a", *options, f"rsync://127.0.0.1:{port}/m/", box.path("to")])
    return trace.end()


@healthy("ftp-curl")
def vsftpd(box):
    """curl fetches a file of 16 MB from vsftpd."""
    program, (port, data) = need("vsftpd"), ports()
    os.makedirs(box.path("ftp"))
    box.random(16, "ftp/file")
    os.makedirs("/var/run/vsftpd/empty", exist_ok=True)
    conf = f"listen=YES\nlisten_address=127.0.0.1\nlisten_port={port}\nanonymous_enable=YES\nanon_root={box.path('ftp')}\nftp_username=nobody\nrun_as_launching_user=YES\n" \
           f"background=NO\nsecure_chroot_dir=/var/run/vsftpd/empty\npasv_min_port={data}\npasv_max_port={data}\n"
    box.serve([program, box.write("vsftpd.conf", conf)], port)
    trace = box.attach("-a", "-P", f"{port}-{data}")
    box.do([need("curl"), "-sS", "-o", "/dev/null", f"ftp://127.0.0.1:{port}/file"])
    return trace.end()


# --- pipes of the shell ---------------------------------------------------------------------------------------------


@healthy("tar-gzip", outcome=CPU_LIMIT, cause="sndbuf", who="tar|dd|cat", whom="gzip", why=CPU)
def tar_gzip(box):
    """tar of random bytes into gzip -9: the pipe is full since gzip computes, as fast as a CPU can. A bulk stream that the reader's CPU limits."""
    box.random(12)
    return box.sh("tar cf - random | gzip -9 >/dev/null")


@healthy("dd-xz", outcome=CPU_LIMIT, cause="sndbuf", who="dd", whom="xz", why=CPU)
def dd_xz(box):
    """dd into xz -1, one thread: the reader's CPU is the limit."""
    box.random(4)
    return box.sh("dd if=random bs=64k 2>/dev/null | xz -1 -T1 >/dev/null")


@healthy("cat-sha", outcome=CPU_LIMIT)
def cat_sha(box):
    """cat into sha512sum: the reader's CPU is the limit, or cat keeps up with it."""
    box.random(64)
    return box.sh("cat random | sha512sum >/dev/null")


@healthy("dd-wc")
def dd_wc(box):
    """dd of zeros into wc -c, which only counts: both ends are busy."""
    return box.sh("dd if=/dev/zero bs=64k count=20000 2>/dev/null | wc -c >/dev/null")


@healthy("seq-sort-uniq")
def seq_sort(box):
    """seq | sort -R | uniq | wc: sort reads all before it writes."""
    return box.sh("seq 200000 | sort -n | uniq | wc -l >/dev/null")


@healthy("find-xargs")
def find_xargs(box):
    """find | xargs ls: xargs reads names as they come."""
    return box.sh("find /usr/share/doc -type f -print0 2>/dev/null | head -z -n 5000 | xargs -0 ls >/dev/null")


@healthy("gcc-pipe")
def gcc_pipe(box):
    """gcc -pipe: cc1 writes assembler to as, while it compiles."""
    need("gcc")
    box.write("a.c", "#include <stdio.h>\n" + "".join(f"int f{i}(int x) {{ return printf(\"%d\", x * {i}); }}\n" for i in range(2000)))
    return box.sh("gcc -pipe -O1 -c a.c -o a.o")


@healthy("git-clone")
def git_clone(box):
    """git clone over a pipe: upload-pack, index-pack."""
    need("git")
    box.sh("true")
    subprocess.run(["bash", "-c", f"cd {box.dir} && git init -q a && cd a && git config user.email a@b && git config user.name a && for i in $(seq 200); do seq $i 400 >f$i; done && git add . "
                    "&& git commit -qm a"], check=True)
    return box.sh("git clone -q --no-local a b 2>/dev/null")


@healthy("sqlite-pipe")
def sqlite(box):
    """10,000 statements piped to sqlite3, which works on them: its CPU is the limit, or nothing waits."""
    need("sqlite3")
    box.write("in.sql", "create table t(x);begin;" + "".join(f"insert into t values({i});\n" for i in range(10000)) + "commit;select count(*) from t;")
    return box.sh("cat in.sql | sqlite3 db >/dev/null")


@healthy("pv-slow-writer", outcome="waiting", cause="wait", who="cat", whom="pv")
def pv_slow(box):
    """pv -L writes 2 MB at 1 MB/s and cat reads it: cat waits for pv, and nothing holds pv's bytes back."""
    need("pv")
    box.random(2)
    return box.sh("pv -q -L 1m random | cat >/dev/null")


@healthy("python-pool")
def python_pool(box):
    """Python's multiprocessing.Pool: 2000 tasks over pipes."""
    return box.py("import multiprocessing\ndef f(x):\n    return x * x\nwith multiprocessing.Pool(2) as p:\n    print(sum(p.map(f, range(2000), chunksize=1)))\n")


# --- bulk streams ------------------------------------------------------------------------------------------------------


@healthy("socat-bulk")
def socat(box):
    """64 MB from socat to socat over loopback, in pieces of 64 KB."""
    program, port = need("socat"), harness.free_port()
    data = box.random(64)
    reader = box.start([program, "-u", "-b65536", f"TCP-LISTEN:{port},bind=127.0.0.1,reuseaddr", "/dev/null"])
    until("socat", lambda: harness.listens(port))
    trace = box.attach("-a", "-P", str(port))
    box.do([program, "-u", "-b65536", data, f"TCP:127.0.0.1:{port}"])
    reader.wait(harness.HUNG)
    return trace.end()


@healthy("nc-bulk")
def netcat(box):
    """32 MB from nc to nc over loopback: 16 KB a read."""
    program, port = which("nc.openbsd") or need("nc"), harness.free_port()
    data = box.random(32)
    reader = box.start(["bash", "-c", f"{program} -l -N 127.0.0.1 {port} >/dev/null"])
    until("nc", lambda: harness.listens(port))
    trace = box.attach("-a", "-P", str(port))
    box.do(["bash", "-c", f"{program} -N 127.0.0.1 {port} <{data}"])
    reader.wait(harness.HUNG)
    return trace.end()


@healthy("iperf3-bulk", outcome=CPU_LIMIT)
def iperf3(box):
    """iperf3 over loopback for a second: CPUs are its limit."""
    program, port = need("iperf3"), harness.free_port()
    box.start([program, "-s", "-1", "-B", "127.0.0.1", "-p", str(port)], log="server.log")
    until("iperf3", lambda: harness.listens(port))
    trace = box.attach("-a", "-P", str(port))
    box.do([program, "-c", "127.0.0.1", "-p", str(port), "-t", "1"])
    return trace.end()


@healthy("mptcp", outcome=("unknown", "healthy", "waiting"))
def mptcp(box):
    """nginx and curl over MPTCP (mptcpize): what this backend does not see may not be called stalled, nor anybody blamed."""
    program = need("mptcpize")
    from healthy_http import page, url, NGINX
    nginx_at, port = need("nginx"), harness.free_port()
    page(box)
    conf = box.write("nginx.conf", NGINX.format(dir=box.dir, port=port, tls="", more=""))
    box.serve([program, "run", nginx_at, "-p", box.dir, "-e", box.path("error.log"), "-c", conf], port)
    trace = box.attach("-a", "-P", str(port))
    box.do([program, "run", need("curl"), "-sS", *sum((["-o", "/dev/null", url(port)] for _ in range(200)), [])])
    return trace.end()


# --- a small protocol in each language: one write a request ----------------------------------------------------------------


def rounds(box, argv, pieces, times):
    """A client that asks so many times, in one write or two, of a server that answers a byte; what it says of its late rounds."""
    port = harness.free_port()
    server = box.write("server.py", SERVER)
    box.start([sys.executable, server, str(port), str(times)], log="server.log")
    until("the server", lambda: harness.listens(port))
    trace = box.attach("-a", "-P", str(port))
    box.out([*argv, port, times, pieces])
    return trace.end(), box.own()


SERVER = """
import socket, sys
l = socket.create_server(("127.0.0.1", int(sys.argv[1])))
c = l.accept()[0]
open("/proc/self/comm", "w").write("server")
for _ in range(int(sys.argv[2])):
    n = 204
    while n:
        got = len(c.recv(n))
        if not got:
            sys.exit()
        n -= got
    c.sendall(b"k")
c.recv(1)
"""

RUNTIMES = {
    "python": lambda: [sys.executable, lang("rounds.py")],
    "go": lambda: [go("rounds")],
    "node": lambda: [need("node"), lang("rounds.js")],
    "java": lambda: java("Rounds"),
    "ruby": lambda: [need("ruby"), lang("rounds.rb")],
    "perl": lambda: [need("perl"), lang("rounds.pl")],
    "php": lambda: [need("php"), lang("rounds.php")],
    "lua": lambda: [which("lua5.4") or need("lua"), lang("rounds.lua")],
    "tcl": lambda: [need("tclsh"), lang("rounds.tcl")],
    "rust": lambda: [built("rounds-rust", need("rustc"), "-O", "-o", "{out}", lang("rounds.rs"))],
    "c": lambda: [built("rounds-c", need("gcc"), "-O2", "-o", "{out}", lang("rounds.c"))],
}


def one_write(language):
    def body(box):
        return rounds(box, RUNTIMES[language](), 1, 300)[0]

    body.__doc__ = f"{language}: 300 requests in one write each, answered at once: nothing is held."
    healthy(f"one-write-{language}")(body)


for runtime in RUNTIMES:
    one_write(runtime)


@healthy("udp-rests")
def udp_rests(box):
    """
    A UDP server answers its only client at once, by sendto(), and sleeps in recvfrom() while the
    client rests 50 ms each time.
    """
    return box.py('''
l = socket.socket(type=socket.SOCK_DGRAM)
l.bind(("127.0.0.1", 0))
def server():
    for _ in range(20):
        question, sender = l.recvfrom(100)
        l.sendto(question, sender)
child("server", server)
s = socket.socket(type=socket.SOCK_DGRAM)
for _ in range(20):
    time.sleep(0.05)
    s.sendto(b"question", l.getsockname())
    s.recvfrom(100)
''')


@healthy("udp-disconnected")
def udp_disconnected(box):
    """A UDP socket sends 100 datagrams to the one it is connected to, is disconnected (AF_UNSPEC), and sends 50 to another. All arrive."""
    return box.py('''
def receiver(s):
    s.settimeout(0.7)
    try:
        while s.recv(100):
            pass
    except TimeoutError:
        pass

there = []
for _ in range(2):
    s = socket.socket(type=socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    there.append(s.getsockname())
    child("receiver", receiver, s)
    s.close()
time.sleep(0.1)
s = socket.socket(type=socket.SOCK_DGRAM)
s.connect(there[0])
for _ in range(100):
    s.send(b"a:1|c")
    time.sleep(0.001)
if ctypes.CDLL(None).connect(s.fileno(), bytes(16), 16):
    sys.exit("not disconnected")
for _ in range(50):
    s.sendto(b"a:1|c", there[1])
    time.sleep(0.001)
s.close()
for _ in there:
    os.wait()
''')


@healthy("helper-asks-beside", outcome="healthy")
def helper_asks_beside(box):
    """A helper asks another program once, by a socket pair, and then answers the questions that come at its standard input, one each half second."""
    return box.py('''
def store(s):
    s.send(s.recv(100))

def helper():
    ours, theirs = socket.socketpair()
    child("store", store, theirs)
    ours.send(b"settings?")
    ours.recv(100)
    while os.read(questions[0], 100):
        os.write(answers[1], b"a")

name("asker")
questions, answers = os.pipe(), os.pipe()
pid = child("helper", helper)
for _ in range(4):
    time.sleep(0.5)
    os.write(questions[1], b"q")
    os.read(answers[0], 100)
os.kill(pid, signal.SIGTERM)
''')
