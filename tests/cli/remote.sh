# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2154,SC2086
# The other end behind `ipcstall server`: the same figures, one run at a time, and an end in bounded time whoever dies.
. "$(dirname "$0")/lib.sh"
trap 'kill $server 2>/dev/null; rm -rf "$WORK"' EXIT
short=(--size 64 --duration 60ms)

# COMMAND...: which runs the server on a port of the kernel's choice; $server and $port.
serve_by() {
	: >"$WORK/server" # or the port of the one before is read
	"$@" "$IPCSTALL" server --listen 127.0.0.1:0 ${options-} >"$WORK/server" 2>"$WORK/server.err" </dev/null &
	server=$!
	until_true grep -q ' port [0-9]*;' "$WORK/server" &&
		port=$(sed -n 's/.* port \([0-9]*\);.*/\1/p' "$WORK/server") && return
	fail 'server starts' "$(cat "$WORK/server" "$WORK/server.err")"
	finish
}

serve() { options=$* serve_by env; }

# Wait until the session has its worker, and it works: $s and $w.
has_session() {
	s=$(below $server)
	w=$([ -n "$s" ] && below "$s")
	[ -n "$w" ] && at_work "$w"
}
session() { until_true has_session && echo "$s $w"; }

ended() { # NAME CODE MS PATTERN: the client $client ends so
	local t0 rc took
	t0=$(date +%s%N)
	wait "$client"
	rc=$?
	took=$((($(date +%s%N) - t0) / 1000000))
	if [ $rc -ne "$2" ] || [ $took -gt "$3" ]; then
		fail "$1" "exit code $rc after $took ms: $(cat "$WORK/far")"
	elif [ "$(wc -l <"$WORK/far")" -ne 1 ] || ! grep -qE "$4" "$WORK/far"; then
		fail "$1" "'$(cat "$WORK/far")' is not one line matching $4"
	else
		pass "$1"
	fi
}

long_run() { # ARGS...
	"$IPCSTALL" --mode tcp --size 64 --duration 300s --connect 127.0.0.1:$port "$@" >"$WORK/far.out" 2>"$WORK/far" </dev/null &
	client=$!
	session >"$WORK/session"
}

serve
grep -q 'nothing is authenticated' "$WORK/server" && [ "$(wc -l <"$WORK/server")" -eq 1 ] && pass 'the server says that it authenticates nothing' ||
	fail 'the server says that it authenticates nothing' "$(cat "$WORK/server")"
