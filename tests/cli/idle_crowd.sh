# SPDX-License-Identifier: GPL-2.0-only
# stage: core
# A stranger's idle sockets fill the table of endpoints: who talks is seen all the same
# (docs/SECURITY.md, row 5).
. "$(dirname "$0")/lib.sh"
needs_ledger
begin() { # crowd|honest: see idle_crowd.py
	/usr/bin/python3 "$(dirname "$0")/idle_crowd.py" "$1" >"$WORK/$1" &
	jobs_to_end+=($!)
}

"$IPCSTALL" attach --exact -a --max-endpoints 500 --json "$WORK/crowd.json" 2>"$WORK/err" &
tracer=$!
jobs_to_end+=($tracer)
until_true tracing $tracer
begin crowd
until_true grep -qs there "$WORK/crowd"
begin honest
until_true grep -qs done "$WORK/honest"
kill -INT $tracer
wait $tracer
says_true 'row5: a program that talks is seen, however many idle sockets a stranger has' "
ledger = json.load(open('$WORK/crowd.json'))['ledger']
seen = [e['beside']['tx']['bytes'] for e in ledger['endpoints'] if e['comm'] == 'honest']
room = {k: ledger.get(k, 0) for k in ('overflow', 'let_go', 'opened')}" 'max(seen, default=0) > 100 and room["let_go"] > 0' '(seen, room)'
check 'row5: the card says how many endpoints found no room' \
	"$(grep -i "fit in the table" "$WORK/err")" \
	grep -qE '^  [1-9][0-9]* endpoints did not fit in the table' "$WORK/err"
# every socket asks for room once; what asks again with each message is counted once
check 'row5: who finds no room is counted once, not with each attempt' "$(tail -1 "$WORK/err")" \
	python3 -c "import json; l = json.load(open('$WORK/crowd.json'))['ledger']; assert 100 < l['overflow'] < 3000, l['overflow']"
finish
