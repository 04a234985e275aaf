# SPDX-License-Identifier: GPL-2.0-only
# What lasts tells how far it is: on a terminal, and with --progress in a pipe too; and the first word comes at once.
. "$(dirname "$0")/lib.sh"

# --- in a pipe: lines with --progress, and none without ---
tells() { # NAME PATTERN ARGS...
	local name=$1 pattern=$2
	shift 2
	timeout "$HUNG" "$IPCSTALL" "$@" --progress >"$WORK/out" 2>"$WORK/err" </dev/null
	check "$name tells its progress in a pipe" "$(head -c 400 "$WORK/err")" grep -qE "$pattern" "$WORK/err"
	check "$name moves no cursor there" "$(head -c 400 "$WORK/err")" bash -c "! grep -q $'[\\r\\033]' '$WORK/err'"
}
silent() { # NAME ARGS...
	local name=$1
	shift
	timeout "$HUNG" "$IPCSTALL" "$@" >"$WORK/out" 2>"$WORK/err" </dev/null
	check "$name tells none without" "$(head -c 400 "$WORK/err")" bash -c "! grep -qE 'ipcstall: (\\[|loading|setting up|tracing:)' '$WORK/err'"
}
bench=(--mode pipe --size 64,1K --no-trace -d 1.5s --placement same)
tells bench '^ipcstall: setting up$' "${bench[@]}"
check 'and which of how many' "$(cat "$WORK/err")" grep -qE '^ipcstall: \[[2-4]/4\] pipe (latency|throughput)' "$WORK/err"
silent bench "${bench[@]}"
tells sweep '^ipcstall: \[[0-9]+/4\]' sweep -m pipe -t latency --no-trace -V size=1,2,3,4 -d 700ms --placement same -o "$WORK/s.ndjson"
tells diagnose '^ipcstall: \[[0-9]+/[0-9]+\]' diagnose --mode pipe --no-trace -d 300ms --size 1K

if "$IPCSTALL" check >/dev/null 2>&1; then
	tells attach '^ipcstall: loading probes$' attach --exact -p $$ -d 5s
	check 'and how long of how long' "$(cat "$WORK/err")" grep -qE '^ipcstall: tracing: [2-5] of 5 s$' "$WORK/err"
	silent attach attach --exact -p $$ -d 3s
	timeout "$HUNG" "$IPCSTALL" run --progress -- sleep 5 >"$WORK/out" 2>"$WORK/err"
	check 'run tells its progress in a pipe' "$(cat "$WORK/err")" grep -qE '^ipcstall: tracing: [2-5] s$' "$WORK/err"
	timeout "$HUNG" "$IPCSTALL" record --progress -o "$WORK/r.rec" -- sleep 5 >"$WORK/out" 2>"$WORK/err"
	check 'record tells its progress in a pipe' "$(cat "$WORK/err")" grep -qE '^ipcstall: recording: [2-5] s$' "$WORK/err"
	timeout "$HUNG" "$IPCSTALL" watch --progress -p $$ -d 1s >"$WORK/out" 2>"$WORK/err"
	check 'watch tells what it loads' "$(cat "$WORK/err")" grep -q '^ipcstall: loading probes$' "$WORK/err"
fi

# --- the first word, on a terminal ---
# Of nine runs the median, so that one that was held up by others counts for nothing; on a host that is busy throughout, tests/steady repeats it.
cat >"$WORK/first.py" <<'PY'
import os, pty, select, signal, statistics, sys, time
took = []
for _ in range(9):
    began = time.monotonic()
    pid, fd = pty.fork()
    if pid == 0:
        os.execvp(sys.argv[1], sys.argv[1:])
    ready = select.select([fd], [], [], 60)[0]
    took.append(1e3 * (time.monotonic() - began) if ready and os.read(fd, 4096).strip() else 60e3)
    os.kill(pid, signal.SIGKILL)
    os.close(fd)
    os.waitpid(pid, 0)
print(f"{statistics.median(took):.0f}")
PY
first_word() { # NAME ARGS...
	local name=$1 ms
	shift
	ms=$(python3 "$WORK/first.py" "$IPCSTALL" "$@")
	check "the first word of $name within 300 ms" "$ms ms" [ "$ms" -le 300 ]
	echo "# $name: $ms ms"
}
first_word bench --mode pipe --size 64 -d 2s
if "$IPCSTALL" check >/dev/null 2>&1; then
	first_word run run -- sleep 3
	first_word attach attach --exact -p $$ -d 3s
fi
finish
