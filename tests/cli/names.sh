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

harmless "the table" "$IPCSTALL" run --stacks --threshold 10ms --json n.json --folded n.folded --timeline n.timeline \
	--perfetto n.trace --ndjson n.ndjson --csv n.csv --cost -- python3 masked.py "$(printf '\xd0 no word')"
check "the table names both" "$(grep -F verdict shown)" grep -qF "verdict: ${writer}[" shown
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
check "the replay names both" "$(grep -F verdict shown)" grep -qF "verdict: ${writer}[" shown
"$IPCSTALL" replay n.rec --comm "$writer" --json r.json -q 2>/dev/null
says_true "its name finds it" 'l = json.load(open("r.json"))["ledger"]' 'l["findings"]' 'l'
finish
