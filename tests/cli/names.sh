#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Programs that call themselves what no terminal and no JSON should get: they are shown all the same, whole and harmless.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 70
needs_ledger

# A writer whose reader is late, each under a name of its own. The kernel cuts the first after its fifteenth byte, within a character.
cat >masked.py <<'PY'
import ctypes, os, time
PR_SET_NAME = 15
def call_me(name):
    ctypes.CDLL(None).prctl(PR_SET_NAME, name, 0, 0, 0)
r, w = os.pipe()
if os.fork():
    os.close(r)
    call_me("медленный сервер".encode())
    os.write(w, b"x" * 400000)
else:
    os.close(w)
    call_me(b"\x1b[2J\n")
    time.sleep(0.4)
    while os.read(r, 65536):
        pass
PY
# NAME COMMAND...: not a byte that a terminal would take for an order, nor one that is no UTF-8
harmless() {
	local name=$1
	shift
	"$@" >shown 2>&1 </dev/null
	if [ ! -s shown ]; then
		fail "$name" "nothing was shown"
	else
		says_true "$name" 't = open("shown", "rb").read().decode(errors="replace")' \
			'"\ufffd" not in t and not [c for c in t if (c < " " or "\x7f" <= c < "\xa0") and c not in "\n\t"]' 't'
	fi
}
writer="медленн?" reader="?[2J?"
writer_re="медленн\\?" reader_re="\\?\\[2J\\?"

harmless "the table" "$IPCSTALL" run --stacks --threshold 10ms --json n.json --folded n.folded --timeline n.timeline \
	--perfetto n.trace --ndjson n.ndjson --csv n.csv --cost -- python3 masked.py "$(printf '\xd0 no word')"
check "the card names both" "$(head -3 shown)" grep -qE "^STALLED .* $writer_re\[[0-9]+\] waits for $reader_re\[" shown
for f in n.json n.folded n.timeline n.trace n.ndjson n.csv; do
	harmless "$f" cat "$f"
	check "$f names the writer" "$(head -c 600 $f)" grep -qF -e "$writer" -e "$(printf %s "$writer" | python3 -c 'import json, sys
print(json.dumps(sys.stdin.read()).strip("\""))')" "$f"
done
says_true "the verdict stands in the JSON" 'd = json.load(open("n.json")); l = d["ledger"]
names = {e["beside"][side]["comm"] for e in l["endpoints"] for side in ("tx", "rx") if e["proto"] == "pipe"}' \
	"l['findings'] and '$writer' in l['findings'][0]['text'] and '$reader' in l['findings'][0]['text'] and {'$writer', '$reader'} <= names and
d['stalls'] and d['stalls'][0]['comm'] == '$writer' and d['stalls'][0]['peer_comm'] == '$reader' and d['command'][2] == '? no word'" '(names, l["findings"])'
says_true "each folded line is one chain" 'lines = open("n.folded").read().splitlines()' \
	'lines and all(line.rsplit(" ", 1)[1].isdigit() for line in lines)' 'lines'
says_true "a row of the stream for each" 'rows = [json.loads(line) for line in open("n.ndjson")]' \
	"any(r.get('type') == 'interval' and r['findings'] for r in rows) and any(r.get('comm') == '$writer' for r in rows)" 'rows[:3]'

# a recording, by what it shows
"$IPCSTALL" record -q -o n.rec --threshold 10ms --stacks -- python3 masked.py
harmless "a replay" "$IPCSTALL" replay n.rec
check "the replay names both" "$(head -3 shown)" grep -qE "^STALLED .* $writer_re\[[0-9]+\] waits for $reader_re\[" shown
"$IPCSTALL" replay n.rec --comm "$writer" --json r.json -q 2>/dev/null
says_true "its name finds it" 'l = json.load(open("r.json"))["ledger"]' 'l["findings"]' 'l'

# --- several processes at one end: who slept and who was late, not who came last ---
cat >slow.py <<'PY'
import os, sys, time
left = int(sys.argv[1])
while left > 0:
    left -= len(os.read(0, 16384))
    time.sleep(0.01)
PY
shared='(head -c 1000000 /dev/zero; sh -c "exec printf end") | (python3 slow.py 600000; wc -c >/dev/null)'
found='l = json.load(open("several.json"))["ledger"]; f = (l["findings"] or [{}])[0]; b = [b for e in l["endpoints"] for b in e["blame"] if b["by"] != "no CPU for the peer"]'
"$IPCSTALL" run -q --proto pipe --json several.json -- sh -c "$shared" >out 2>err
says_true "of several writers the one that slept" "$found" \
	'(f["cause"], f["comm"]) == ("sndbuf", "head") and
	f["text"].startswith("head[%d] and others on " % f["pid"])' f
says_true "of several readers the one that was late" "$found" 'f["blamed_comm"] == "python3" and "<- python3[%d] and others are" % f["blamed_pid"] in f["text"]' f
says_true "and so in the endpoint's blame" "$found" '[(x["comm"], x["pid"]) for x in b] == [("python3", f["blamed_pid"])]' b
"$IPCSTALL" record -q -o several.rec --proto pipe -- sh -c "$shared" >out 2>err
"$IPCSTALL" replay -q --json several.json several.rec 2>err
says_true "a recording remembers them" "$found" '(f["comm"], f["blamed_comm"]) == ("head", "python3")' f

# --- who accepted a connection and never read from it ---
cat >never.py <<'PY'
import ctypes, os, socket, time
PR_SET_NAME = 15
listener = socket.create_server(("127.0.0.1", 0))
if os.fork():
    ctypes.CDLL(None).prctl(PR_SET_NAME, b"never reads", 0, 0, 0)
    s, _ = listener.accept()
    time.sleep(0.5)
else:
    s = socket.create_connection(listener.getsockname())
    try:
        s.sendall(b"x" * 20000000)
    except OSError:
        pass
PY
"$IPCSTALL" run -q --json several.json -- python3 never.py >out 2>err
says_true "a peer that never read has a name" "$found" \
	'f["cause"] in ("rwnd", "sndbuf") and f["blamed_comm"] == "never reads" and "<- never reads[%d] is not reading" % f["blamed_pid"] in f["text"]' f

# --- one process accepts, and the one that it forks is late ---
cat >forks.py <<'PY'
import ctypes, os, socket, time
PR_SET_NAME = 15
def call_me(name):
    ctypes.CDLL(None).prctl(PR_SET_NAME, name, 0, 0, 0)
listener = socket.create_server(("127.0.0.1", 0))
if os.fork():
    s = socket.create_connection(listener.getsockname())
    s.sendall(b"x" * 6000000)
    os.wait()
else:
    call_me(b"acceptor")
    s, _ = listener.accept()
    if os.fork():
        s.close()
        os.wait()
    else:
        call_me(b"handler")
        time.sleep(0.7)
        left = 6000000
        while left:
            left -= len(s.recv(100000))
PY
"$IPCSTALL" run -q --json several.json -- python3 forks.py >out 2>err
says_true "who reads first was late, not who accepted" "$found" \
	'f["cause"] in ("rwnd", "sndbuf") and f["ns"] > 5e8 and f["blamed_comm"] == "handler" and "<- handler[%d] is not reading" % f["blamed_pid"] in f["text"]' f
finish
