#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A listener's backlog, queue, overflows and waits against the kernel's own counters and ss, and against the applications' clocks.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 70
needs_ledger
PY=$("${PYTHON:-python3}" -c 'import sys; print(sys.executable)')
unshare -n true 2>/dev/null || { echo "skip: no network namespace can be made here"; exit 77; }

cat >crowd.py <<'PY'
import json, os, socket, subprocess, time
clock = time.monotonic_ns
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)

def kernel(*names):
    with open("/proc/net/netstat") as f:
        rows = [line.split() for line in f if line.startswith("TcpExt:")]
    return [int(dict(zip(rows[0], rows[1]))[n]) for n in names]

def queue_by_ss(port):
    out = subprocess.run(["ss", "-ltnH", f"sport = :{port}"], capture_output=True, text=True, check=True).stdout.split()
    return int(out[1]), int(out[2])

said = {}
l = socket.socket()
l.bind(("127.0.0.1", 4000))
l.listen(3)
overflows, drops = kernel("ListenOverflows", "ListenDrops")
# four fit, each of them waits to be accepted; two more are thrown away, and ask again after a second
quick = []
for _ in range(4):
    s = socket.create_connection(("127.0.0.1", 4000))
    quick.append((clock(), s))
late = []
for _ in range(2):
    s = socket.socket()
    s.setblocking(False)
    late.append((clock(), s, s.connect_ex(("127.0.0.1", 4000))))
while kernel("ListenOverflows")[0] < overflows + 2:
    time.sleep(0.001)
said["queue"], said["backlog"] = queue_by_ss(4000)
time.sleep(0.3)
waits = []
for began, _ in quick:
    l.accept()
    waits.append(clock() - began)
    time.sleep(0.02)
for began, s, _ in late:
    l.accept()
    while s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) or not s.getpeername():
        pass
took = []
for began, s, _ in late:
    info = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    took.append(s.getsockname()[1])
said["overflows"], said["drops"] = (a - b for a, b in zip(kernel("ListenOverflows", "ListenDrops"), (overflows, drops)))
said["waits"], said["late_ports"] = waits, took

# connect() by its caller's clock, while the queue of another listener is full
m = socket.socket()
m.bind(("127.0.0.1", 4001))
m.listen(0)
first = socket.create_connection(("127.0.0.1", 4001))
began = clock()
if not os.fork():
    time.sleep(0.2)
    m.accept()
    time.sleep(2)
    os._exit(0)
second = socket.create_connection(("127.0.0.1", 4001))
said["connect"] = clock() - began
said["connect_port"] = second.getsockname()[1]
json.dump(said, open("said.json", "w"))
PY
traced -- unshare -n "$PY" crowd.py
read_it='said = json.load(open("said.json")); d = json.load(open("m.json"))["ledger"]
l = [x for x in d["listeners"] if x["local"] == "127.0.0.1:4000"][0]
of_port = lambda p: [e for e in d["endpoints"] if e["proto"] == "tcp" and e["local"] == f"127.0.0.1:{p}"][0]
near = lambda a, b: a is not None and abs(a - b) < 1e6 + 0.01 * b'
says_true "the backlog and the longest queue are what ss says" "$read_it" 'l["backlog"] == said["backlog"] == 3 and l["peak"] == said["queue"] == 4' '(l, said)'
says_true "what was thrown away is what the kernel counts (ListenOverflows)" "$read_it" 'l["dropped"] == said["overflows"] == said["drops"] >= 2' '(l, said)'
says_true "connections that came and were accepted" "$read_it" 'l["established"] == l["accepted"] == 6' '(l, said)'
says_true "how long they waited to be accepted, by the applications' clocks" "$read_it" 'near(l["accept_wait_max_ns"], max(said["waits"])) and abs(l["accept_wait_ns"] - sum(said["waits"])) < 4e6 + 0.01 * sum(said["waits"])' '(l, said)'
says_true "each connection's wait by itself" "$read_it" \
	'all(any(near(e["beside"]["tcp"]["accept_wait_ns"], w) for e in d["endpoints"] if e["proto"] == "tcp" and e["local"] == "127.0.0.1:4000") for w in said["waits"])' '(l, said)'
says_true "connect(), by its caller's clock" "$read_it" 'near(of_port(said["connect_port"])["beside"]["tcp"]["connect_ns"], said["connect"])' '(said, of_port(said["connect_port"])["beside"])'
says_true "a listener is no connection" "$read_it" 'not [e for e in d["endpoints"] if e["proto"] == "tcp" and e["local"].endswith(":0")]' '[(e["local"], e["remote"]) for e in d["endpoints"]]'
finish
