# SPDX-License-Identifier: GPL-2.0-only
# stage: core
# What clock, syscall and machine say of this machine hangs together and agrees with what the kernel says of itself.
. "$(dirname "$0")/lib.sh"
CLOCK=no # read by fail()

# NAME PYTHON-EXPRESSION over `d`, the document in $WORK/r.json
holds() { says_true "$1" "d = json.load(open('$WORK/r.json'))" "$2" 'json.dumps(d)'; }
head="d['schema_version'] == 1 and d['build']['version'] and d['machine']['kernel'] == '$(uname -r)' and d['machine']['cpus_online'] == $(nproc --all)"

works 'clock' clock --window 300ms --json "$WORK/r.json" && {
	holds 'clock: its kind, and where it ran' "d['kind'] == 'clock' and $head"
	holds 'clock: a step, a cost and the resolution of each' "{'CLOCK_MONOTONIC', 'CLOCK_MONOTONIC_RAW', 'CLOCK_REALTIME'} <= {c['name'] for c in d['clocks']} and
		all(0 < c['step_ns'] < 1e6 and 0 < c['cost_min_ns'] <= c['cost_median_ns'] < 1e5 for c in d['clocks'])"
	holds 'clock: getres as Python sees it' "all(c['getres_ns'] == time.clock_getres(getattr(time, c['name'])) * 1e9 for c in d['clocks'] if c['name'].startswith('CLOCK_'))"
	holds 'clock: the flags as in /proc/cpuinfo' "all(d['tsc'][f] == (f in open('/proc/cpuinfo').read().split()) for f in ('constant_tsc', 'nonstop_tsc', 'rdtscp'))"
	holds 'clock: the source as in sysfs' "d['tsc']['clocksource'] == open('/sys/devices/system/clocksource/clocksource0/current_clocksource').read().strip()"
	holds 'clock: which one stamps, and why' "d['clock']['stamp'] in ('tsc', 'monotonic') and d['clock']['why']"
	holds 'clock: a TSC in use has a frequency with its error' "d['clock']['stamp'] != 'tsc' or (5e8 < d['clock']['hz'] < 1e10 and 0 < d['clock']['relative_error'] < 1e-3 and
		{'rdtsc', 'rdtscp'} <= {c['name'] for c in d['clocks']})"
	for word in CLOCK_MONOTONIC_RAW 'getres ns' 'smallest step ns' constant_tsc 'Stamps in timed loops'; do
		grep -q "$word" "$WORK/out" && pass "clock: the screen says $word" || fail "clock: the screen says $word" "$(head -3 "$WORK/out")"
	done
}
first=$(python3 -c "import json; print(json.load(open('$WORK/r.json'))['clock'].get('hz') or 0)")
works 'clock, again' clock --window 300ms --json "$WORK/r.json" && holds 'clock: two calibrations agree to 100 ppm' "abs((d['clock'].get('hz') or 0) - $first) <= 1e-4 * $first"
refuses 'clock: a window too short' 2 'out of range; give 1ms' clock --window 1us
"$IPCSTALL" clock --window 10ms --json - >/dev/full 2>"$WORK/err"
rc=$?
[ $rc -eq 6 ] && [ "$(wc -l <"$WORK/err")" -eq 1 ] && pass 'clock: a disk that is full' || fail 'clock: a disk that is full' "$rc $(cat "$WORK/err")"

works 'syscall' syscall --trials 200 --json "$WORK/r.json" && {
	holds 'syscall: its kind, and where it ran' "d['kind'] == 'syscall' and $head"
	holds 'syscall: quartiles in order' "{'getpid', 'getppid', 'getuid'} <= {c['name'] for c in d['calls']} and
		all(0 < s['min'] <= s['q1'] <= s['median'] <= s['q3'] <= s['max'] and s['n'] == 200 for c in d['calls'] for s in (c['raw_ns'], c['libc_ns']))"
	holds 'syscall: a raw getpid enters the kernel' "[c for c in d['calls'] if c['name'] == 'getpid'][0]['raw_ns']['min'] > 20"
	holds 'syscall: the clock is answered in user space wherever the vDSO has it' "any(c['answered_in_user_space'] for c in d['calls']) or d['machine']['clocksource'] not in ('tsc', 'kvm-clock')"
}
refuses 'syscall: trials out of range' 2 'out of range' syscall --trials 1

works 'machine' machine --json "$WORK/r.json" && {
	holds 'machine: its kind, and where it ran' "d['kind'] == 'machine' and $head"
	holds 'machine: every rung is known or says why not' "len(d['ladder']) >= 10 and all((r['known'] and r['n'] and 0 < r['min_ns'] <= r['median_ns'] <= r['max_ns']) or (not r['known'] and r['note'] and
		r['median_ns'] is None) for r in d['ladder'])"
	holds 'machine: the rungs of memory go up' "(lambda v: v['l1'] <= v['l2'] <= v['memory'])({k: [r['min_ns'] for r in d['ladder'] if r['name'] == k and r['known']][0] for k in ('l1', 'l2', 'memory')})"
}
if [ "$(stat -f -c %T /dev/shm)" = tmpfs ]; then
	works 'machine: a directory in memory' machine --dir /dev/shm --json "$WORK/r.json" &&
		holds 'machine: is why the disk is unknown' "all(not r['known'] and 'in memory' in r['note'] for r in d['ladder'] if r['name'].startswith('disk'))"
fi
refuses 'machine: a directory that is not there' 6 'dir /nonexistent: No such file' machine --dir /nonexistent
refuses 'machine: a directory that is none' 6 'Not a directory' machine --dir "$0"

# Found out at once, not after seconds of measuring.
for command in clock syscall machine 'diagnose -m pipe'; do
	t0=$(date +%s%N)
	# shellcheck disable=SC2086
	refuses "$command: a folder that is not there" 6 '/nowhere/x: No such file' $command --json /nowhere/x
	took=$((($(date +%s%N) - t0) / 1000000))
	check "$command: that is said before it measures" "after $took ms" [ $took -lt 800 ]
done
finish
