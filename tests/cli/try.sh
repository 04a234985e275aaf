#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# stage: all
# shellcheck disable=SC2154,SC2034 # lib.sh has `here`
# `ipcstall try`: a fix is proven or refuted on a running program, and every option is as it was, whatever ends the tool.
. "$(dirname "$0")/lib.sh"
needs_ledger
cd "$WORK" || exit 70

start_target() { # KIND: its client's pid in CLIENT
	rm -f pids status
	python3 "$here/tests/cli/try_target.py" "$1" pids status &
	jobs_to_end+=($!)
	until_true test -s pids && until_true test -s status || { fail "target $1" "it does not talk"; finish; }
	read -r CLIENT SERVER <pids
}
end_target() { kill "$CLIENT" 2>/dev/null; wait "$CLIENT" 2>/dev/null; }
nodelay() { cut -d' ' -f1 status; }
is_intact() { [ "$(cut -d' ' -f4 status)" = 1 ]; }
# after its next line: the one there now may be older than what is asked about
option_is() {
	local now
	now=$(stat -c %i status)
	until_true eval "[ \"\$(stat -c %i status)\" != $now ]"
	[ "$(nodelay)" = "$1" ]
}
# of this test's own: another user's may run
guards_before=$(pgrep -x ipcstall-guard | sort)
no_guard() { [ -z "$(comm -13 <(echo "$guards_before") <(pgrep -x ipcstall-guard | sort))" ]; }
tried() { # NAME CODE ARGUMENTS...: the document in t.json
	local name=$1 code=$2 rc
	shift 2
	"$IPCSTALL" try "$@" --json t.json >out 2>err
	rc=$?
	check "$name exits with $code" "exit code $rc: $(head -c 300 err)" [ $rc -eq "$code" ]
}
says() { says_true "$1" "d=json.load(open('t.json'))" "$2" "{k: d[k] for k in d if k not in ('machine', 'trace', 'tool')}"; }

refuses 'try without a target' 2 'no target given' try --yes
refuses 'try does not change without being told to' 2 'try: .*--yes, or --dry-run' try -p $$
refuses 'try knows its fixes' 2 "--fix 'nodelya': .*did you mean 'nodelay'" try -p $$ --dry-run --fix nodelya

start_target client
tried 'a dry run' 0 -p "$CLIENT" --dry-run
check 'a dry run says what it would set' "$(cat err)" grep -q 'try .*nodelay: sets TCP_NODELAY on 1 descriptor' err
check 'a dry run sets nothing' "$(cat status)" option_is 0
says 'a dry run has no window' "d['outcome'] == 'declined' and not any(t['windows'] for t in d['trials'])"

# another user, who may trace: the socket is there, and out of its reach
if command -v setpriv >/dev/null && [ "$(id -u)" -eq 0 ]; then
	cp "$(readlink -f "$IPCSTALL")" "$WORK/ipcstall"
	chmod 755 "$WORK" "$WORK/ipcstall"
	port=$(ss -tnpH state established | sed -nE "/pid=$CLIENT,/s/^\S+ +\S+ +\S+ +\S+:([0-9]+) .*/\1/p")
	as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=+bpf,+perfmon --ambient-caps=+bpf,+perfmon "$WORK/ipcstall" "$@"; }
	as_nobody try -P "$port" --yes -q 2>err
	rc=$?
	check 'without the right to the descriptors it exits with 3' "exit code $rc: $(cat err)" [ $rc -eq 3 ]
	check 'and says so' "$(cat err)" grep -q "may not reach the descriptors of process $CLIENT: .*; run as root" err
fi

tried 'TCP_NODELAY' 0 -p "$CLIENT" --yes
says 'TCP_NODELAY is proven' "(lambda t: t['outcome'] == 'proven' and t['rate']['low'] > 10 and t['stall_share'][0] > 0.8 and t['stall_share'][1] < 0.2)(d['trials'][0])"
says 'eight windows with it and sixteen without, each with the ledger and then without' "[sum((w['ledger'], w['fixed']) == x for w in d['trials'][0]['windows']) for x in ((True, True), (True, False), (False, True), (False, False))] == [8, 16, 8, 16]"
says 'what nobody saw is unknown' "all(w['ledger'] == (w['messages'] is not None) == (w['stall_ns'] is not None) for w in d['trials'][0]['windows'])"
says 'all is undone' "d['undone'] is True and d['complete'] is True"
check 'the option is as it was' "$(cat status)" option_is 0
check 'the card says it' "$(cat err)" grep -q '^PROVEN  TCP_NODELAY on python3' err
check 'the card says how it is written' "$(cat err)" grep -q 'keep .*python: .*TCP_NODELAY' err

