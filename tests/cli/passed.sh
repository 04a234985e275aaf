#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A supervisor accepts, and passes the connection to a worker that was there before (SCM_RIGHTS): the one who had it when the time went by is named.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 70
needs_ledger

cat >passed.py <<'PY'
import ctypes, os, socket, struct, sys, time

late, first, family, call = sys.argv[1:]  # who lets LATE seconds pass; what the client sends first; tcp or unix; sendmsg or sendmmsg
LATE = 0.5
to_worker, to_supervisor = socket.socketpair()
if family == "tcp":
    listener = socket.create_server(("127.0.0.1", 0))
else:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("passed")
    listener.listen()

def child(name, does):
    if os.fork() == 0:
        with open("/proc/self/comm", "w") as f:
            f.write(name)
        does()
        os._exit(0)

def lets_pass(who):
    if who == late:
        time.sleep(LATE)

def worker():
    fds = []
    while not fds:
        _, fds, _, _ = socket.recv_fds(to_supervisor, 1, 1)
    s = socket.socket(fileno=fds[0])
    lets_pass("worker")
    if first == "read":  # by the supervisor
        s.send(b"answer")
    while s.recv(65536):
        if first == "question":
            s.send(b"answer")

def sends_two(fd, pid, passes):  # by one sendmmsg(), of which the second passes it
    control = struct.pack("QiiiIIxxxx", 28, socket.SOL_SOCKET, socket.SCM_CREDENTIALS, pid, 0, 0) + struct.pack("Qiiixxxx", 20, socket.SOL_SOCKET, socket.SCM_RIGHTS, passes)
    byte, rights = ctypes.create_string_buffer(b"x", 1), ctypes.create_string_buffer(control, len(control))
    piece = ctypes.create_string_buffer(struct.pack("QQ", ctypes.addressof(byte), 1), 16)
    header = lambda at, n: struct.pack("QIxxxxQQQQixxxxIxxxx", 0, 0, ctypes.addressof(piece), 1, at, n, 0, 0)
    two = ctypes.create_string_buffer(header(0, 0) + header(ctypes.addressof(rights), len(control)), 128)
    if ctypes.CDLL(None, use_errno=True).sendmmsg(fd, two, 2, 0) != 2:
        raise OSError(ctypes.get_errno(), "sendmmsg")

def supervisor():
    to_supervisor.close()
    c = listener.accept()[0]
    if first == "read":
        c.recv(100)
    lets_pass("supervisor")
    # its credentials come before it
    me = [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, b"".join(x.to_bytes(4, "little") for x in (os.getpid(), 0, 0)))]
    if call == "sendmmsg":
        sends_two(to_worker.fileno(), os.getpid(), c.fileno())
    else:
        to_worker.sendmsg([b"x"], me + [(socket.SOL_SOCKET, socket.SCM_RIGHTS, c.fileno().to_bytes(4, "little"))])
    c.close()
    to_worker.recv(1)  # lives on until the worker ends

child("worker", worker)
child("supervisor", supervisor)
to_supervisor.close()
to_worker.close()
client = socket.socket(listener.family)
client.connect(listener.getsockname())
if first == "stream":
    client.sendall(b"x" * 20000000)
else:
    client.send(b"question")
    client.recv(100)
client.close()
for _ in range(2):
    os.wait()
PY
for family in tcp unix; do
	for first in stream question read; do
		for late in supervisor worker; do
			rm -f passed
			traced -- python3 passed.py $late $first $family sendmsg
			says_true "$family, $first: it is the $late that was late" 'l = json.load(open("m.json"))["ledger"]' \
				"l['card']['for_whom'].startswith('${late}[') and l['card']['ns'] > 4e8" '(l["card"], open("err").read())'
		done
	done
done
for late in supervisor worker; do
	traced -- python3 passed.py $late question tcp sendmmsg
	says_true "one of several messages of sendmmsg(): it is the $late that was late" 'l = json.load(open("m.json"))["ledger"]' \
		"l['card']['for_whom'].startswith('${late}[') and l['card']['ns'] > 4e8" '(l["card"], open("err").read())'
done
"$IPCSTALL" record -q -o m.rec -- python3 passed.py supervisor question tcp sendmsg >out 2>err
"$IPCSTALL" replay -q m.rec --json m.json 2>>err
says_true 'a recording keeps that' 'l = json.load(open("m.json"))["ledger"]' "l['card']['for_whom'].startswith('supervisor[')" '(l["card"], open("err").read())'
finish
