# SPDX-License-Identifier: GPL-2.0-only
# Every transport and test runs, its figures hang together, and a result is repeated from its own file.
. "$(dirname "$0")/lib.sh"
short=(--duration 60ms --no-trace)

# NAME PYTHON-EXPRESSION over `d`, the document in $WORK/r.json
holds() { says_true "$1" "d = json.load(open('$WORK/r.json')); p = d['points']" "$2" 'json.dumps(p[0])'; }

for mode in pipe socketpair unix unix-seqpacket unix-dgram tcp udp; do
	works "$mode" --mode $mode --size 1,64,64K,256K "${short[@]}" --json "$WORK/r.json" &&
		holds "$mode: figures" "len(p) == 8 and all(x['messages'] > 0 and x['sent'] == x['messages'] + x['lost'] and
			(x['test'] != 'latency' or 0 < x['latency']['min'] <= x['latency']['median'] <= x['latency']['max']) and
			(x['test'] != 'throughput' or $rates_agree) for x in p)"
done
works 'a run too short for a rate' --mode tcp --test throughput --count 100 --size 64 --trials 5 --json "$WORK/r.json" &&
	holds 'what one receive took at once has no rate' "p[0]['throughput']['bytes_per_s'] is None and not p[0]['throughput']['trials'] or p[0]['throughput']['bytes_per_s'] < 2.1 * p[0]['throughput']['acked_bytes_per_s']"
works 'tcp over IPv6' --mode tcp -6 --size 64 "${short[@]}" --json "$WORK/r.json"
works 'udp, datagrams of which the last has a byte' --mode udp --test latency --size 65507,65508,65514,65515,131014,131015 "${short[@]}" --json "$WORK/r.json" && holds 'udp, datagrams of which the last has a byte: none is lost' "all(x['lost'] == 0 and x['messages'] for x in p)"
works 'udp over IPv6, several datagrams' --mode udp -6 --size 128K "${short[@]}" --json "$WORK/r.json"
for placement in same none; do
	works "placement $placement" --mode unix --size 64 --placement $placement "${short[@]}"
done
if [ "$(nproc)" -ge 2 ]; then
	awake=$([ -w /dev/cpu_dma_latency ] && echo cross-awake)
	for placement in cross $awake spin; do
		works "placement $placement" --mode tcp --size 64 --placement $placement "${short[@]}" --json "$WORK/r.json" &&
			holds "placement $placement is in the result" "all(x['placement'] == '$placement' for x in p)"
	done
fi

works 'connect' --mode tcp --test connect "${short[@]}" --json "$WORK/r.json" && holds 'connect: one point' "len(p) == 1 and p[0]['latency']['median'] > 500"
holds 'connect: its parts, as TCP measured them, are within it' "(lambda l: 0 <= l['syn']['median'] <= l['median'] and l['synack']['median'] <= 2 * l['median'] and l['synack']['n'] == l['n'])(p[0]['latency'])"
works 'connect, unix' --mode unix --test connect "${short[@]}"
works 'exactly 500 messages' --mode tcp --test latency --size 64 --count 500 --json "$WORK/r.json" && holds 'count' "p[0]['n'] == 500 and p[0]['sent'] == 500"
works 'exactly 1M bytes' --mode pipe --test throughput --size 4K --bytes 1M --json "$WORK/r.json" && holds 'bytes' "p[0]['bytes'] == 1048576 and p[0]['messages'] == 256"
# The trials together are all that the rate is of. The warm-up tells how long one should be: a host that is busy just then makes too few of them.
mean="sum(a * b for a, b in zip(t['trials'], t['trial_ns'])) / sum(t['trial_ns'])"
whole="(lambda t: 5 <= len(t['trials']) <= 80 and len(t['trials']) == len(t['trial_ns']) and t['lo'] <= t['bytes_per_s'] <= t['hi'] and abs($mean / t['bytes_per_s'] - 1) < 1e-6)(p[0]['throughput'])"
measured=(--mode tcp --test throughput --size 64K --bytes 256M --no-trace --json "$WORK/r.json")
undisturbed() { python3 -c "import json, sys; p = json.load(open('$WORK/r.json'))['points']; t = p[0]['throughput']; sys.exit(t['lo'] is None or not $whole)"; }
works 'a number of bytes has its trials too' "${measured[@]}" && { undisturbed || "$IPCSTALL" "${measured[@]}" >/dev/null 2>&1; } &&
	holds 'bytes: trials, and an interval about the figure' "$whole"
