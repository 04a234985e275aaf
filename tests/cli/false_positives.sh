#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What looks like a stall, or like a reader that is late, and is neither.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 70
needs_ledger
PY=$("${PYTHON:-python3}" -c 'import sys; print(sys.executable)')
the='d = json.load(open("m.json")); l = d["ledger"]; said = [(f["cause"], f["blamed"], f["ns"] // 1000000, f["text"]) for f in l["findings"]]
ms = lambda e, side, state: (e[side]["states"][state]["ns"] or 0) / 1e6
of = lambda proto: [e for e in l["endpoints"] if e["proto"] == proto and (e["beside"]["tx"]["bytes"] or e["beside"]["rx"]["bytes"])]'

# --- sockets that are not what they look like, by themselves ---
cat >alone.py <<'PY'
import ctypes, os, select, signal, socket, struct, sys, threading, time

def cork():  # UDP holds half a datagram back
    r = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    r.bind(("127.0.0.1", 0))
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.connect(r.getsockname())
    s.send(b"x" * 100, socket.MSG_MORE)
    time.sleep(0.3)
    s.send(b"y")
    r.recv(1000)

def raw():  # has TCP's number, and is none
    for _ in range(3):
        with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP) as s:
            s.sendto(b"x" * 20, ("127.0.0.1", 0))

def vmsplice():  # out of a pipe
    r, w = os.pipe()
    if os.fork() == 0:
        os.close(r)
        for _ in range(3):
            time.sleep(0.1)
            os.write(w, b"x" * 100)
        os._exit(0)
    os.close(w)
    libc, room = ctypes.CDLL(None), ctypes.create_string_buffer(4096)
    while libc.vmsplice(r, struct.pack("QQ", ctypes.addressof(room), 4096), 1, 0) > 0:
        pass

def receiver(path, read_one):  # one that reads on and on, or one that reads a message and sleeps
    pid = os.fork()
    if pid:
        return pid
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    s.bind(path)
    while s.recv(100):
        time.sleep(9 if read_one else 0.05)

def elsewhere():  # a Unix datagram socket that connects to another receiver
    pids = [receiver("first", True), receiver("second", False)]
    while not (os.path.exists("first") and os.path.exists("second")):
        time.sleep(0.01)
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    s.connect("first")
    s.send(b"x")
    time.sleep(0.1)
    s.connect("second")
    for _ in range(30):
        s.send(b"x" * 50)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    print(pids[1])

def in_flight():  # all was taken, and poll() for reading asks for no room
    listener = socket.create_server(("127.0.0.1", 0))
    if os.fork() == 0:
        c, _ = listener.accept()
        for _ in range(10):
            time.sleep(0.03)
            got = 0
            while got < 46100:
                got += len(c.recv(65536))
            c.send(b"a")
        os._exit(0)
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 32768)
    s.connect(listener.getsockname())
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    asked = select.poll()
    asked.register(s, select.POLLIN)
    for _ in range(10):
        s.sendall(b"x" * 46000)
        asked.poll(0)
        s.sendall(b"y" * 100)
        s.recv(1)

def empty():  # datagrams without a byte
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    for _ in range(5):
        a.send(b"")
        b.recv(10)

def asleep_at(fd, thread):  # until that thread sleeps in a call whose first argument is fd
    until = time.monotonic() + 120
    while time.monotonic() < until:
        with open(f"/proc/self/task/{thread}/syscall") as f:
            if f.read().split()[1:2] == [hex(fd)]:
                return
        time.sleep(0.001)
    sys.exit("a thread did not come to its call")

def pool(kind, n):  # so many threads wait at one end, and leave one by one
    if kind == "pipe":
        r, w = os.pipe()
        end, take, give = r, lambda: os.read(r, 1), lambda: os.write(w, b"x")
    else:
        a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        end, take, give = b.fileno(), lambda: b.recv(10), lambda: a.send(b"x")
    began, waited = time.monotonic(), []
    def worker():
        take()
        waited.append(time.monotonic() - began)
    threads = [threading.Thread(target=worker) for _ in range(int(n))]
    for t in threads:
        t.start()
    for t in threads:  # a late one would find what woke another, and take it without a wait
        asleep_at(end, t.native_id)
    for t in threads:
        time.sleep(0.02)
        give()
    for t in threads:
        t.join()
    print(max(waited), sum(waited))

