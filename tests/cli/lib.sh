# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# For tests/cli/*.sh. Each test is `check NAME COMMAND`, where the command's output and status are the verdict.
IPCSTALL=${IPCSTALL:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/ipcstall}
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
failures=0

pass() { echo "ok $1"; }
fail() { # NAME REASON
	echo "not ok $1: $2"
	failures=$((failures + 1))
}
finish() { exit $((failures > 0)); }

# The processes below this shell that are ipcstall: there must be none after a run.
left_over() { ps -o pid=,comm= --ppid "$$" | awk '$2 == "ipcstall" { print $1 }'; }

# NAME CODE PATTERN ARGS...: exit code, one line on stderr that matches, nothing on stdout.
refuses() {
	local name=$1 code=$2 pattern=$3 rc lines
	shift 3
	timeout 30 "$IPCSTALL" "$@" >"$WORK/out" 2>"$WORK/err" </dev/null
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
	local name=$1 rc
	shift
	timeout 60 "$IPCSTALL" "$@" >"$WORK/out" 2>"$WORK/err" </dev/null
	rc=$?
	if [ $rc -ne 0 ] || [ -s "$WORK/err" ]; then
		fail "$name" "exit code $rc: $(head -c 300 "$WORK/err")"
		return 1
	fi
	pass "$name"
}