works 'an ack for each message' --mode unix --test throughput --ack message --size 1K "${short[@]}" --json "$WORK/r.json" &&
	holds 'ack: a time for each message' "p[0]['latency']['n'] == p[0]['messages'] and p[0]['ack'] == 'message'"
works 'a window' --mode tcp --test throughput --ack message --outstanding 16 --size 64 "${short[@]}" --json "$WORK/r.json" && holds 'window' "p[0]['messages'] > 100"
interval="len(p[0]['throughput']['trials']) == 7 and p[0]['throughput']['lo'] <= p[0]['throughput']['bytes_per_s'] <= p[0]['throughput']['hi']"
works 'a window, trials' --mode unix --test throughput --ack message --outstanding 16 --size 1K --trials 7 "${short[@]}" --json "$WORK/r.json" && holds 'window: as many trials as asked for, and an interval' "$interval"
works 'a window, exactly 500 messages' --mode pipe --test throughput --ack message --outstanding 16 --size 64 --count 500 --no-trace --json "$WORK/r.json" && holds 'window: count' "p[0]['messages'] == 500 and p[0]['latency']['n'] == 500"
for mode in unix unix-seqpacket unix-dgram; do
	works "a window, $mode" --mode $mode --test throughput --ack message --outstanding 8 --size 64 --count 500 --no-trace --timeout 5s --json "$WORK/r.json" && holds "window, $mode: count" "p[0]['messages'] == 500 and p[0]['latency']['n'] == 500"
	refuses "a window, $mode: more answers than it has room for" 2 'give [0-9]* at most' --mode $mode --test throughput --ack message --outstanding 600 --size 64 --count 2000 --no-trace
done
works 'a window of messages in pieces' --mode unix-dgram --test throughput --ack message --outstanding 3 --size 300K --count 30 --no-trace --timeout 5s
works 'a window wider than the count' --mode pipe --test throughput --ack message --outstanding 64 --size 64 --count 5 --no-trace --json "$WORK/r.json" && holds 'wide window: count, and why there is no interval' "p[0]['messages'] == 5 and p[0]['throughput']['lo'] is None and any('no interval' in w and 'more messages' in w for w in p[0]['warnings'])"
# What is paced at 1M/s runs at that, however short: the last message waits 40 ms for a delayed ACK (nothing follows it), which is not the path's rate.
works 'a window on a slow path' --mode tcp --test throughput --ack message --outstanding 8 --size 4K --pacing 1M --duration 300ms --no-trace --json "$WORK/r.json" &&
	holds 'window: its rate is the path'"'"'s' "0.96 < p[0]['throughput']['bytes_per_s'] / 2 ** 20 < 1.01 and p[0]['elapsed_ns'] > 3e8"
works 'a schedule with answers' --mode unix --test throughput --ack message --size 1K --rate 200 --trials 7 --duration 200ms --no-trace --json "$WORK/r.json" &&
	holds 'schedule with answers: the rate is the one asked for' "abs(p[0]['throughput']['bytes_per_s'] / 204800 - 1) < 0.01 and $interval"
works 'a schedule' --mode tcp --test latency --size 64 --rate 2000 --duration 200ms --json "$WORK/r.json" &&
	holds 'schedule: as many messages as the rate says' "395 <= p[0]['n'] <= 405"
# Whoever waits for its turn waits all of that, and half of the round trip after it: the last of 60 that take 5 ms each, meant for the first 59 ms.
works 'a schedule that is too fast' --mode unix --test latency --size 64 --rate 1000 --reader-pause 5ms --count 60 --warmup 8 --no-trace --json "$WORK/r.json" &&
	holds 'schedule: the wait before the start is not halved' "abs(p[0]['latency']['max'] / (p[0]['elapsed_ns'] - 59e6) - 1) < 0.03 and p[0]['late'] == 59"
works 'a schedule slower than the patience for an answer' --mode unix --test latency --size 64 --rate 0.7 --count 3 --timeout 1s --no-trace --json "$WORK/r.json" &&
	holds 'slow schedule: at its own moments' "p[0]['n'] == 3 and 2.8e9 < p[0]['elapsed_ns'] < 3.2e9"
works 'a one-way schedule' --mode udp --test oneway --size 64 --rate 2000 --duration 200ms --json "$WORK/r.json" &&
	holds 'one-way schedule' "395 <= p[0]['sent'] <= 405"
