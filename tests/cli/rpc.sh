# SPDX-License-Identifier: GPL-2.0-only
# Calls by gRPC and Thrift: their figures, their refusals, and a client of each library in Python beside them.
. "$(dirname "$0")/lib.sh"

# Refused before anything is started, so without the programs too.
while IFS='|' read -r pattern args; do
	# shellcheck disable=SC2086
	refuses "refused: $args" 2 "$pattern" $args
done <<'ROWS'
the most is 4194240 bytes|--mode grpc --size 4M
the most is 16383936 bytes|--mode thrift --size 16M
belongs to grpc, grpc-unix, thrift|--mode tcp --payload int
belongs to thrift|--mode tcp --transport framed
gRPC has one way to write|--mode grpc --transport framed --size 64
belongs to tcp|--mode grpc-unix --link veth
belongs to tcp|--mode grpc-unix --nagle
has a size of its own|--mode thrift --payload int --size 64
a stream carries strings|--mode grpc --payload struct --test throughput
a call always has an answer|--mode thrift --test oneway
leave it out|--mode grpc --ack message
leave it out|--mode thrift --outstanding 4
leave --rate out|--mode thrift --rate 100 --test latency
give --nagle too|--mode thrift --nagle-end client
give --placement cross|--mode grpc --placement spin
leave it out|--mode thrift --quickack
did you mean 'framed'|--mode thrift --transport frame
ROWS

# The program apart from its ends: no link back to where they were built.
mkdir -p "$WORK/alone/rpc"
cp "$(readlink -f "$IPCSTALL")" "$WORK/alone/ipcstall"
alone() { # NAME CODE PATTERN ARGUMENTS...
	local IPCSTALL=$WORK/alone/ipcstall
	refuses "$@"
}
if [ ! -e /usr/local/libexec/ipcstall/ipcstall-grpc ]; then
	alone 'the program is not there' 4 "ipcstall-grpc is not there; install the package ipcstall-rpc, or build it with 'make rpc'" --mode grpc --size 64
fi
ends=$(dirname "$(readlink -f "$IPCSTALL")")/rpc
printf '#!/bin/sh\nexit 8\n' >"$WORK/alone/rpc/ipcstall-grpc"
printf '#!/bin/sh\nexit 127\n' >"$WORK/alone/rpc/ipcstall-thrift"
chmod 755 "$WORK"/alone/rpc/*
alone 'a program of another version' 8 'has another version' --mode grpc --size 64 --no-trace
alone 'a library is missing' 4 'does not start: a library is missing' --mode thrift --size 64 --no-trace
chmod 777 "$WORK/alone/rpc/ipcstall-grpc"
alone 'a program that others may change' 3 'others can write to it' --mode grpc --size 64 --no-trace

# the distribution's, which its packages of the libraries belong to
PYTHON=/usr/bin/python3
some=
for mode in grpc thrift; do
	if [ -x "$ends/ipcstall-$mode" ]; then some="$some $mode"; else echo "skip --mode $mode: ipcstall-$mode is not built: make rpc says what that needs"; fi
done
[ -n "$some" ] || finish

# NAME EXPRESSION over p, the points of r.json, and c, what is said of their calls
holds() {
	says_true "$1" "p = json.load(open('$WORK/r.json'))['points']; c = [x['rpc'] for x in p]" "$2" \
		"[(x['mode'], x['test'], x['size'], x['messages'], x['latency'] and x['latency']['median'], x['rpc'], x['warnings']) for x in p]"
}
sound="all(x['messages'] == x['sent'] > 0 and not x['lost'] for x in p) and all(y['first_call_ns'] > y['connect_ns'] > 0 and y['marshal_ns'] > 0 and y['unmarshal_ns'] > 0 for y in c)"

modes=$some
[[ $some != *grpc* ]] || modes="$modes grpc-unix"
for mode in $modes; do
	works "$mode: latency and throughput" --mode "$mode" --size 1,1K,64K --duration 200ms --no-trace --json "$WORK/r.json" &&
		holds "$mode: figures" "$sound and len(p) == 6 and all(x['messages'] * x['size'] == x['bytes'] for x in p)"
	holds "$mode: marshalled, a message is as long as its string and some bytes" "all(x['size'] < y['marshalled_bytes'] < x['size'] + 20 for x, y in zip(p, c))"
	holds "$mode: plain messages beside" "all((y['plain_ns'] or 0) > 0 if x['test'] == 'latency' else (y['plain_bytes_per_s'] or 0) > 0 for x, y in zip(p, c))"
	holds "$mode: by the server's clock" "all($rates_agree for x in p if x['test'] == 'throughput')"
	for payload in int double struct; do
		works "$mode: $payload" --mode "$mode" --payload $payload --count 200 --no-trace --json "$WORK/r.json" &&
			holds "$mode: $payload: figures" "$sound and len(p) == 1 and c[0]['payload'] == '$payload' and 4 <= c[0]['marshalled_bytes'] < 200 and p[0]['messages'] == 200"
	done
done
for mode in $some; do
	most=4194240
	[ "$mode" = grpc ] || most=16383936
	works "$mode: the largest message" --mode "$mode" --size $most --count 3 --test latency --no-trace --json "$WORK/r.json" && holds "$mode: the largest message: figures" "$sound and p[0]['size'] == $most"
done
if [[ $some == *thrift* ]]; then
	for transport in buffered framed unbuffered; do
		works "thrift: $transport" --mode thrift --transport $transport --size 700 --test latency --count 100 --no-trace --json "$WORK/r.json" &&
			holds "thrift: $transport: figures" "$sound and c[0]['transport'] == '$transport'"
	done
	# 100 MB and more over one connection: what the library counts of it must not end it
	works 'thrift: 300 MB in one stream' --mode thrift --transport framed --size 64K --test throughput --bytes 300M --no-trace --json "$WORK/r.json" && holds 'thrift: 300 MB: all there' "p[0]['bytes'] >= 300 << 20"
fi
first=${some##* }
works 'IPv6, TCP options' --mode "$first" -6 --size 64 --count 100 --test latency --sndbuf 64K --mss 1000 --nagle --cc reno --no-trace --json "$WORK/r.json" &&
	holds 'TCP options reached the sockets' "all(e['nodelay'] is False and e['cc'] == 'reno' and e['mss'] < 1000 and e['sndbuf'] >= 128 << 10 for e in p[0]['socket'].values())"
works 'nodelay by default' --mode "$first" --size 64 --count 100 --no-trace --json "$WORK/r.json" && holds 'nodelay: told' "all(e['nodelay'] for x in p for e in x['socket'].values())"

python3 - <<PY >"$WORK/port" &
import signal, socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
print(s.getsockname()[1], flush=True)
signal.pause()
PY
jobs_to_end+=($!)
until_true test -s "$WORK/port"
ends_left() { # the pids of this tree's programs for an end
	local p
	for p in /proc/[0-9]*/exe; do [[ $(readlink "$p") != "$ends"/ipcstall-* ]] || cut -d/ -f3 <<<"$p"; done
}
no_end_left() { [ -z "$(ends_left)" ]; }
ended() { gone "$@" && no_end_left; }
for mode in $some; do
	refuses "$mode: a port that is taken" 5 'Address already in use; give another --port' --mode "$mode" --size 64 --no-trace --port "$(cat "$WORK/port")"
	check "$mode: a port that is taken: nothing is left" "$(ends_left)" until_true no_end_left
