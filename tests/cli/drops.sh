#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Datagrams that this host throws away: counted against the programs' own count, and said where no sender waits for them.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 70
needs_ledger

# A receiver that comes too late for its small buffer. It prints how many of the 500 it never got; with an argument it does so for so many seconds.
cat >late.py <<'PY'
import socket, sys, time
def lost():
    r, s = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in "rs")
    r.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
    r.bind(("127.0.0.1", 0))
    s.connect(r.getsockname())
    for _ in range(500):
        s.send(b"x" * 500)
    r.setblocking(False)
    got = 0
    try:
        while r.recv(2048):
            got += 1
    except BlockingIOError:
        return 500 - got
print(lost())
end = time.monotonic() + (float(sys.argv[1]) if len(sys.argv) > 1 else 0)
while time.monotonic() < end:
    lost()
PY
lost=$("$IPCSTALL" run --json d.json -- python3 late.py 2>table)
if ! python3 -c 'import json, sys
sys.exit(not all(e["beside"]["drops"]["rcvbuf"] is not None for e in json.load(open("d.json"))["ledger"]["endpoints"] if e["proto"] == "udp"))'; then
	says_true "a kernel that does not tell of drops" 'l = json.load(open("d.json"))["ledger"]' 'l["loss"] is None' 'l["loss"]'
	finish
fi
says_true "every lost datagram is counted" 'l = json.load(open("d.json"))["ledger"]; w = l["loss"]' \
	"w and w['kind'] == 'rcvbuf' and w['count'] == $lost > 0 and abs(w['share'] - $lost / 500) < 1e-9 and
l['endpoints'][w['endpoint']]['beside']['drops']['rcvbuf'] == $lost and l['verdict'] == w['text']" "($lost, w, l['verdict'])"
check "the card says it" "$(head -5 table)" grep -q "^  why    $lost datagrams dropped at its full receive buffer" table
check "and what would fix it" "$(head -5 table)" grep -q "SO_RCVBUF" table

# a recording knows it too
"$IPCSTALL" record -q -o d.rec -- python3 late.py >lost
says_true "a recording tells it again" "import subprocess
l = json.loads(subprocess.run(['$IPCSTALL', 'replay', '--quiet', '--json', '-', 'd.rec'], capture_output=True).stdout)['ledger']" \
	"l['loss'] and l['loss']['count'] == int(open('lost').read())" '(l["loss"], l["verdict"])'

# the live screen, an interval at a time
python3 late.py 600 >lost &
late=$!
jobs_to_end+=("$late")
"$IPCSTALL" top --exact -p $late --iterations 3 -n 0 --json - >top.json 2>err
says_true "top counts them" 'rows = [r for line in open("top.json") for r in json.loads(line)["endpoints"]]' \
	'rows and all(r["drops"] is not None for r in rows if r["proto"] == "udp") and any(r["drops"] for r in rows)' '(rows[:2], open("err").read())'
kill $late

# A flood over a link whose queue is short: what the queue drops was this sender's, whatever that queue calls it.
for queue in limit=5kb qdisc=fq_codel; do
	if ! "$IPCSTALL" --mode udp --size 1000 --test throughput --link "veth,rate=10mbit,$queue" --duration 200ms -q --json link.json 2>err; then
		echo "skip a queue that drops ($queue): $(cat err)"
		continue
	fi
	says_true "a queue that drops ($queue) is told from a full buffer" 'l = json.load(open("link.json"))["points"][0]["ledger"]; w = l["loss"]' \
		'w and w["kind"] == "qdisc" and w["count"] > 0 and l["endpoints"][w["endpoint"]]["role"] == "client"' '(w, l["verdict"], open("err").read())'
done
finish