def peeked():  # each datagram is looked at 20 times, then taken; the sender reads when each has left (SO_TIMESTAMPING)
    r, s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    r.bind(("127.0.0.1", 0))
    s.connect(r.getsockname())
    s.setsockopt(socket.SOL_SOCKET, 37, 1 << 1 | 1 << 4 | 1 << 11)
    for _ in range(10):
        s.send(b"x" * 100)
        time.sleep(0.02)
        for _ in range(20):
            r.recv(200, socket.MSG_PEEK)
        r.recv(200)
        s.recvmsg(200, 200, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT)

def killed(kept):  # an event loop that is refused room and writes its log meanwhile; neither it nor its reader closes anything
    r, w = os.pipe()
    log_r, log_w = os.pipe()
    writer = os.fork()
    if writer == 0:
        os.close(r)
        os.set_blocking(w, False)
        print(time.monotonic(), flush=True)
        try:
            while True:
                os.write(w, b"x" * 4096)
        except BlockingIOError:
            pass
        print(time.monotonic(), flush=True)
        while True:
            time.sleep(0.05)
            os.write(log_w, b"log")
    reader = os.fork()
    if reader == 0:
        os.close(w)
        time.sleep(60)
    if kept == "gone":
        os.close(r)
        os.close(w)
    for pid, lives in (writer, 0.5), (reader, 0.3):
        time.sleep(lives)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        print(time.monotonic(), flush=True)
    os._exit(0)  # or the ends of its own stay open while Python tidies up

def spliced():  # read from a socket as systemd-socket-proxyd does: by no receive call
    a, b = socket.socketpair()
    if os.fork() == 0:
        b.close()
        for _ in range(400):
            a.sendall(b"x" * 10000)
        os._exit(0)
    a.close()
    r, w = os.pipe()
    while n := os.splice(b.fileno(), w, 65536):
        os.read(r, n)

def listener(port):  # one of several at that port, until the clients are done
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    s.bind(("127.0.0.1", int(port)))
    s.listen(64)
    s.settimeout(0.2)
    n = 0
    open(f"listens{os.getppid()}", "w").close()
    while True:
        last = os.path.exists("done")  # before it looks: then none comes after
        try:
            with s.accept()[0] as c:
                c.send(c.recv(100))
            n += 1
        except TimeoutError:
            if last:
                break
    print(n, flush=True)

def clients(port, n):
    for _ in range(int(n)):
        with socket.create_connection(("127.0.0.1", int(port))) as c:
            c.send(b"x" * 50)
            c.recv(100)
    open("done", "w").close()

globals()[sys.argv[1]](*sys.argv[2:])
PY
traced --proto udp -- "$PY" alone.py cork
says_true 'half a datagram that MSG_MORE holds back is corked' "$the; e = max(of('udp'), key=lambda e: e['beside']['tx']['bytes'])" \
	"abs(ms(e, 'tx', 'cork') - 300) < 15 and ms(e, 'tx', 'device') < 15 and said[0][0] == 'cork'" "(e['tx']['states'], said)"
if [ "$(id -u)" -eq 0 ]; then
	traced -- "$PY" alone.py raw
	says_true 'a raw socket is no connection' "$the" "not of('tcp') and not [e for e in l['endpoints'] if e['proto'] == 'tcp']" "l['endpoints']"
fi
traced --proto pipe -- "$PY" alone.py vmsplice
says_true 'vmsplice() out of a pipe reads it' "$the; e = max(of('pipe'), key=lambda e: e['beside']['tx']['bytes'])" \
	"ms(e, 'tx', 'sndbuf') < 10 and (d['trace']['backend'] != 'rawtp' or abs(ms(e, 'rx', 'wait') - 300) < 20 and e['beside']['rx']['bytes'] == e['beside']['tx']['bytes'] == 300)" \
	"(e['tx']['states'], e['rx']['states'], e['beside'])"
traced --proto unix -- "$PY" alone.py elsewhere
says_true 'the one it is connected to now is to blame' "$the; second = int(open('out').read().split()[0]); f = [f for f in l['findings'] if f['cause'] == 'sndbuf']" \
	"len(f) == 1 and f[0]['blamed_pid'] == second and f[0]['ns'] > 3e8" "(said, second, f)"
traced --proto udp -- "$PY" alone.py peeked
says_true 'a datagram that is looked at stays, and what comes back to its sender is none' \
	"$the; r = max(of('udp'), key=lambda e: e['beside']['rx']['bytes']); s = max(of('udp'), key=lambda e: e['beside']['tx']['bytes'])" \
	"r['beside']['queue']['dequeued'] == 10 and r['beside']['queue']['mean_residence_ns'] > 17e6 and s['beside']['queue']['dequeued'] == 0" \
	"(r['beside'], s['beside'])"