for mode in tcp udp rudp; do
	works "$mode" --mode $mode --size 1,64K --duration 60ms --connect 127.0.0.1:$port --json "$WORK/r.json" &&
		out=$(python3 -c "
import json, os, sys
d = json.load(open('$WORK/r.json')); p = d['points']; r = d['remote']
ok = len(p) == 4 and r['hostname'] == os.uname().nodename == d['machine']['hostname'] and r['kernel'] == os.uname().release and r['shares_clock'] is True
ok = ok and all(x['messages'] > 10 and x['sent'] >= x['messages'] and x['socket']['server']['rcvbuf'] > 0 for x in p)
ok = ok and all($rates_agree for x in p if x['test'] == 'throughput')
sys.exit(0 if ok else json.dumps([(x['test'], x['messages'], x['sent'], x['bytes'], x['elapsed_ns'], x['throughput']) for x in p] + [r])[:500])" 2>&1) &&
		pass "$mode: figures" || fail "$mode: figures" "$out"
done
works 'exactly 1M bytes in bulk' --mode tcp --test throughput --size 4K --bytes 1M --connect 127.0.0.1:$port --json "$WORK/r.json" &&
	python3 -c "import json,sys; p = json.load(open('$WORK/r.json'))['points'][0]; sys.exit(p['bytes'] != 1048576 or p['messages'] != 256)" && pass 'all of them received' || fail 'all of them received' "$(head -c 300 "$WORK/r.json")"
works 'an ack for each message' --mode tcp --test throughput --ack message --outstanding 4 "${short[@]}" --connect 127.0.0.1:$port
works 'connect' --mode tcp --test connect --duration 60ms --connect 127.0.0.1:$port --json "$WORK/r.json" &&
	says_true 'connect: what the other host measured is unknown' "l = json.load(open('$WORK/r.json'))['points'][0]['latency']" \
		"l['syn']['n'] > 10 and l['synack'] is None" 'json.dumps(l)'
works 'one way, one clock' --mode tcp --test oneway "${short[@]}" --connect 127.0.0.1:$port
works 'one way on a schedule' --mode udp --test oneway --rate 2k "${short[@]}" --connect 127.0.0.1:$port
works 'drops at the other end' --mode rudp --drop 20 --rto 2ms --window 8 --size 64,100000 --count 100 --connect 127.0.0.1:$port --json "$WORK/r.json" &&
	python3 -c "import json,sys; p = json.load(open('$WORK/r.json'))['points']; sys.exit(not all(x['reliable']['dropped'] > 0 and x['messages'] == 100 for x in p))" && pass 'drops are told' || fail 'drops are told' "$(head -c 300 "$WORK/r.json")"
if getent hosts localhost >/dev/null; then # a minimal root has no /etc/hosts
	works 'by name' --mode tcp "${short[@]}" --connect localhost:$port
else
	echo 'skip by name: localhost has no address here'
fi

long_run
refuses 'busy' 5 'busy: it is running a test for another client; try again' --mode tcp "${short[@]}" --connect 127.0.0.1:$port
read -r s w <"$WORK/session"
kill -9 "$w"
ended 'the worker there killed' 7 $SOON 'killed by signal 9'
works 'the server serves on' --mode tcp "${short[@]}" --connect 127.0.0.1:$port
long_run
read -r s w <"$WORK/session"
kill -9 "$s"
ended 'the session there killed' 7 $SOON 'server|other host'
works 'the server serves on, again' --mode udp "${short[@]}" --connect 127.0.0.1:$port
long_run
read -r s w <"$WORK/session"
kill -9 $client
wait $client 2>/dev/null
until_true gone "$s" "$w"
gone "$s" "$w" && pass 'a killed client frees the server' || fail 'a killed client frees the server' "still there: $(ps -o pid=,stat=,args= -p "$s,$w")"
works 'the server serves on, after that' --mode rudp "${short[@]}" --connect 127.0.0.1:$port
long_run
kill -INT $client
ended 'the client interrupted' 130 $SOON 'interrupted'
long_run --timeout 1s
read -r s w <"$WORK/session"
kill -STOP "$s" "$w"
kill -INT $client # the phase would take five minutes; that a silent server does not hold up the client is what counts
ended 'a frozen server does not hold the client' 130 $SOON 'interrupted'
kill -KILL "$s"
until_true has_below $server 0
long_run
kill -INT $server
ended 'the server interrupted in mid-run' 7 $SOON 'other host|server'
wait $server
rc=$?
[ $rc -eq 130 ] && pass 'an interrupted server says so' || fail 'an interrupted server says so' "exit code $rc"
read -r s w <"$WORK/session"
until_true gone "$s" "$w"
gone "$s" "$w" && pass 'nothing is left of it' || fail 'nothing is left of it' "$(ps -o pid=,stat=,args= -p "$s,$w")"

serve --once --quiet
works 'once' --mode tcp "${short[@]}" --connect 127.0.0.1:$port
wait $server
rc=$?
[ $rc -eq 0 ] && [ "$(wc -l <"$WORK/server")" -eq 1 ] && pass 'once is once' || fail 'once is once' "exit code $rc: $(cat "$WORK/server")"
serve
kill -TERM $server
wait $server && pass 'an idle server ends in peace' || fail 'an idle server ends in peace' "exit code $?"

serve
refuses 'port taken' 5 'give another --listen' server --listen 127.0.0.1:$port
kill $server
if [ "$(id -u)" -eq 0 ] && unshare -T true 2>/dev/null; then
	serve_by unshare -T --monotonic 1000
	refuses 'oneway: another clock' 2 'shares no clock' --mode tcp --test oneway "${short[@]}" --connect 127.0.0.1:$port
	works 'latency: another clock' --mode tcp --test latency "${short[@]}" --connect 127.0.0.1:$port
	kill $server
else
	echo 'skip oneway: another clock: no time namespace can be made here'
fi

while IFS='|' read -r code pattern args; do
	# shellcheck disable=SC2086
	refuses "refused: $args" "$code" "$pattern" $args
done <<'ROWS'
7|start 'ipcstall server|--mode tcp --connect 127.0.0.1:1
7|name or address|--mode tcp --connect no.such.host.invalid
2|not HOST|--mode tcp --connect 127.0.0.1:99999
2|not HOST|--mode tcp --connect 127.0.0.1:
2|not HOST|--mode tcp --connect [::1
2|not HOST|--mode tcp --connect [::1]x
2|not HOST|--mode tcp --connect :5
2|belongs to tcp, udp, rudp|--mode pipe --connect 127.0.0.1
2|belongs to tcp, udp, rudp|--mode unix --connect 127.0.0.1
2|give one|--mode tcp --connect 127.0.0.1 --link veth
2|share no CPU|--mode tcp --connect 127.0.0.1 --placement same
2|not an address of this host|server --listen no.such.name
2|not an address|server --listen 1.2.3.4.5:80
5|give another --listen|server --insecure --listen 192.0.2.77
2|no such option|server --port 5
ROWS
finish