# Both directions and the round trip come from the same stamps: what they say must be the same to a rounding.
for mode in unix tcp pipe; do
	works "one way, $mode" --mode $mode --test oneway --size 64 --duration 200ms --json "$WORK/r.json" &&
		holds "one way, $mode: there and back fill the whole time" "(lambda l: abs((l['there']['mean'] + l['back']['mean']) * l['n'] / p[0]['elapsed_ns'] - 1) < 0.001)(p[0]['latency'])"
done
# Against half a round trip, measured apart: as near as runs of the same thing are to each other, and 5 %, since one stamp a message is more.
# Of means, which add: the median of both ways' sum is no sum of medians.
for i in 1 2 3 4 5 6 7; do
	"$IPCSTALL" --mode unix --test latency,oneway --size 64 --duration 100ms --no-trace --quiet --json "$WORK/way$i.json"
done
cp "$WORK/way1.json" "$WORK/r.json"
holds 'one way against half a round trip, as tight as their own spread' "(lambda a, b: abs(b[3] / a[3] - 1) < 0.05 + max((a[5] - a[1]) / a[3], (b[5] - b[1]) / b[3]))(
	*[sorted(f(json.load(open('$WORK/way%d.json' % i))['points']) for i in range(1, 8))
	for f in (lambda q: q[0]['latency']['mean'],
	          lambda q: sum(q[1]['latency'][way]['mean'] for way in ('there', 'back')) / 2)])"
# A schedule that leaves time between messages sees the same path; what it waited for the CPU is in the upper quantiles only.
works 'schedule against closed loop' --mode unix --test latency --size 64 --rate 20k --duration 400ms --json "$WORK/r.json" &&
	holds 'schedule: the fastest trips are those of the closed loop' "0.7 < p[0]['latency']['min'] / json.load(open('$WORK/way1.json'))['points'][0]['latency']['min'] < 1.6"

for engine in 'udp mmsg 64' 'udp gso 1K' 'pipe splice 64K' 'pipe vmsplice 64K' 'tcp zerocopy 64K'; do
	read -r mode name size <<<"$engine"
	works "engine $name" --mode "$mode" --engine "$name" --size "$size" "${short[@]}" --json "$WORK/r.json" &&
		holds "engine $name: bulk arrives" "len(p) == 1 and p[0]['test'] == 'throughput' and p[0]['throughput']['bytes_per_s'] > 1e6 and p[0]['sent'] == p[0]['messages'] + p[0]['lost']"
done
works 'engine mmsg: a count that is no multiple of the batch' --mode udp --engine mmsg --size 64 --count 1001 --json "$WORK/r.json" && holds 'engine mmsg: count' "p[0]['sent'] == 1001"

# The stall that everything here is about: header and body in two writes wait for a delayed ACK, unless NODELAY or MSG_MORE.
stall=(--no-trace --mode tcp --test throughput --ack message --pattern header=16 --size 1000 --count 20 --warmup 0)
works 'two writes' "${stall[@]}" --json "$WORK/r.json" && holds 'two writes stall for a delayed ACK' "p[0]['latency']['median'] > 30e6"
works 'two writes, NODELAY' "${stall[@]}" --nodelay --json "$WORK/r.json" && holds 'NODELAY cures it' "p[0]['latency']['median'] < 5e6"
works 'two writes, MSG_MORE' "${stall[@]}" --more --json "$WORK/r.json" && holds 'MSG_MORE cures it' "p[0]['latency']['median'] < 5e6"
works 'two writes, QUICKACK' "${stall[@]}" --quickack --json "$WORK/r.json" && holds 'QUICKACK cures it' "p[0]['latency']['median'] < 5e6"

works 'options' --mode tcp --size 64 --sndbuf 100K --rcvbuf 100K --mss 600 --trials 7 "${short[@]}" --json "$WORK/r.json" &&
	holds 'effective options are in the result' "p[0]['socket']['client']['sndbuf'] == 204800 and p[0]['socket']['client']['mss'] <= 600 and d['options']['sndbuf'] == 102400"
cp "$WORK/r.json" "$WORK/first.json"
works 'repeat' --repeat "$WORK/first.json" --json "$WORK/r.json" --quiet --mean && holds 'repeat: same options' "d['options'] == json.load(open('$WORK/first.json'))['options']"
works 'pipe size' --mode pipe --size 64K --pipe-size 1M "${short[@]}" --json "$WORK/r.json" && holds 'pipe size is in the result' "p[0]['socket']['client']['pipe_size'] == 1048576"