for kept in gone kept; do
	traced --proto pipe -- "$PY" alone.py killed $kept
	says_true "a refused writer waits until it is killed; the other end is $kept" "$the; e = max(of('pipe'), key=lambda e: e['beside']['tx']['bytes']); wrote, refused, gone, ended = (float(x) * 1e3 for x in open('out').read().split())" \
		"(d['trace']['backend'] != 'rawtp' and '$kept' == 'kept' or abs(ms(e, 'tx', 'sndbuf') - (gone - refused)) < 25) and abs(ms(e, 'rx', 'unread') - (ended - wrote)) < 25 and e['tx']['lifetime_ns'] == e['rx']['lifetime_ns'] and said[0][0] == 'sndbuf'" \
		"(e['tx']['states'], e['rx']['states'], said, gone - refused, ended - wrote)"
done
of_pool="$the; e = max(l['endpoints'], key=lambda e: e['beside']['rx']['wakeups'] or 0); longest, all = map(float, open('out').read().split())"
for n in 20 64; do
	traced --proto unix -- "$PY" alone.py pool dgram $n
	says_true "$n threads that wait at one datagram socket" "$of_pool" \
		"e['beside']['rx']['wakeups'] == $n and abs(e['beside']['rx']['blocked_ns'] / 1e9 - all) < 0.1 * all and abs(ms(e, 'rx', 'wait') - longest * 1e3) < 0.1 * longest * 1e3 and not l['unpaired']" \
		"(e['rx']['states'], e['beside']['rx'], l['unpaired'], longest, all)"
done
traced --proto pipe -- "$PY" alone.py pool pipe 32
says_true '32 threads that wait at one pipe' "$of_pool" "abs(ms(e, 'rx', 'wait') - longest * 1e3) < 0.1 * longest * 1e3 and not l['unpaired']" \
	"(e['rx']['states'], e['beside']['rx'], l['unpaired'], longest, all)"
traced --proto unix -- "$PY" alone.py pool dgram 80
says_true 'more threads than are counted' "$of_pool" "l['unpaired'] and e['beside']['rx']['wakeups'] == 80" "(e['rx']['states'], e['beside']['rx'], l['unpaired'])"
traced --proto tcp -- "$PY" alone.py in_flight
says_true 'what was taken whole was not refused' "$the; e = max(of('tcp'), key=lambda e: e['beside']['tx']['bytes'])" \
	"ms(e, 'tx', 'sndbuf') < 15" "(e['tx']['states'], said)"
traced --proto unix -- "$PY" alone.py empty
says_true 'a datagram without a byte is taken from the queue' "$the; taken = sorted(e['beside']['queue']['dequeued'] for e in l['endpoints'])" "taken == [0, 5]" taken

traced -- "$PY" alone.py spliced
says_true 'of a socket that is read by splice() nothing is known but what was sent' "$the; e = max(of('unix-stream'), key=lambda e: e['beside']['tx']['bytes'])
other = l['endpoints'][e['peer']]; rx = other['beside']['rx']" \
	"e['beside']['tx']['bytes'] == 4000000 and rx['messages'] is rx['blocked_ns'] is other['rx']['states']['wait']['ns'] is None and not [s for s in said if s[1]]" "(other['rx']['states'], rx, said)"

# Two programs listen on one port: each has its own connections, and of the other's nothing is told.
port=$(free_port)
"$PY" alone.py listener "$port" >theirs &
there=$!
jobs_to_end+=("$there")
both_listen() { [ "$(find . -name 'listens*' | wc -l)" -eq 2 ]; }
(until_true both_listen; "$PY" alone.py clients "$port" 40) &
traced --proto tcp -- "$PY" alone.py listener "$port"
wait "$there"
says_true 'connections that another listener took are not told of' "$the; ours, theirs = int(open('out').read()), int(open('theirs').read())" \
	"ours + theirs == 40 and 0 < ours < 40 and len([e for e in of('tcp')]) == ours" "(ours, theirs, len(of('tcp')))"

# --- a path between two network namespaces, whose packets a program carries: late, or once more a while later ---
cat >path.py <<'PY'
import ctypes, fcntl, heapq, os, select, signal, socket, struct, subprocess, sys, time

CLONE_NEWNET, TUNSETIFF, IFF_TUN_NO_PI = 0x40000000, 0x400454CA, 0x1001
late, again = float(sys.argv[1]), float(sys.argv[2])  # seconds each way; data once more after, 0: not

