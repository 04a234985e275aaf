# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2034 # what is set here is used by those who read this
# For tests/cli/*.sh: where things are, what ends with the test, and the words in which a verdict is said.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
IPCSTALL=${IPCSTALL:-$here/ipcstall}
KNOWN=${KNOWN:-$here/build/O2/tests/kernel/known} CROWD=${CROWD:-$here/build/O2/tests/cli/crowd}
CHURN=${CHURN:-$here/build/O2/tests/soak/churn}
WORK=$(mktemp -d)
failures=0
# who runs the tests with sudo means root: what is traced stays it
unset SUDO_USER SUDO_UID SUDO_GID

# Processes that end with the test; one that ended before is not missed.
jobs_to_end=()
end_test() {
	[ ${#jobs_to_end[@]} -eq 0 ] || kill "${jobs_to_end[@]}" 2>/dev/null
	[ ! -S "$WORK/tmux" ] || tmux -S "$WORK/tmux" kill-server 2>/dev/null
	[ ${#jobs_to_end[@]} -eq 0 ] || wait "${jobs_to_end[@]}" 2>/dev/null
	rm -rf "$WORK"
}
trap end_test EXIT

needs_ledger() {
	"$IPCSTALL" check >/dev/null 2>&1 || { echo "the ledger cannot be kept here: see ipcstall check"; exit 77; }
}
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
# So many seconds is what hangs given. No test waits for a time to pass: it waits for an event, and gives up after PATIENCE.
HUNG=300 PATIENCE=120
# What should come soon has so many ms; on a busy host it takes a while too, and what hangs takes longer still.
SOON=15000
# Who waits starts no process for it: fifty a second would take the CPU from what is waited for.
mkfifo "$WORK/.nobody-writes"
pause() { read -rt "$1" <>"$WORK/.nobody-writes" || :; } # SECONDS
until_true() { # COMMAND...
	local end=$((SECONDS + PATIENCE))
	until "$@"; do
		[ $SECONDS -lt $end ] || { echo "still not after $PATIENCE s: $*" >&2; return 1; }
		pause 0.02
	done
}
sleeps() { # PID
	local said
	read -r said 2>/dev/null <"/proc/$1/stat" && [[ ${said##*)} == ' S '* ]]
}
# One of its threads sleeps in a call that has this name in its own: pipe_write, say.
sleeps_in() { # PID NAME
	local file said
	for file in /proc/"$1"/task/*/wchan; do
		! { read -r said || [ "$said" ]; } 2>/dev/null <"$file" || [[ $said != *"$2"* ]] || return 0
	done
	return 1
}
# The tracer has attached its programs, and waits for what they will tell.
tracing() { grep -qs '^link_id' /proc/"$1"/fdinfo/* && sleeps "$1"; } # PID
# The exporter, $exporter, at $port of 127.0.0.1, beside a workload that waits for delayed ACKs.
serve_metrics() {
	"$KNOWN" nagle n=100000 >/dev/null 2>&1 &
	jobs_to_end+=($!)
	port=$(free_port)
	"$IPCSTALL" export --exact --listen "127.0.0.1:$port" --interval 2s 2>"$WORK/export.err" &
	exporter=$!
	jobs_to_end+=("$exporter")
	until_true grep -q 'metrics at' "$WORK/export.err" || { fail 'the exporter comes up' "$(cat "$WORK/export.err")"; finish; }
}
gone() { # PID...: no more than zombies, which wait for init only
	local p
	for p; do ! ps -o stat= -p "$p" | grep -qv Z || return 1; done
}
below() { ps -o pid= --ppid "$1" | xargs; }
ticks() { # PID: CPU time, in 10 ms
	local said
	read -r said 2>/dev/null <"/proc/$1/stat" || said='0) 0 0 0 0 0 0 0 0 0 0 0 0 0'
	# shellcheck disable=SC2086 # its words
	set -- ${said##*) }
	echo $((${12} + ${13}))
}
at_work() { # PID...: each of them has computed for 50 ms
	local p
	for p; do [ "$(ticks "$p")" -ge 5 ] || return 1; done
}
has_below() { [ "$(below "$1" | wc -w)" -eq "$2" ]; } # PID NUMBER
now_ms() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }

# Python over a throughput point `x`: the sender's clock ends with the last acknowledgement, and the receiver's span lies within that, however
# unevenly a busy machine lets them run. What may be lost has no such end: then the span is not far longer than the sender's time, nor ever a
# small part of it. Where it is less than half of it there is no rate.
rates_agree="(lambda t: t['bytes_per_s'] is None or 0.5 < t['bytes_per_s'] * x['elapsed_ns'] / 1e9 / (x['bytes'] or 1) <= 2.1 or x['lost'])(x['throughput']) and (lambda t: t['acked_bytes_per_s'] is None or
	abs(t['acked_bytes_per_s'] * x['elapsed_ns'] / 1e9 / x['bytes'] - 1) < 1e-3 and (t['bytes_per_s'] is None or t['bytes_per_s'] > 0.99 * t['acked_bytes_per_s']))(x['throughput'])"

# What a busy host can make fail is run again while the host is busy (tests/steady). A file in which no check hangs on a clock says CLOCK=no.
CLOCK=yes
pass() { echo "ok $1"; }
fail() { # NAME REASON
	local mark=
	[ "$CLOCK" = yes ] || mark=' [no clock]'
	printf 'not ok %s:\t%s%s\n' "$1" "$(tr '\n' ' ' <<<"$2")" "$mark"
	failures=$((failures + 1))
}
finish() { exit $((failures > 0)); }
check() { # NAME REASON COMMAND...
	local name=$1 reason=$2
	shift 2
	if "$@"; then pass "$name"; else fail "$name" "$reason"; fi
}
traced() { # ARGUMENTS...: its ledgers in m.json, what it printed in out and err, here
	rm -f m.json
	"$IPCSTALL" run -q --json m.json "$@" >out 2>err
}
says_true() { # NAME STATEMENTS EXPRESSION SHOWN: Python's answer; where it is false, SHOWN says what there was
	local out
	if out=$(python3 -c "import json,sys,time
$2
sys.exit(0 if ($3) else 'false: %s' % str($4)[:600])" 2>&1); then
		pass "$1"
	else
		fail "$1" "$out"
	fi
}

# The ledger whose card the screen shows, that of a proof or of the session, is `l`, its card `c`.
shown_is_true() { # NAME EXPRESSION SHOWN
	says_true "$1" 'd = json.load(open("m.json")); proof = d.get("answer")
l = (d if proof is None else d["proofs"][proof])["ledger"]; c = l["card"]' "$2" "$3"
}

# Where the kernel ran no program for a while (docs/KERNEL_NOTES.md, "A task that hides"), what happened then is in no ledger.
blind_alone() { # LEDGER STATEMENTS EXPRESSION: it is false, and that may be why
	python3 -c "import json,sys
$2
sys.exit(not (json.load(open('$1'))['ledger']['blind'] and not ($3)))" 2>/dev/null
}

# The processes below this shell that are ipcstall: there must be none after a run.
left_over() { ps -o pid=,comm= --ppid "$$" | awk '$2 == "ipcstall" { print $1 }'; }

# NAME CODE PATTERN ARGS...: exit code, one line on stderr that matches, nothing on stdout.
refuses() {
	local name=$1 code=$2 pattern=$3 rc lines CLOCK=no
	shift 3
	timeout "$HUNG" "$IPCSTALL" "$@" >"$WORK/out" 2>"$WORK/err" </dev/null
	rc=$?
	lines=$(wc -l <"$WORK/err")
	if [[ $rc != $code ]]; then # a pattern: where two kernels differ
		fail "$name" "exit code $rc, not $code: $(head -c 200 "$WORK/err")"
	elif [ "$lines" -ne 1 ]; then
		fail "$name" "$lines lines on stderr, not 1"
	elif ! grep -qE -- "$pattern" "$WORK/err"; then
		fail "$name" "'$(cat "$WORK/err")' does not match $pattern"
	elif [ -s "$WORK/out" ]; then
		fail "$name" "output: $(head -c 100 "$WORK/out")"
	else
		pass "$name"
	fi
}

# NAME ARGS...: succeeds within a time limit, nothing on stderr.
works() {
	local name=$1 rc CLOCK=$CLOCK
	shift
	timeout "$HUNG" "$IPCSTALL" "$@" >"$WORK/out" 2>"$WORK/err" </dev/null
	rc=$?
	[ $rc -lt 124 ] && [ $rc -ne 2 ] || CLOCK=no # it hangs, was killed by a signal, or refuses its options
	if [ $rc -ne 0 ] || [ -s "$WORK/err" ]; then
		fail "$name" "exit code $rc: $(head -c 300 "$WORK/err")"
		return 1
	fi
	pass "$name"
}

# --- a screen in a real terminal (tmux) ---
terminal() { # COLUMNS LINES COMMAND
	command -v tmux >/dev/null 2>&1 || { echo "skip screen: tmux is not installed"; finish; }
	T -f /dev/null new-session -d -x "$1" -y "$2" "$3"
}
T() { tmux -S "$WORK/tmux" "$@"; }
screen() { T capture-pane -p; }
shows() { screen | grep -qE -- "$1"; } # PATTERN
# What follows builds on it: where it never shows, the rest would only wait.
shown() { # NAME PATTERN
	if until_true shows "$2"; then
		pass "$1"
	else
		fail "$1" "$(screen)"
		finish
	fi
}
in_terminal() { pgrep -n -x ipcstall -P "$(T display-message -p '#{pane_pid}')"; }