tried 'TCP_QUICKACK at the other end' 0 -p "$CLIENT" --yes --fix quickack
says 'TCP_QUICKACK is proven' "d['trials'][0]['outcome'] == 'proven' and d['trials'][0]['at_peer']"

tried 'a fix that does not help' 0 -p "$CLIENT" --yes --fix notsent-lowat
says 'it is refuted' "d['trials'][0]['outcome'] == 'refuted'"
tried 'what cannot be undone' 0 -p "$CLIENT" --yes --fix cc
says 'it is not tried without being asked for' "d['outcome'] == 'no-fix' and 'irreversible' in d['trials'][0]['why_not_run']"

# killed at any moment: within a second everything is as it was
seed=${SEED:-$RANDOM} kills=${KILLS:-5}
RANDOM=$seed
for i in $(seq "$kills"); do
	"$IPCSTALL" try -p "$CLIENT" --yes -q --fix nodelay 2>/dev/null &
	tool=$!
	sleep "$((RANDOM % 5)).$((RANDOM % 10))" # the moment is what is drawn
	kill -9 $tool
	wait $tool 2>/dev/null
	check "kill $i of $kills (seed $seed): the option is as it was" "$(cat status)" until_true option_is 0
done
check 'no guardian is left' "$(pgrep -x ipcstall-guard)" until_true no_guard

# the guardian is killed: the tool sets it back
"$IPCSTALL" try -p "$CLIENT" --yes -q --fix nodelay 2>err &
tool=$!
until_true eval '[ "$(nodelay)" = 1 ]'
pkill -9 -P $tool -x ipcstall-guard
wait $tool
rc=$?
check 'a killed guardian is an error' "exit code $rc: $(cat err)" [ $rc -eq 7 ]
check 'the tool sets the option back' "$(cat status)" until_true option_is 0

"$IPCSTALL" try -p "$CLIENT" --yes -q --fix nodelay &
tool=$!
until_true eval '[ "$(nodelay)" = 1 ]'
kill -INT $tool
wait $tool
rc=$?
check 'Ctrl-C ends it with 130' "exit code $rc" [ $rc -eq 130 ]
check 'Ctrl-C undoes it' "$(cat status)" until_true option_is 0
check 'every byte came as it was sent' "$(cat status)" is_intact
end_target

start_target client
"$IPCSTALL" try -p "$CLIENT" --yes -q --fix nodelay --json t.json &
tool=$!
until_true eval '[ "$(nodelay)" = 1 ]'
kill -9 "$SERVER"
wait $tool
says 'the other end dies in a window: too little was seen to judge' "d['trials'][0]['outcome'] == 'not-run' and 'ended' in d['trials'][0]['why_not_run'] and d['undone'] is True"
check 'the option of what nobody hears is as it was' "$(cat status)" option_is 0
end_target

start_target client
tried 'no time for enough windows' 0 -p "$CLIENT" --yes --fix nodelay --window 2s --for 5s
says 'it ends when its time is over' "'--for' in d['trials'][0]['why_not_run'] and d['undone'] is True"
end_target

start_target paced
tried 'a program at its own pace' 0 -p "$CLIENT" --yes --window 1s
says 'its fix is proven by the stall' "d['trials'][0]['outcome'] == 'proven' and d['trials'][0]['proven_by_stall']"
end_target

# a pipe of one page, of which the writer alone is looked at
python3 -c 'import fcntl, os, subprocess
out, into = os.pipe()
fcntl.fcntl(into, 1031, 4096)
dd = subprocess.Popen(["dd", "if=/dev/zero", "bs=64k"], stdout=into, stderr=subprocess.DEVNULL)
os.close(into)
print(dd.pid, flush=True)
while os.read(out, 1 << 20):
    pass' >dd.pid &
jobs_to_end+=($!)
until_true test -s dd.pid
tried 'a pipe' 0 -p "$(cat dd.pid)" --yes --fix pipe-size
says 'what its unseen reader took is known' "all(w['delivered_bytes'] > 0 for w in d['trials'][0]['windows'])"
says 'its size is proven' "d['trials'][0]['outcome'] == 'proven' and 1 < d['trials'][0]['rate']['ratio'] < 1000"
kill "$(cat dd.pid)"

start_target healthy
tried 'a healthy program' 0 -p "$CLIENT" --yes --look 2s
says 'nothing is tried on it' "d['outcome'] == 'no-stall' and not d['trials']"
end_target
finish