def end_of_path(address, other):
    if ctypes.CDLL(None).unshare(CLONE_NEWNET):
        sys.exit("no network namespace")
    tun = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", b"tun0", IFF_TUN_NO_PI))
    for what in ("link set lo up", f"addr add {address} peer {other} dev tun0", "link set tun0 up"):
        subprocess.run(["ip", *what.split()], check=True)
    return tun

def carry(a, b):
    queue, n, to = [], 0, {a: b, b: a}
    while True:
        wait = max(0, queue[0][0] - time.monotonic()) if queue else None
        for tun in select.select([a, b], [], [], wait)[0]:
            packet, now = os.read(tun, 70000), time.monotonic()
            n += 1
            heapq.heappush(queue, (now + late, n, to[tun], packet))
            if again and len(packet) > 60:  # IPv4 and TCP with a timestamp take 52
                heapq.heappush(queue, (now + late + again, -n, to[tun], packet))
        while queue and queue[0][0] <= time.monotonic():
            _, _, tun, packet = heapq.heappop(queue)
            os.write(tun, packet)

def serve(listener):  # reads all there is, at once
    c, _ = listener.accept()
    c.setblocking(False)
    ready = select.epoll()
    ready.register(c, select.EPOLLIN)
    got = b""
    while True:
        ready.poll()
        try:
            data = c.recv(100000)
        except BlockingIOError:
            continue
        if not data:
            return
        got += data
        if got.endswith(b"\n"):
            c.send(b"answer")
            got = b""

def ask(s, n):  # in two writes, for Nagle and the delayed ACK
    for _ in range(n):
        s.send(b"x" * 100)
        s.send(b"x" * 100 + b"\n")
        s.recv(100)
        time.sleep(0.3 if again else 0)

ours, theirs = socket.socketpair()
a = end_of_path("10.99.0.1", "10.99.0.2")
server = os.fork()
if server == 0:
    b = end_of_path("10.99.0.2", "10.99.0.1")
    listener = socket.create_server(("10.99.0.2", 5000))
    socket.send_fds(theirs, [b"x"], [b])
    serve(listener)
    os._exit(0)
b = socket.recv_fds(ours, 1, 1)[1][0]
carrier = os.fork()
if carrier == 0:
    carry(a, b)
s = socket.create_connection(("10.99.0.2", 5000))
ask(s, 4)
s.close()
os.waitpid(server, 0)
os.kill(carrier, signal.SIGKILL)
PY
if traced --proto tcp -- "$PY" path.py 0.005 0.1 && [ -s m.json ]; then
	says_true "data that comes once more is not unread" "$the; ends = of('tcp')" \
		'len(ends) == 2 and all(ms(e, "rx", "unread") < 100 for e in ends) and not l["late_reader"] and not [s for s in said if s[1] == "peer application not reading"]' \
		'(said, l["verdict"], [ms(e, "rx", "unread") for e in ends])'
	traced --proto tcp -- "$PY" path.py 0.1 0
	says_true "of a delayed ACK's way back nobody is the cause" "$the; held = [b for e in of('tcp') for b in e['blame'] if b['by'] == 'peer delayed ACK']
nagle = sum(ms(e, 'tx', 'nagle') for e in of('tcp'))" \
		'nagle > 500 and held and 25 * held[0]["count"] < held[0]["ns"] / 1e6 < 70 * held[0]["count"] and not [s for s in said if s[1] == "peer delayed ACK"]' '(nagle, held, said)'
else
	echo "skip a path that is late: no network namespaces with a TUN device here: $(head -c 200 err)"
fi

# --- splice() from a socket to an empty pipe waits for the socket ---
cat >splice.py <<'PY'
import os, socket, time
a, b = socket.socketpair()
r, w = os.pipe()
if os.fork() == 0:
    for _ in range(3):
        time.sleep(0.2)
        a.send(b"x" * 1000)
    os._exit(0)
a.close()
while os.splice(b.fileno(), w, 65536):
    os.read(r, 65536)
PY
traced -- "$PY" splice.py
says_true "a splice that waits for its input holds up nobody" "$the" 'of("pipe") and not l["findings"] and all(ms(e, "tx", "sndbuf") < 5 for e in of("pipe"))' '(said, of("pipe"))'

# --- frozen with its cgroup, out of its call: not asleep in it ---
cat >frozen.py <<'PY'
import os, sys, time
group = sys.argv[1]
r, w = os.pipe()
writer = os.fork()
if writer == 0:
    os.close(r)
    open(group + "/cgroup.procs", "w").write("0")
    os.write(w, b"x" * 70000)
    os._exit(0)
