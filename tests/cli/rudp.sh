# SPDX-License-Identifier: GPL-2.0-only
# Reliable UDP: everything arrives whatever is dropped, and what is dropped costs what the theory says.
. "$(dirname "$0")/lib.sh"

# NAME PYTHON-EXPRESSION over p, the points of $WORK/r.json
holds() {
	says_true "$1" "from math import sqrt
d = json.load(open('$WORK/r.json')); p = d['points']; r = [x['reliable'] for x in p]" "$2" \
		"[(x['test'], x['sent'], x['messages'], x['reliable'], (x['latency'] or {}).get('mean')) for x in p]"
}
all_there="all(x['messages'] == x['sent'] > 0 and not x['lost'] for x in p) and all(y['transmissions'] == y['packets'] + y['retransmits'] for y in r)"

works 'nothing dropped' --mode rudp --size 1,64,64K,256K --duration 60ms --json "$WORK/r.json" &&
	holds 'nothing dropped: figures' "$all_there and len(p) == 8 and all(y['dropped'] == 0 for y in r) and all(y['packets'] >= x['messages'] * (x['size'] // 65500 + 1) for x, y in zip(p, r))"
if [ "$(id -u)" -eq 0 ]; then # others may be held to net.core.rmem_max
	works 'a window fits the receive buffer' --mode rudp --size 20000 --window 64 --count 3000 --rto 200ms --json "$WORK/r.json" &&
		holds 'a window loses nothing by itself' "$all_there and all(y['arrivals'] == y['transmissions'] for y in r)"
fi
works 'a buffer too small for the window' --mode rudp --size 20000 --window 64 --rcvbuf 30K --count 2000 --rto 2ms --test throughput --json "$WORK/r.json" &&
	holds 'a buffer too small: what it loses is told' "$all_there and (r[0]['arrivals'] < r[0]['transmissions']) == any('receive buffer' in w for w in p[0]['warnings'])"
works 'IPv6' --mode rudp -6 --size 64 --window 4 --duration 60ms
for window in 1 2 32; do
	works "drop 30 %, window $window" --mode rudp --size 64,150000 --drop 30 --rto 2ms --window $window --count 150 --json "$WORK/r.json" &&
		holds "drop 30 %, window $window: all arrive" "$all_there and all(y['dropped'] > 10 and abs(y['loss'] - 0.3) < 0.12 for y in r)"
done

# A message waits rto * (tries - 1) longer; tries are geometric: mean p/(1-p), deviation sqrt(p)/(1-p). The slack of 0.3 ms
# in 5 ms for each repetition is for timers that come late on a busy machine; three attempts, for one that stood still.
agrees() { # DROP
	python3 -c "
import json, sys
from math import sqrt
x = json.load(open('$WORK/r.json'))['points'][0]; q, n = $1 / 100, 1500
extra, want, sigma = (x['latency']['mean'] - x['latency']['min']) / 1e6, 5 * q / (1 - q), 5 * sqrt(q) / (1 - q) / sqrt(n)
over, spread = x['reliable']['over_rto'], sqrt(n * q * (1 - q))
if not want - 4 * sigma < extra < want * 1.06 + 4 * sigma: sys.exit('%.3f ms longer on average, not %.3f +- %.3f' % (extra, want, 4 * sigma))
if abs(over - n * q) > 4 * spread + 15: sys.exit('%d over the timeout, not %.0f +- %.0f' % (over, n * q, 4 * spread))"
}
for drop in 10 30; do
	for _ in 1 2 3; do
		out=$("$IPCSTALL" --mode rudp --size 64 --test latency --drop $drop --rto 5ms --count 1500 --warmup 0 --quiet --json "$WORK/r.json" 2>&1 && agrees $drop 2>&1) && break
	done && pass "waits at drop $drop %: as in theory" || fail "waits at drop $drop %: as in theory" "$out"
done

seeded=(--mode rudp --size 64 --test latency --drop 20 --rto 40ms --count 60 --warmup 0 --json "$WORK/r.json" --quiet)
works 'a seed' "${seeded[@]}" --seed 7 && cp "$WORK/r.json" "$WORK/first.json"
works 'the seed again' "${seeded[@]}" --seed 7 && holds 'a seed drops the same' "r[0]['dropped'] == json.load(open('$WORK/first.json'))['points'][0]['reliable']['dropped'] > 0"

speed() { python3 -c "import json; print(json.load(open('$WORK/r.json'))['points'][0]['throughput']['bytes_per_s'])"; }
works 'stop and wait' --mode rudp --size 20000 --test throughput --drop 20 --rto 5ms --count 300 --json "$WORK/r.json" --quiet && one=$(speed)
works 'a window of 64' --mode rudp --size 20000 --test throughput --drop 20 --rto 5ms --count 3000 --window 64 --json "$WORK/r.json" --quiet && many=$(speed)
python3 -c "import sys; sys.exit(not ${many:-0} > 2.5 * ${one:-1})" && pass 'a window pays' || fail 'a window pays' "$one B/s without, $many B/s with"

if "$IPCSTALL" --mode rudp --size 64 --link veth,loss=5% --count 1 --quiet 2>/dev/null; then
	works 'a lossy link' --mode rudp --size 64,20000 --link veth,loss=5% --rto 3ms --window 8 --count 400 --json "$WORK/r.json" &&
		holds 'a lossy link: acknowledgements are lost too, and all arrive once' "$all_there and sum(y['duplicates'] for y in r) > 0"
else
	echo 'skip a lossy link: this kernel or user cannot make one'
fi

while IFS='|' read -r pattern args; do
	# shellcheck disable=SC2086
	refuses "refused: $args" 2 "$pattern" $args
done <<'ROWS'
out of range; give 0 to 95|--mode rudp --drop 96
out of range; give 0 to 95|--mode rudp --drop -1
not a number|--mode rudp --drop some
1|--mode rudp --window 0
4096|--mode rudp --window 5000
out of range|--mode rudp --rto 1us
not a time|--mode rudp --rto 5parsecs
belongs to rudp|--mode udp --drop 5
belongs to rudp|--mode tcp --window 5
belongs to rudp|--mode pipe --rto 5ms
give --window|--mode rudp --outstanding 4
leave it out|--mode rudp --ack message
leave --rate out|--mode rudp --rate 100 --test latency
give --test latency|--mode rudp --test oneway
ROWS

"$IPCSTALL" --mode rudp --size 64 --duration 300s >"$WORK/out" 2>"$WORK/err" </dev/null &
pid=$!
until_true has_below $pid 2
w=$(below $pid)
# shellcheck disable=SC2086 # two words
until_true at_work $w
kill -9 "${w%% *}"
t0=$(date +%s%N)
wait $pid
rc=$?
took=$((($(date +%s%N) - t0) / 1000000))
if [ $rc -eq 7 ] && [ $took -lt $SOON ]; then pass 'the other end killed'; else fail 'the other end killed' "exit code $rc after $took ms: $(cat "$WORK/err")"; fi
finish
