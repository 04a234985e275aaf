#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Ways that no hook sees: what depends on them is unknown at the endpoint that they concern, and is no figure. And who listens by MPTCP.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 70
needs_ledger
PY=$("${PYTHON:-python3}" -c 'import sys; print(sys.executable)')
ns='ns = lambda e, side, state: e[side]["states"][state]["ns"]'

# ---- MPTCP: its listener's children are TCP's where the other end speaks no MPTCP ----
cat >listens.py <<'PY'
import os, signal, socket, time

signal.alarm(300)
s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
s.bind(("127.0.0.1", 0))
s.listen(8)
print(os.getpid(), s.getsockname()[1], flush=True)
c = s.accept()[0]
time.sleep(1)
c.recv(100)
c.sendall(b"x")
c.recv(100)
PY
if "$PY" -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)' 2>/dev/null; then
	rm -f where err # until_true is not to see what stood there
	"$PY" listens.py >where &
	server=$!
	jobs_to_end+=("$server")
	until_true [ -s where ]
	read -r pid port <where
	"$IPCSTALL" attach --exact -p "$pid" --json m.json >/dev/null 2>err &
	tracer=$!
	until_true grep -qs attached err
	"$PY" -c 'import socket, sys; c = socket.create_connection(("127.0.0.1", int(sys.argv[1]))); c.sendall(b"x" * 50); c.recv(1)' "$port"
	wait "$server"
	wait "$tracer"
	says_true "a child of an attached MPTCP listener is seen from its birth" "d = json.load(open('m.json'))['ledger']; $ns
e = [e for e in d['endpoints'] if e['proto'] == 'tcp' and (e['local'] or '').endswith(':$port') and e['remote'] and not e['remote'].endswith(':0')]" \
		'len(e) == 1 and not e[0]["joined_late"] and 9e8 < ns(e[0], "rx", "unread") < 1.3e9' '(open("err").read(), [(x["local"], x["remote"], x["rx"]) for x in d["endpoints"]])'

	cat >pingpong.py <<'PY'
import os, socket, time

s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
s.bind(("127.0.0.1", 0))
s.listen(8)
if os.fork() == 0:
    c = s.accept()[0]
    while d := c.recv(100):
        time.sleep(0.01)
        c.sendall(d)
    os._exit(0)
c = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
c.connect(s.getsockname())
for _ in range(30):
    c.sendall(b"x")
    c.recv(1)
PY
	traced -- "$PY" pingpong.py
	says_true "what nobody can know of MPTCP's subflows is no figure" "d = json.load(open('m.json'))['ledger']; $ns
e = [e for e in d['endpoints'] if e['proto'] == 'tcp' and e['remote'] and not e['remote'].endswith(':0')]" \
		'len(e) == 2 and all(x["unseen"] == {"tx": "MPTCP", "rx": "MPTCP"} and ns(x, "rx", "unread") is None and ns(x, "rx", "idle") is None and ns(x, "tx", "idle") is None for x in e)' \
		'[(x["local"], x["unseen"], x["rx"]["states"], x["tx"]["states"]) for x in e]'
	rm -f err
	"$IPCSTALL" attach -a -d 2s --json m.json >/dev/null 2>err &
	tracer=$!
	until_true grep -qs attached err
	"$PY" pingpong.py
	wait "$tracer"
	says_true "nor is it without a ledger" "d = json.load(open('m.json'))['ledger']
e = [e for e in d['endpoints'] if e['proto'] == 'tcp' and e['unseen'] == {'tx': 'MPTCP', 'rx': 'MPTCP'}]" \
		'len(e) == 2 and all(x["rx"]["states"]["unread"]["ns"] is None for x in e)' '[(x["local"], x["unseen"], x["rx"]["states"]) for x in d["endpoints"]]'
fi

# ---- tee(): nobody is seen to write to its target ----
cat >tees.py <<'PY'
import ctypes, os, time

tee = ctypes.CDLL(None, use_errno=True).tee
a, b = os.pipe(), os.pipe()
if os.fork() == 0:
    for f in (a[0], a[1], b[1]):
        os.close(f)
    time.sleep(0.3)
    while os.read(b[0], 100):
        pass
    os._exit(0)
os.write(a[1], b"x" * 100)
print(os.stat(b[0]).st_ino)
assert tee(a[0], b[1], 100, 0) == 100
os.close(b[1])
os.close(b[0])
os.wait()
PY
traced -- "$PY" tees.py
says_true "who filled a pipe by tee() is unknown, not idle" "d = json.load(open('m.json'))['ledger']; $ns
e = [e for e in d['endpoints'] if e['proto'] == 'pipe' and e['inode'] == int(open('out').read())]" \
	'len(e) == 1 and e[0]["unseen"]["tx"] == "calls" and ns(e[0], "tx", "idle") is None' '[(x["unseen"], x["tx"]["states"]) for x in e]'

# ---- a sockmap: a program may have taken the bytes elsewhere ----
cat >sockmap.py <<'PY'
import ctypes, os, platform, socket, struct, sys, time

libc = ctypes.CDLL(None, use_errno=True)
BPF = {"x86_64": 321, "aarch64": 280}[platform.machine()]

def bpf(cmd, attr):
    buf = ctypes.create_string_buffer(attr.ljust(128, b"\0"), 128)
    fd = libc.syscall(BPF, cmd, buf, 128)
    if fd < 0:
        print("refused:", os.strerror(ctypes.get_errno()))
        sys.exit(0)
    return fd

s = socket.create_server(("127.0.0.1", 0))
c = socket.create_connection(s.getsockname())
a = s.accept()[0]
sockmap = bpf(0, struct.pack("IIII", 15, 4, 4, 4))
key, value = ctypes.c_uint32(0), ctypes.c_uint32(a.fileno())
bpf(2, struct.pack("IxxxxQQQ", sockmap, ctypes.addressof(key), ctypes.addressof(value), 0))
print(a.getpeername()[1])
for _ in range(5):
    c.sendall(b"x" * 10)
    time.sleep(0.05)
    a.recv(10)
PY
traced -- "$PY" sockmap.py
if grep -q refused out; then
	echo "skip a socket in a sockmap: $(cat out)"
else
	says_true "a socket in a sockmap is said to be" "d = json.load(open('m.json'))['ledger']
e = [e for e in d['endpoints'] if e['proto'] == 'tcp' and (e['remote'] or '').endswith(':' + open('out').read().strip())]" \
		'len(e) == 1 and e[0]["unseen"] == {"tx": "sockmap", "rx": "sockmap"}' '[(x["local"], x["unseen"]) for x in d["endpoints"]]'
fi
finish
