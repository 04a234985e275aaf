# SPDX-License-Identifier: GPL-2.0-only
# What ends a run early ends all of it: quickly, with the right code and one line, and nothing is left.
. "$(dirname "$0")/lib.sh"
CLOCK=no # read by fail()

# The two workers of a run that has begun to measure.
workers() { # PID
	local w
	until_true has_below "$1" 2 || return
	w=$(below "$1")
	# shellcheck disable=SC2086 # two words
	until_true at_work $w
	echo "$w"
}

# NAME CODE PATTERN ACTION ARGS...: start, wait for both workers, act, judge.
disturbed() {
	local name=$1 code=$2 pattern=$3 action=$4 pid w rc t0
	shift 4
	"$IPCSTALL" "$@" --duration 300s >"$WORK/out" 2>"$WORK/err" </dev/null &
	pid=$!
	w=$(workers $pid)
	t0=$(date +%s%N)
	$action "$pid" $w
	wait $pid
	rc=$?
	took=$((($(date +%s%N) - t0) / 1000000))
	until_true gone $w
	if [ -z "$w" ]; then
		fail "$name" 'the workers did not start'
	elif [ $rc -ne "$code" ]; then
		fail "$name" "exit code $rc, not $code: $(cat "$WORK/err")"
	elif [ $took -gt $SOON ]; then
		fail "$name" "took $took ms to end"
	elif [ -n "$pattern" ] && { [ "$(wc -l <"$WORK/err")" -ne 1 ] || ! grep -qE "$pattern" "$WORK/err"; }; then
		fail "$name" "'$(cat "$WORK/err")' is not one line matching $pattern"
	elif ! gone $w; then
		fail "$name" "a worker is left: $(ps -o pid=,stat=,args= -p "${w// /,}")"
	else
		pass "$name"
	fi
}

kill_client() { ps -o pid= -p "$2" >/dev/null && kill -KILL "$3"; }
kill_server() { kill -KILL "$2"; }
interrupt() { kill -INT "$1"; }
terminate() { kill -TERM "$1"; }
kill_whole() { kill -KILL "$1"; }

for mode in tcp udp pipe unix; do
	disturbed "$mode: server killed" 7 'killed by signal 9' kill_server --mode $mode --size 64 --test latency
	disturbed "$mode: client killed" 7 'killed by signal 9' kill_client --mode $mode --size 64 --test throughput
done
disturbed 'tcp: interrupted' 130 'interrupted' interrupt --mode tcp --size 64
disturbed 'udp: terminated' 130 'interrupted' terminate --mode udp --size 64
disturbed 'tcp: killed itself' 137 '' kill_whole --mode tcp --size 64
disturbed 'spinning: server killed' 7 'killed by signal 9' kill_server --mode udp --size 64 --placement spin
disturbed 'spinning: interrupted' 130 'interrupted' interrupt --mode tcp --size 64 --placement spin
if unshare -n true 2>/dev/null; then
	disturbed 'over a link: interrupted' 130 'interrupted' interrupt --mode tcp --size 64 --link veth
	disturbed 'over a link: server killed' 7 'killed by signal 9' kill_server --mode tcp --size 64 --link veth
fi

# What was finished before the interruption is kept.
"$IPCSTALL" --mode pipe --size 64 --test latency,throughput --duration 3s --json "$WORK/part.json" >/dev/null 2>&1 </dev/null &
pid=$!
first=$(workers $pid)
other_workers() { local w; w=$(below $pid); [ "$(wc -w <<<"$w")" -eq 2 ] && [ "$w" != "$first" ]; }
until_true other_workers
workers $pid >/dev/null
kill -INT $pid
wait $pid
python3 -c "
import json
d = json.load(open('$WORK/part.json'))
assert d['complete'] is False and len(d['points']) == 1 and d['warnings']" 2>"$WORK/err" && pass 'finished points are kept' || fail 'finished points are kept' "$(tail -1 "$WORK/err")"

disturbed 'interrupted before a point is finished' 130 'interrupted' interrupt --mode pipe --size 64 --json "$WORK/none.json"
check 'then there is no document' "it has $(wc -c <"$WORK/none.json" 2>/dev/null) bytes" [ ! -e "$WORK/none.json" ]

run=(--mode pipe --size 64 --test latency --count 1000)
# NAME CODE PATTERN, then standard output is taken from the caller
"$IPCSTALL" "${run[@]}" >/dev/full 2>"$WORK/err"
rc=$?
[ $rc -eq 6 ] && [ "$(wc -l <"$WORK/err")" -eq 1 ] && grep -q 'No space left' "$WORK/err" && pass 'full disk, table' || fail 'full disk, table' "$rc $(cat "$WORK/err")"
for out in json csv raw; do
	refuses "full disk, $out" 6 'No space left' "${run[@]}" --quiet --$out /dev/full
done
# What was there before is there after an output that could not be written whole, and nothing else.
mkdir "$WORK/there"
for out in json csv raw; do
	cp "$WORK/part.json" "$WORK/there/old"
	said=$( (ulimit -f 0; exec "$IPCSTALL" "${run[@]}" --quiet --$out "$WORK/there/old") 2>&1) # a pipe: the limit is one of every file
	check "no room, $out" "$? $said" [ "$? $said" = "6 ipcstall: $WORK/there/old: File too large; free some space and run again" ]
	check "no room, $out: the file of before stays" "$(ls -la "$WORK/there")" eval 'cmp -s "$WORK/part.json" "$WORK/there/old" && [ "$(ls -A "$WORK/there")" = old ]'
done
# Behind a link, with its own mode; a file that was handed over goes on where it is.
chmod 640 "$WORK/there/old"
ln -s old "$WORK/there/link"
"$IPCSTALL" "${run[@]}" --quiet --csv "$WORK/there/link" && check 'a file is replaced behind its link, with its mode' "$(ls -la "$WORK/there")" \
	[ "$(readlink "$WORK/there/link") $(stat -c %a "$WORK/there/old") $(wc -l <"$WORK/there/old") $(ls -A "$WORK/there" | wc -l)" = 'old 640 2 2' ]
inode=$(stat -c %i "$WORK/there/old")
"$IPCSTALL" "${run[@]}" --quiet --csv /dev/stdout >"$WORK/there/old" && check 'standard output by its other name is written, not replaced' "$(ls -lai "$WORK/there")" \
	[ "$(stat -c %i "$WORK/there/old") $(wc -l <"$WORK/there/old")" = "$inode 2" ]
(umask 027; "$IPCSTALL" "${run[@]}" --quiet --csv "$WORK/there/new")
check 'a new file has the mode that is asked for' "$(ls -la "$WORK/there")" [ "$(stat -c %a "$WORK/there/new")" = 640 ]
"$IPCSTALL" "${run[@]}" --json - >/dev/full 2>"$WORK/err"
rc=$?
[ $rc -eq 6 ] && [ "$(wc -l <"$WORK/err")" -eq 1 ] && pass 'full disk, json on standard output' || fail 'full disk, json on standard output' "$rc $(cat "$WORK/err")"
"$IPCSTALL" "${run[@]}" >&- 2>"$WORK/err"
rc=$?
[ $rc -eq 6 ] && [ "$(wc -l <"$WORK/err")" -eq 1 ] && pass 'closed standard output' || fail 'closed standard output' "$rc $(cat "$WORK/err")"

for args in --help -h help --version -V 'run --help' '--json-schema' man; do
	for out in /dev/full closed; do
		# shellcheck disable=SC2086
		if [ $out = closed ]; then "$IPCSTALL" $args >&- 2>"$WORK/err"; else "$IPCSTALL" $args >$out 2>"$WORK/err"; fi
		rc=$?
		check "$args, standard output $out" "$rc $(cat "$WORK/err")" eval '[ $rc -eq 6 ] && [ "$(wc -l <"$WORK/err")" -eq 1 ] && grep -q "standard output: " "$WORK/err"'
	done
done

python3 - "$WORK/port" <<'PY' &
import socket, sys, time
s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.bind(('127.0.0.1', s.getsockname()[1]))
open(sys.argv[1], 'w').write(str(s.getsockname()[1])); time.sleep(600)
PY
holder=$!
until_true test -s "$WORK/port"
port=$(cat "$WORK/port")
for mode in tcp udp; do
	refuses "$mode: port taken" 5 "port $port: Address already in use" --mode $mode --size 64 --port "$port"
done
kill $holder
wait $holder 2>/dev/null

if command -v setpriv >/dev/null && [ "$(id -u)" -eq 0 ]; then
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all "$IPCSTALL" --mode unix --size 64 --placement cross-awake >"$WORK/out" 2>"$WORK/err"
	rc=$?
	if [ "$(nproc)" -lt 2 ]; then
		echo 'skip no permission: one CPU'
	else
		[ $rc -eq 3 ] && [ "$(wc -l <"$WORK/err")" -eq 1 ] && pass 'no permission for the idle states' || fail 'no permission for the idle states' "$rc $(cat "$WORK/err")"
	fi
fi
finish
