# SPDX-License-Identifier: GPL-2.0-only
# Calls and conversations that are cut short: who is gone waits for nothing, who slept until then slept, and what was held was held.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 1
needs_ledger

traced() { "$IPCSTALL" run -q --json case.json -- python3 cut.py "$@" >out 2>err; }

# `tx` has the states in ms of the endpoint that sent most, `e`; `said` is what the program printed
of_case="import json
l = json.load(open('case.json'))['ledger']; said = open('out').read().split()
e = max(l['endpoints'], key=lambda e: e['beside']['tx']['bytes'] or 0)
tx = {k: (v['ns'] or 0) / 1e6 for k, v in e['tx']['states'].items()}
blamed = sum(b['ns'] for b in e['blame'] if b['state'] == 'rwnd' and b['by'] == 'peer application not reading') / 1e6
near = lambda got, want: abs(got - want) < 0.05 * want + 15
pipes = [e for e in l['endpoints'] if e['proto'] == 'pipe' and e['beside']['rx']['comm'] and e['beside']['tx']['pid'] != e['beside']['rx']['pid']]
full = [e['tx']['states']['sndbuf']['ns'] / 1e6 for e in l['endpoints'] if e['beside']['tx']['bytes'] == 65536 * 24]
in_rx = lambda e, state: (e['rx']['states'][state]['ns'] or 0) / 1e6
unread = max(in_rx(e, 'unread') for e in l['endpoints'])
first = max(pipes, key=lambda e: in_rx(e, 'unread'), default=None)"

# NAME EXPRESSION SHOWN ARGUMENT...: a case of cut.py
holds() {
	local name=$1 expression="($2)" shown=$3
	shift 3
	for _ in 1 2 3; do
		traced "$@" || expression=False
		blind_alone case.json "$of_case" "$expression" || break
	done
	says_true "$name" "$of_case" "$expression" "($shown, l['blind'], open('err').read()[-300:])"
}

cat >cut.py <<'END'
import ctypes, fcntl, os, signal, socket, struct, sys, time

def settle(ms):
    time.sleep(ms / 1000)

def reader_is_away(fd, ms):
    """Whoever holds it does not read for so long, then all."""
    settle(ms)
    while os.read(fd, 1 << 16):
        pass

def one_writer(make, act):
    """A child writes and is gone after 300 ms; the other end reads a second later."""
    reads, writes = make()
    pid = os.fork()
    if not pid:
        os.close(reads)
        act(writes)
        os._exit(0)
    os.close(writes)
    return pid, reads

def gives_up(fd):
    os.set_blocking(fd, False)
    try:
        while True:
            os.write(fd, b"x" * 100000)
    except BlockingIOError:
        settle(300)

def is_killed(fd):
    os.write(fd, b"x" * (1 << 24))

def case_gives_up(kind):
    pid, fd = one_writer(KINDS[kind], gives_up)
    os.waitpid(pid, 0)
    reader_is_away(fd, 1000)

def case_killed(kind):
    pid, fd = one_writer(KINDS[kind], is_killed)
    settle(300)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    reader_is_away(fd, 1000)

def unix_pair():
    a, b = socket.socketpair()
    return a.detach(), b.detach()

def tcp_pair(small=1 << 16):
    ls = socket.socket()
    ls.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, small)
    ls.bind(("127.0.0.1", 0))
    ls.listen(1)
    c = socket.socket()
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
    c.connect(ls.getsockname())
    return ls.accept()[0], c

KINDS = {"pipe": os.pipe, "unix": unix_pair}

def case_sleep_cut(how):
    """A write asleep for half a second, ended by a signal or a timeout."""
    reader, c = tcp_pair()
    if how == "timeout":
        c.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 0, 500000))
    else:
        signal.signal(signal.SIGALRM, lambda *_: None)
        signal.setitimer(signal.ITIMER_REAL, 0.5)
    began = time.monotonic()
    try:
        os.write(c.fileno(), b"x" * (1 << 24))
    except OSError:
        pass
    print((time.monotonic() - began) * 1000)

def case_thrown_away(how):
    """The window stays shut for 1.2 s, until what waits for it is thrown away."""
    reader, c = tcp_pair()
    c.setblocking(False)
    try:
        while True:
            c.send(b"x" * 20000)
    except BlockingIOError:
        began = time.monotonic()
    settle(1200)
    if how == "abort":
        c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        c.close()
    else:
        reader.close()
    print((time.monotonic() - began) * 1000)
    settle(50)

def case_fin_stays():
    """Idle for a second at both ends; then the FIN of one finds no way out."""
    if ctypes.CDLL(None).unshare(0x40000000) or os.system("ip link set lo up"):
        sys.exit(77)
    l = socket.socket()
    l.bind(("127.0.0.1", 0))
    l.listen()
    c = socket.create_connection(l.getsockname())
    s, _ = l.accept()
    c.send(b"hello")
    s.recv(10)
    settle(1000)
    os.system("ip link set lo down")
    s.close()
    settle(400)

def case_route_gone():
    """A small message is sent while this host has no way to its address, and goes out by a timer once it has."""
    if ctypes.CDLL(None).unshare(0x40000000) or os.system("ip link set lo up && ip address add 192.0.2.1/32 dev lo"):
        sys.exit(77)
    l = socket.create_server(("192.0.2.1", 0))
    c = socket.create_connection(l.getsockname())
    s, _ = l.accept()
    c.send(b"hello")
    s.recv(10)
    settle(300)
    os.system("ip address del 192.0.2.1/32 dev lo")
    began = time.monotonic()
    c.send(b"x" * 1000)
    settle(700)
    os.system("ip address add 192.0.2.1/32 dev lo")
    s.recv(1000)
    print((time.monotonic() - began) * 1000)

