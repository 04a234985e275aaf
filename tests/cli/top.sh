# SPDX-License-Identifier: GPL-2.0-only
# ipcstall top: lines and JSON; its screen is in top_screen.sh and top_looks.sh.
. "$(dirname "$0")/lib.sh"
needs_ledger

# --- what is refused ---
refuses 'a key to sort by that is not there' 2 "did you mean 'rate'" top --sort raet
refuses 'a delay of nothing' 2 'out of range' top --interval 0
refuses 'a process that is not there' 5 'no such process' top -p 4194303
refuses 'two ways of choosing' 2 'exclude each other' top -a -p $$
"$IPCSTALL" top --exact -b --iterations 1 -i 0.1 >/dev/full 2>"$WORK/err"
check 'a full disk' "exit $?: $(cat "$WORK/err")" grep -q 'No space left' "$WORK/err"
"$IPCSTALL" top --exact -b -i 0.05 2>"$WORK/err" | head -1 >"$WORK/out"
check 'a closed pipe ends it' "exit ${PIPESTATUS[0]}: $(cat "$WORK/err")" grep -q 'standard output: Broken pipe' "$WORK/err"

# --- lines and JSON ---
"$KNOWN" nagle n=100000 >/dev/null 2>&1 &
jobs_to_end+=($!)
known=$!
works 'two refreshes' top --exact -b --iterations 2 -i 0.5 -f 'known nagle'
check 'two refreshes in lines' "$(head -c 400 "$WORK/out")" [ "$(grep -c ' endpoints, ' "$WORK/out")" -eq 2 ]
check 'the row of the stall' "$(cat "$WORK/out")" grep -qE '^ *9[0-9]\.[0-9]% known\[[0-9]+\] +known\[[0-9]+\] +nagle, delack' "$WORK/out"
works '20 columns' top --exact -b --iterations 1 -i 0.3 -w 20 -f known
check 'no line is longer' "$(cat "$WORK/out")" [ "$(tail -n +2 "$WORK/out" | awk '{ if (length > m) m = length } END { print m + 0 }')" -le 20 ]
works 'JSON' top --exact --json - --iterations 3 -i 0.3 -n 0
# more endpoints close in an interval than are kept: those that are in no row are counted
cat >"$WORK/brief.py" <<'PY'
import socket, time
while True:
    a, b = socket.socketpair()
    a.send(b"x"), b.recv(1), a.close(), b.close()
    time.sleep(0.001)
PY
python3 "$WORK/brief.py" &
jobs_to_end+=($!)
brief=$!
"$IPCSTALL" top --exact --json - --iterations 1 -i 1.5 -p $brief --max-endpoints 64 -n 0 --no-active >"$WORK/brief" 2>"$WORK/err"
says_true 'those that were dropped are counted' "d = json.load(open('$WORK/brief'))" \
	'd["counters"]["dropped"] > 100 and d["n_endpoints"] < 100' '(d["n_endpoints"], d["counters"])'
"$IPCSTALL" top --exact -b --iterations 1 -i 1 -p $brief --max-endpoints 64 >"$WORK/brief" 2>>"$WORK/err"
check 'and in the lines' "$(head -1 "$WORK/brief")" grep -qE ', dropped [0-9]+ closed endpoints' "$WORK/brief"
kill $brief
# a pause is one long interval, and those that would have been in it do not follow all at once
"$IPCSTALL" top --exact --json - --iterations 9 -i 0.2 >"$WORK/paused" 2>"$WORK/err" &
paused=$!
until_true eval '[ "$(wc -l <"$WORK/paused")" -ge 2 ]'
kill -STOP $paused
sleep 1.2
kill -CONT $paused
wait $paused
says_true 'a pause is not made up for' "t = [json.loads(line)['interval_ns'] / 1e9 for line in open('$WORK/paused')]" \
	'len(t) == 9 and max(t) > 1 and sum(i < 0.1 for i in t) <= 1' t
cat >"$WORK/judge.py" <<'PY'
import json, sys
docs = [json.loads(line) for line in open(sys.argv[1])]
assert len(docs) == 3, len(docs)
shares = []
for d in docs:
    assert d["schema"] == "ipcstall.top" and d["version"] == 1
    row, = [r for r in d["endpoints"] if r["cause"] == "nagle" and r["tx"]["program"] == "known"]
    assert row["blamed"] == "peer delayed ACK" and row["blamed_program"] == "known" and row["surety"] == "both ends seen", row
    shares.append(row["stall_share"])
    assert row["rtt_us"] is None or 1 <= row["rtt_us"] < 60000, row["rtt_us"]
    # an interval's states fill the interval: the difference of two looks is exact
    for side in "tx", "rx":
        assert abs(sum(row[side]["ns"].values()) - row["ns"]) < 1000, (side, row)
assert 0.9 < sorted(shares)[1] <= 1, shares	# one look may fall on a moment in which others had the CPU
PY
check 'the JSON of the stall' "$(tail -c 600 "$WORK/out")" python3 "$WORK/judge.py" "$WORK/out"

# Ends that were born and closed within one interval keep their blame: the record of an end names the other by its key.
# shellcheck disable=SC2016 # for the shell there
sh -c 'until [ -e "$1" ]; do sleep 0.02; done; exec "$0" nagle n=10' "$KNOWN" "$WORK/traced" >/dev/null 2>&1 &
short=$!
"$IPCSTALL" top --exact --json - -p $short -i 600 -n 0 --proto tcp >"$WORK/short" 2>"$WORK/err" &
top=$!
until_true tracing $top
touch "$WORK/traced"
wait $short $top
cat >"$WORK/short.py" <<'PY'
import json, sys
doc = json.loads(open(sys.argv[1]).readline())
rows = [r for r in doc["endpoints"] if r["closed"] and r["tx"]["program"] == "known" and r["cause"] == "nagle"]
assert rows and all(r["blamed"] == "peer delayed ACK" and r["blamed_program"] == "known" for r in rows), rows
PY
check 'a short life keeps its blame' "$(head -c 300 "$WORK/err")" python3 "$WORK/short.py" "$WORK/short"

