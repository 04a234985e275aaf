#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# stage: core
# A listener whose queue is full throws requests away: connect() takes a second, and the ledger says why.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 70
needs_ledger

cat >full.py <<'PY'
import socket, threading, time

def drops():
    with open("/proc/net/netstat") as f:
        rows = [l.split() for l in f if l.startswith("TcpExt:")]
    return int(dict(zip(rows[0], rows[1]))["ListenDrops"])

had = drops()
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(0)  # room for one
first = socket.create_connection(s.getsockname())
threading.Timer(0.4, s.accept).start()
before = time.monotonic()
second = socket.create_connection(s.getsockname())
print(time.monotonic() - before, second.getsockname()[1], drops() - had, s.getsockname()[1])
second.sendall(b"x" * 100)
s.accept()
PY
"$IPCSTALL" run -q --json m.json -- python3 full.py >took 2>err
the='took, port, dropped, listens = open("took").read().split(); took = float(took) * 1e9; l = json.load(open("m.json"))["ledger"]
e = [e for e in l["endpoints"] if e["proto"] == "tcp" and e["local"].endswith(":" + port)][0]; lost = e["tx"]["states"]["recovery"]["ns"]; f = (l["findings"] or [{}])[0]'
says_true "the time in connect() is recovery" "$the" 'took > 9e8 and abs(lost - took) < 0.1 * took' '(took, lost, e["tx"], open("err").read())'
says_true "and the request for a connection was sent again" "$the" 'e["beside"]["tcp"]["syn_retransmits"] == e["beside"]["tcp"]["retransmits"] >= 1' 'e["beside"]["tcp"]'
says_true "the verdict says that, and what to do" "$the" \
	'"recovery <- no answer to its SYN" in f["text"] and f["text"] in l["verdict"] and "backlog" in f["fix"] and f["unanswered_syn"]' '(l["verdict"], f)'
says_true "and that it was the queue that was full, of which program" "$the" \
	'"the accept queue of python3[" in l["card"]["why"] and "was full" in l["card"]["why"]' 'l["card"]'
says_true "the listener says that its queue was full, and how many requests it threw away" "$the" \
	'[(x["backlog"], x["peak"], x["dropped"], x["established"], x["accepted"]) for x in l["listeners"] if x["local"].endswith(":" + listens)] == [(0, 1, int(dropped), 2, 2)]' '(dropped, l["listeners"])'
"$IPCSTALL" record -q -o m.rec -- python3 full.py >took 2>err
"$IPCSTALL" replay -q m.rec --json m.json 2>>err
says_true "a recording keeps that" "$the" \
	'[(x["backlog"], x["peak"], x["dropped"]) for x in l["listeners"] if x["local"].endswith(":" + listens)] == [(0, 1, int(dropped))]' '(open("err").read(), l["listeners"])'

# --- attached while a connection waits for accept(): no descriptor leads to it ---
cat >queued.py <<'PY'
import os, signal, socket
s = socket.create_server(("127.0.0.1", 0))
r, w = os.pipe()
if not os.fork():
    c = socket.create_connection(s.getsockname())
    s.close()
    c.sendall(b"a request")
    os.write(w, b"!")
    signal.alarm(60)
    signal.pause()
with open("/proc/self/comm", "w") as f:
    f.write("never-accepts")
os.read(r, 1)
os.close(r)
os.close(w)
print(os.getpid(), flush=True)
signal.alarm(60)
signal.pause()
PY
python3 queued.py >pid &
jobs_to_end+=($!)
until_true test -s pid
for tier in --exact --sampled; do
	"$IPCSTALL" attach $tier -q -d 1s -p "$(cat pid)" --json m.json >/dev/null 2>err
	says_true "attach $tier: who did not accept what was queued before" \
		'c = json.load(open("m.json"))["ledger"]["card"]' \
		'"for never-accepts[" in c["head"] and "to accept the connection" in c["head"] and c["ns"] > 8e8' \
		'(open("err").read(), c)'
done
finish