def case_no_neighbour():
    """To a host of the own link that is off: what asks for a connection waits for its hardware address."""
    if ctypes.CDLL(None).unshare(0x40000000) or os.system("ip link add here type veth peer name there && ip link set here up && "
                                                          "ip link set there up && ip address add 192.0.2.1/24 dev here"):
        sys.exit(77)
    c = socket.socket()
    c.settimeout(1.5)
    began = time.monotonic()
    try:
        c.connect(("192.0.2.9", 80))
    except OSError:
        pass
    print((time.monotonic() - began) * 1000)

def case_listener():
    """Each connection is accepted at once."""
    path = "sock"
    if os.path.exists(path):
        os.unlink(path)
    ls = socket.socket(socket.AF_UNIX)
    ls.bind(path)
    ls.listen(5)
    if not os.fork():
        for _ in range(4):
            s = socket.socket(socket.AF_UNIX)
            s.connect(path)
            s.send(b"hi")
            s.recv(2)
            s.close()
            settle(100)
        os._exit(0)
    for _ in range(4):
        c, _ = ls.accept()
        c.recv(10)
        c.send(b"ok")
    os.wait()

def case_renamed(how):
    r, w = os.pipe()
    if os.fork():
        os.close(w)
        for _ in range(10):
            settle(20)
            os.read(r, 65536)
        reader_is_away(r, 0)
        return
    os.write(w, b"x")
    os.dup2(w, 1)
    os.execvp("head", ["head", "-c", "800000", "/dev/zero"])

def case_splice(out):
    """All that a pipe has is spliced to where a reader naps 20 times."""
    in_r, in_w = os.pipe()
    away, to = os.pipe() if out == "pipe" else unix_pair()
    if not os.fork():
        os.close(in_w)
        os.close(away)
        while os.splice(in_r, to, 65536):
            pass
        os._exit(0)
    os.close(in_r)
    os.close(to)
    if not os.fork():
        os.close(away)
        os.write(in_w, b"x" * (65536 * 24))
        os._exit(0)
    os.close(in_w)
    left = 65536 * 24
    while left:
        settle(25)
        want = min(65536, left)
        while want:
            n = len(os.read(away, want))
            want -= n
            left -= n

globals()["case_" + sys.argv[1]](*sys.argv[2:])
END

for kind in pipe unix; do
	holds "$kind: who gave up after 300 ms and is gone waits no longer" 'near(tx["sndbuf"], 300)' tx gives_up $kind
	holds "$kind: who was killed in a write after 300 ms" 'near(tx["sndbuf"], 300) and near(e["beside"]["tx"]["blocked_ns"] / 1e6, 300)' '(tx, e["beside"]["tx"])' killed $kind
done

for how in signal timeout; do
	holds "TCP: a write that a $how ends has slept until then" 'near(e["beside"]["tx"]["blocked_ns"] / 1e6, float(said[0])) and float(said[0]) > 400 and not l["unpaired"]' \
		'(e["beside"]["tx"], said, l["unpaired"])' sleep_cut $how
done

for how in abort reset; do
	holds "TCP: what is thrown away ($how) was held until then" 'near(tx["rwnd"], float(said[0])) and tx["idle"] < 100 and tx["sndbuf"] < 100 and blamed > 0.9 * tx["rwnd"]' '(tx, blamed, said)' thrown_away $how
done

holds 'a listening Unix socket: connections that wait to be accepted are not left unread' \
	'l["late_reader"] is None and not l["findings"] and unread < 30' '(l["verdict"], unread)' listener

traced fin_stays
if [ $? -eq 77 ]; then
	echo 'skip a FIN that stays: no network namespace can be made here'
else
	holds 'TCP: what holds a FIN held nothing before it' 'min((f["tx"]["states"]["idle"]["ns"] or 0) / 1e6 for f in l["endpoints"] if f["proto"] == "tcp") > 950' \
		'[f["tx"]["states"] for f in l["endpoints"] if f["proto"] == "tcp"]' fin_stays
fi

traced no_neighbour
if [ $? -eq 77 ]; then
	echo 'skip a neighbour that does not answer: no network namespace can be made here'
else
	holds 'TCP: what waits for a neighbour has not left this host' 'l["undelivered"] and near(l["undelivered"]["max_ns"] / 1e6, float(said[0])) and "had not left this host" in l["verdict"]' \
		'(l["undelivered"], said, l["verdict"])' no_neighbour
fi

traced route_gone
if [ $? -eq 77 ]; then
	echo 'skip a route that is gone: no network namespace can be made here'
else
	holds 'TCP: what this host would not send waits for its timer, and no cork holds it' \
		'float(said[0]) > 650 and near(tx["recovery"], float(said[0])) and not tx["cork"]' '(tx, said)' route_gone
fi

holds 'the name after execve()' 'e["beside"]["tx"]["comm"] == "head" and not e["beside"]["tx"]["others"]' 'e["beside"]["tx"]' renamed exec

if python3 -c 'import os; os.splice' 2>/dev/null; then
	for out in pipe unix; do
		holds "splice() into a $out: the pipe it reads has data, what it writes to has no room" \
			'len(full) >= 2 and min(full) > 400 and in_rx(first, "wait") < 0.2 * in_rx(first, "unread")' \
			'(full, first and first["rx"]["states"])' splice $out
	done
else
	echo 'skip splice(): this Python has no os.splice()'
fi
finish