# One send() that takes seconds has its share in each interval: 200 kB every 20 ms, as its reader takes them.
cat >"$WORK/long.py" <<'PY'
import os, socket, sys, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
c = socket.create_connection(s.getsockname())
a, _ = s.accept()
if os.fork():
    a.close()
    try:
        c.send(bytes(1 << 30))
    except ConnectionResetError:
        os._exit(0)
    os._exit(1)
c.close()
for i in range(3000):
    a.recv(200000, socket.MSG_WAITALL)
    time.sleep(0.02)
    if i == 10:
        print("under way", flush=True)
    if os.path.exists(sys.argv[1]):
        break
os._exit(0)
PY
python3 "$WORK/long.py" "$WORK/stop" >"$WORK/ready" &
jobs_to_end+=($!)
long=$!
until_true test -s "$WORK/ready"
"$IPCSTALL" top --exact --json - -p $long --iterations 3 -i 1 -n 0 >"$WORK/long" 2>"$WORK/err"
says_true 'a long send() shows as it goes' "rows = [[(r['tx']['bytes'], r['tx']['messages']) for r in json.loads(line)['endpoints'] if r['tx']['ns'].get('rwnd')] for line in open('$WORK/long')]" \
	'len(rows) == 3 and all(len(r) == 1 and 1e6 < r[0][0] < 20e6 and r[0][1] == 0 for r in rows)' "(rows, open('$WORK/err').read())"
"$IPCSTALL" attach --exact -q -p $long -d 500ms --json "$WORK/long.json" 2>"$WORK/err"
"$IPCSTALL" attach --exact -p $long --json "$WORK/whole.json" 2>"$WORK/attached" &
whole=$!
until_true grep -q attached "$WORK/attached"
sleep 0.5
touch "$WORK/stop"
wait $whole
says_true 'and at the end of a session' "e = [e for e in json.load(open('$WORK/long.json'))['ledger']['endpoints'] if e['tx']['states']['rwnd']['ns']] or [None]" \
	"e[0] and 5e5 < e[0]['beside']['tx']['bytes'] < 20e6 and e[0]['beside']['tx']['messages'] == 0" "(e[0] and e[0]['beside'], open('$WORK/err').read())"

says_true 'what a call had moved before the session is not the session'"'"'s' "e = ([e for e in json.load(open('$WORK/whole.json'))['ledger']['endpoints'] if e['tx']['states']['rwnd']['ns']] or [None])[0]" \
	"e and 1e6 < e['beside']['tx']['bytes'] < 40e6 and e['closed']" "(e and (e['beside'], e['tx']), open('$WORK/attached').read()[:300])"

# What it did last counts, and a program that ends before the first refresh has an interval too.
rm -f "$WORK/traced"
python3 -c 'import os, sys, time
r, w = os.pipe()
while not os.path.exists(sys.argv[1]):
    time.sleep(0.02)
for _ in range(100):
    os.write(w, b"x" * 5000)
    os.read(r, 5000)' "$WORK/traced" &
"$IPCSTALL" top --exact --json - -p $! -i 600 -n 0 >"$WORK/brief" 2>"$WORK/err" &
top=$!
until_true tracing $top
touch "$WORK/traced"
wait $top
says_true 'the last interval of a program' "rows = [sum(r['rx']['bytes'] or 0 for r in json.loads(line)['endpoints'] if r['proto'] == 'pipe') for line in open('$WORK/brief')]" \
	'len(rows) == 1 and rows[0] == 500000' "(rows, open('$WORK/err').read())"

# A connection that was refused is not a stall, though tcp_disconnect() leaves sequence numbers behind that look like data.
cat >"$WORK/refused.py" <<'PY'
import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); port = s.getsockname()[1]; s.close()
c = socket.socket()
assert c.connect_ex(("127.0.0.1", port)) != 0
time.sleep(0.3)
PY
"$IPCSTALL" run -q --json "$WORK/refused.json" -- python3 "$WORK/refused.py"
check 'a refused connection is no stall' "$(grep -o '"verdict":"[^"]*"' "$WORK/refused.json")" grep -q '"stall_ns":0,' "$WORK/refused.json"

# --- a crowd: 6000 endpoints must cost little; 5 % of a core is the bar for 20000 ---
mkfifo "$WORK/hold"
"$CROWD" 3000 3000 600 0<>"$WORK/hold" >"$WORK/crowd" &
jobs_to_end+=($!)
until_true grep -q ready "$WORK/crowd"
"$IPCSTALL" top --exact -b -i 1 --proto tcp >"$WORK/lines" &
top=$!
until_true eval '[ "$(grep -c " endpoints, " "$WORK/lines")" -ge 2 ]'
cpu() { awk '{ print $14 + $15 }' "/proc/$top/stat"; }
t0=$(cpu); sleep 5; t1=$(cpu)
kill -TERM $top; wait $top
check 'TERM ends it well' "exit $?" [ $? -eq 0 ]
check 'a crowd costs little' "$((t1 - t0)) ticks in 5 s" [ $((t1 - t0)) -le 25 ]
check 'the crowd is seen' "$(grep endpoints "$WORK/lines" | tail -1)" grep -qE ' [6-9][0-9]{3} endpoints' "$WORK/lines"
check 'nobody was left out' "$(grep endpoints "$WORK/lines" | tail -1)" [ "$(grep -c 'no room' "$WORK/lines")" -eq 0 ]
finish