tried="all(x['tuned']['chosen'] in [{k: v for k, v in y.items() if k != 'score'} for y in x['tuned']['tried']] and x['tuned']['tried'][0]['score'] for x in p)"
for mode in tcp unix pipe udp; do # of one both tests, the dearer one of the others
	works "tuned, $mode" --mode $mode $([ $mode = tcp ] || echo --test throughput) --size 32K --tuned "${short[@]}" --json "$WORK/r.json" &&
		holds "tuned, $mode: what was chosen was tried, the kernel's own choice first" "len(p) == ('$mode' == 'tcp') + 1 and len(p[-1]['tuned']['tried']) >= 4 and $tried"
done
works 'tuned: a knob that is given' --mode pipe --test throughput --size 4K --pipe-size 128K --tuned "${short[@]}" --json "$WORK/r.json" &&
	holds 'tuned: is left alone' "len(p[0]['tuned']['tried']) == 1 and p[0]['socket']['client']['pipe_size'] == 131072"

works 'csv' --mode pipe --size 64,1K "${short[@]}" --csv "$WORK/r.csv" --quiet && [ "$(wc -l <"$WORK/r.csv")" -eq 5 ] && pass 'csv: a line a point' || fail 'csv: a line a point' "$(wc -l <"$WORK/r.csv") lines"
works 'raw' --mode pipe --size 64 --test latency --count 300 --raw "$WORK/r.raw" && [ "$(grep -vc '^#' "$WORK/r.raw")" -eq 300 ] && pass 'raw: a line a sample' || fail 'raw: a line a sample' 'wrong count'
works 'quiet' --mode pipe --size 64 "${short[@]}" --quiet && { [ ! -s "$WORK/out" ] && pass 'quiet prints nothing' || fail 'quiet prints nothing' "$(head -1 "$WORK/out")"; }

# On a narrow terminal the least important columns go, and it is said which; what was asked for stays.
cat >"$WORK/terminal.py" <<'END'
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if not pid:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
    os.execv(sys.argv[2], sys.argv[2:])
try:
    while piece := os.read(fd, 4096):
        sys.stdout.write(piece.decode().replace("\r", ""))
except OSError:
    pass
END
table=(--mode tcp --size 64,512K --test latency,throughput --ack message --count 200 --no-trace --mean)
python3 "$WORK/terminal.py" 60 "$IPCSTALL" "${table[@]}" >"$WORK/pty"
COLUMNS=60 "$IPCSTALL" "${table[@]}" >"$WORK/columns"
"$IPCSTALL" "${table[@]}" >"$WORK/wide"
says_true 'tables fit a terminal of 60 columns' "import re
def tables(name): return [b for b in re.split('\n\n', open('$WORK/' + name).read().replace('\x1b[K', '')) if 'size  ' in b]
def rows(b): return b.split('\n')[1:]
narrow, wide = tables('pty') + tables('columns'), tables('wide')
gone = [row.split(': ')[1].split(', ') for b in narrow for row in rows(b) if row.startswith('no room for ')]" \
	"len(narrow) == 4 and len(gone) == 4 and all(len(row) <= 60 for b in narrow for row in rows(b)) and any(len(row) > 60 for b in wide for row in rows(b)) and 'q1' in gone[0] and 'seconds' in gone[1] and
	all(not re.search(' %s( |\$)' % re.escape(c), rows(b)[0]) for b, names in zip(narrow, gone) for c in names) and 'mean' in rows(narrow[0])[0]" \
	'(gone, narrow)'

if python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null; then
	"$IPCSTALL" --json-schema >"$WORK/schema.json"
	for args in '--mode tcp --test latency,throughput,oneway,connect' '--mode udp --size 1,128K' '--mode pipe --size 4'; do
		# shellcheck disable=SC2086
		"$IPCSTALL" $args --size 64 --duration 60ms --json "$WORK/r.json" --quiet
		out=$(python3 -c "
import json, jsonschema
s = json.load(open('$WORK/schema.json')); v = jsonschema.Draft202012Validator(s); v.check_schema(s)
d = json.load(open('$WORK/r.json')); [print(e.json_path, e.message[:200]) for e in v.iter_errors(d)]
d['points'][0]['elapsed_ns'] = 'long'; v.is_valid(d) and print('a wrong document passes')" 2>&1)
		[ -z "$out" ] && pass "schema: $args" || fail "schema: $args" "$out"
	done
else
	echo 'skip schema: python3-jsonschema 4 is not installed'
fi
finish