os.close(w)
time.sleep(0.2)
open(group + "/cgroup.freeze", "w").write("1")
time.sleep(0.1)
os.read(r, 65536)  # empty from now on
time.sleep(0.7)
open(group + "/cgroup.freeze", "w").write("0")
while os.read(r, 65536):
    pass
os.waitpid(writer, 0)
PY
group=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)/ipcstall-frozen-$$
if mkdir "$group" 2>/dev/null && [ -e "$group/cgroup.freeze" ]; then
	traced --proto pipe -- "$PY" frozen.py "$group"
	says_true "frozen is not asleep in a write" "$the; pipe = of('pipe')" 'len(pipe) == 1 and 50 < ms(pipe[0], "tx", "sndbuf") < 400' '(said, pipe)'
else
	echo 'skip frozen: no cgroup v2 hierarchy in which groups can be made and frozen here'
fi
rmdir "$group" 2>/dev/null

# --- a reader that nobody asked for: of what it does not read nothing is known ---
cat >dribble.py <<'PY'
import os, time
for _ in range(4):
    os.write(1, b"x" * 1000)
    time.sleep(0.1)
PY
"$IPCSTALL" run -q --proto pipe --json m.json -- "$PY" dribble.py 2>err | cat >/dev/null
says_true "reads that were not seen are unknown" "$the; pipe = [e for e in of('pipe') if e['beside']['tx']['bytes'] == 4000]" \
	'len(pipe) == 1 and pipe[0]["beside"]["rx"]["bytes"] is None and pipe[0]["beside"]["queue"] is None and not l["late_reader"] and not l["findings"]' '(said, pipe)'
"$IPCSTALL" run -q --proto pipe --json m.json -- head -c 200000 /dev/zero 2>err | "$PY" -c 'import os, time
while os.read(0, 16384):
    time.sleep(0.02)'
says_true "and who waits for them is told who holds the other end" \
	"$the; f = (l['findings'] or [{}])[0]" \
	'(f["cause"], f["surety"], f["blamed_ns"]) == ("sndbuf", "inferred from one end", 0) and
	f["blamed_comm"].startswith("python3")' f

# --- of several refused by one datagram socket each waits until there is room ---
cat >fan.py <<'PY'
import os, socket, time
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind("\0ipcstall-%d" % os.getpid())
senders = [socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(3)]
for s in senders:
    s.setblocking(False)
    s.connect(receiver.getsockname())
for s in senders[:2]:
    try:
        while True:
            s.send(b"m")
    except BlockingIOError:
        pass
time.sleep(0.1)
receiver.setblocking(False)
try:
    while True:
        receiver.recv(100)
except BlockingIOError:
    pass
senders[2].send(b"m")
time.sleep(0.6)
PY
traced -- "$PY" fan.py
says_true "who was refused waits until there is room" "$the; refused = [t for t in (ms(e, 'tx', 'sndbuf') for e in of('unix-dgram') + [e for e in l['endpoints'] if e['proto'] == 'unix-dgram']) if t]" \
	'refused and max(refused) < 300 and min(refused) > 80' refused

# --- a zombie is no process to look at ---
cat >zombie.py <<'PY'
import os, time
child = os.fork()
if child == 0:
    time.sleep(0.5)
    os._exit(0)
print(child, flush=True)
time.sleep(600)
PY
"$PY" zombie.py >child &
parent=$!
until_true test -s child
began=$(now_ms)
timeout $HUNG "$IPCSTALL" attach --exact -q -p "$(cat child)" >out 2>err
took=$(($(now_ms) - began))
check "a process that has ended is not waited for" "$took ms; $(head -c 200 err)" [ $took -lt 60000 ]
kill "$parent"
wait "$parent" 2>/dev/null

# --- a clock of one's own ---
if unshare -T --monotonic 100000 true 2>/dev/null; then
	cat >talk.py <<'PY'
import socket, time
for _ in range(3000):
    a, b = socket.socketpair()
    a.send(b"x" * 1000)
    b.recv(1000)
    time.sleep(0.02)
PY
	"$PY" talk.py &
	talker=$!
	unshare -T --monotonic 100000 "$IPCSTALL" top --exact -b --json - -i 400ms --iterations 2 -p $talker >top.json 2>err
	says_true "in a time namespace there is traffic all the same" 'rows = [json.loads(line) for line in open("top.json")]; moved = [e["tx"]["bytes"] for r in rows for e in r["endpoints"]]' \
		'len(rows) == 2 and any(moved)' '(rows[:1], moved)'
	kill $talker
	wait $talker 2>/dev/null
else
	echo 'skip a time namespace: this kernel has none, or not for this user'
fi
finish