done

for mode in $some; do
	for victim in 1 2; do
		"$IPCSTALL" --mode "$mode" --size 64 --test latency --no-trace --duration 300s >"$WORK/out" 2>"$WORK/err" </dev/null &
		pid=$!
		until_true has_below $pid 2
		w=$(below $pid)
		# shellcheck disable=SC2086 # two words
		until_true at_work $w
		kill -9 "$(cut -d' ' -f$victim <<<"$w")"
		wait $pid
		rc=$?
		# shellcheck disable=SC2086
		if [ $rc -ne 7 ] || [ "$(wc -l <"$WORK/err")" -ne 1 ] || ! grep -q 'killed by signal 9' "$WORK/err"; then
			fail "$mode: end $victim killed" "exit code $rc: $(cat "$WORK/err")"
		else
			check "$mode: end $victim killed" 'an end is left' ended $w
		fi
	done
done

if unshare -n true 2>/dev/null; then
	works 'over a link' --mode "$first" --link veth,rate=100mbit --size 64K --test throughput --duration 300ms --no-trace --json "$WORK/r.json" &&
		holds 'over a link: its rate shows' "p[0]['throughput']['bytes_per_s'] < 14e6 and $sound"
fi

port=$(free_port)
"$IPCSTALL" server --listen 127.0.0.1:$port >"$WORK/server" 2>&1 </dev/null &
jobs_to_end+=($!)
until_true grep -q port "$WORK/server"
for mode in $some; do
	works "$mode: the other end elsewhere" --mode "$mode" --connect 127.0.0.1:"$port" --size 1K --duration 150ms --no-trace --json "$WORK/r.json" &&
		holds "$mode: the other end elsewhere: figures" "$sound and p[1]['throughput']['bytes_per_s'] > 0"
done

# The ledger of the connection below: with Nagle's algorithm, each write but the first of a call waits for the other end's delayed ACK.
if "$IPCSTALL" check >/dev/null 2>&1 && [[ $some == *thrift* ]]; then
	works 'the ledger below a call' --mode thrift --transport unbuffered --nagle --payload struct --test latency --count 20 --trace --json "$WORK/r.json" -q &&
		holds 'the ledger below a call: Nagle' "p[0]['ledger']['findings'][0]['cause'] == 'nagle' and p[0]['ledger']['findings'][0]['blamed'] == 'peer delayed ACK'"
fi

# The same call by the same library's Python: it is slower by what the interpreter computes, and by no more than twice.
for mode in $some; do
	"$PYTHON" "$here/tests/cli/rpc_client.py" "$mode" --check 2>"$WORK/why" || { echo "skip a client of $mode in Python: $(tail -1 "$WORK/why")"; continue; }
	# Python's Thrift writes a message whole, C++'s buffer holds 512 bytes of it: framed does as Python does
	whole=()
	[ "$mode" != thrift ] || whole=(--transport framed)
	"$IPCSTALL" --mode "$mode" "${whole[@]}" --size 1K --test latency --duration 500ms --no-trace -q --json "$WORK/r.json" || continue
	"$PYTHON" "$here/tests/cli/rpc_client.py" "$mode" "$here/user/workloads/rpc/echo.thrift" >"$WORK/python.json" 2>"$WORK/why" || { fail "$mode: a client in Python" "$(tail -1 "$WORK/why")"; continue; }
	says_true "$mode: agrees with a client in Python" "y = json.load(open('$WORK/python.json')); ours = 2 * json.load(open('$WORK/r.json'))['points'][0]['latency']['median']" \
		"ours / 2 < y['round_trip_ns'] < 2 * ours + 2 * y['interpreter_ns']" "(ours, y)"
done
finish
