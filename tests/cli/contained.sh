# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2016 # for the shells below
# What the other tests stand on: tests/contain leaves nothing, tests/steady repeats only what the host explains, tests/under-load loads it.
. "$(dirname "$0")/lib.sh"
CLOCK=no # read by fail()
contain=$here/tests/contain
cd "$WORK" || exit 70

for code in 0 3; do
	"$contain" sh -c "exit $code"
	check "the exit status goes through: $code" "$?" [ $? -eq $code ]
done
"$contain" sh -c 'kill -KILL $$'
check 'a signal is 128 and its number' "$?" [ $? -eq 137 ]
"$contain" no-such-program 2>err
rc=$?
check 'what cannot be started is said' "$rc $(cat err)" eval '[ $rc -eq 127 ] && grep -q no-such-program err'

# COMMAND...: starts it; its pids are in the file pids once all of them run
children='setsid sh -c "echo \$\$ >>pids; exec sleep 600" & sh -c "echo \$\$ >>pids; trap \"\" TERM INT; while :; do sleep 1; done" & echo $$ >>pids; '
three() { [ -e pids ] && [ "$(wc -l <pids)" -eq 3 ]; }
all_gone() { gone $(cat pids); }
began() { rm -f pids; "$@" 2>err & top=$!; until_true three; disown $top; }

rm -f pids
"$contain" sh -c "$children"' while [ "$(wc -l <pids)" -lt 3 ]; do sleep 0.02; done' 2>err
check 'who outlives the command is ended, and named' "$(ps -o pid=,args= -p "$(paste -sd, pids)") $(cat err)" eval 'all_gone && [ "$(grep -c outlived err)" -ge 2 ]'
for sig in KILL TERM INT HUP; do
	began env --default-signal=INT,HUP,TERM "$contain" sh -c "$children wait"
	kill -$sig $top
	until_true gone $top
	check "SIG$sig to it ends all" "$(ps -o pid=,args= -p "$(paste -sd, pids)")" until_true all_gone
done
began "$contain" sh -c "$children wait"
kill -KILL "$(pgrep -P $top)"
until_true gone $top
check 'so it does when its keeper is killed' "$? $(ps -o pid=,args= -p "$(paste -sd, pids)")" until_true all_gone
printf 'all:\n\t@"%s" sh %s\n' "$contain" "$WORK/children.sh" >Makefile
echo "$children wait" >children.sh
began make -s
kill -KILL $top
until_true gone $top
check 'and when the make above it is killed' "$(ps -o pid=,args= -p "$(paste -sd, pids)")" until_true all_gone

unset IPCSTALL_CONTAINED # the outermost has mounts and a folder of its own
TMPDIR='' "$contain" sh -c 'echo "$TMPDIR" >folder; touch "$TMPDIR/file"'
check "its TMPDIR goes with it" "$(cat folder)" eval '[ -n "$(cat folder)" ] && [ ! -e "$(cat folder)" ]'
if [ "$(id -u)" -eq 0 ] && command -v ip >/dev/null && mount=$(mktemp -d); then
	if "$contain" sh -c "ip netns add contained-$$ && mount -t tmpfs none '$mount' && touch '$mount/there'" 2>err; then
		check 'a named network namespace goes with it' "$(ls /run/netns 2>&1)" [ ! -e "/run/netns/contained-$$" ]
		check 'a mount goes with it' "$(ls -la "$mount")" [ ! -e "$mount/there" ]
	else
		echo "skip a named network namespace: none can be made here: $(head -c 200 err)"
	fi
	top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	if [ -n "$top" ] && "$contain" sh -c 'mkdir "$0/ipcstall-contained-$$" && echo $$ >pid' "$top" 2>/dev/null; then
		check 'a control group that is named after a process goes with it' "$(ls "$top")" [ ! -e "$top/ipcstall-contained-$(cat pid)" ]
	fi
fi
export IPCSTALL_CONTAINED=1

# --- what the host took ---
"$contain" -r taken sleep 0.1
check 'what the host took is told' "$(cat taken)" grep -qE '^(noisy|nearly quiet|quiet): in [0-9.]+ s the host kept [0-9.]+ % of the CPU time, other programs got [0-9.]+ %, [0-9]+ wake-ups came over 5 ms late, the latest [0-9.]+ ms$' taken
"$contain" -r taken sh -c 'for i in 1 2 3 4; do timeout 1 sh -c "while :; do :; done" & done; wait'
others() { sed -n 's/.*programs got \([0-9]*\).*/\1/p' taken; }
own=$(others)
yes >/dev/null &
noise=($!)
yes >/dev/null &
noise+=($!)
jobs_to_end+=("${noise[@]}")
"$contain" -r taken sh -c 'for i in 1 2 3 4; do timeout 1 sh -c "while :; do :; done" & done; wait'
check "other programs' CPU time is told from the test's own" "$own % without, $(others) % with two others" [ "$(others)" -ge 10 ]
grep -q '^noisy' taken && pass 'and is noise' || fail 'and is noise' "$(cat taken)"

# --- what is repeated: the host is noisy now; the suite may put off what this very file does ---
unset STEADY_LATER STEADY_CHECKS
steady() { "$here/tests/steady" --tries 3 "$@" >said 2>&1; rc=$?; }
cat >sometimes.sh <<'END'
echo "ok always: fine"
echo x >>tries
[ "$(wc -l <tries)" -gt 1 ] && echo "ok late: 1 ms" || echo "not ok late: 9 ms"
timeout 1 sh -c 'while :; do :; done'
exit 0
END
steady sh sometimes.sh
check 'a failure on a noisy host is repeated' "$rc $(cat said)" eval '[ $rc -eq 0 ] && [ "$(tail -1 said)" = "2 passed, 0 failed, 0 skipped" ] && grep -q "^again late: 9 ms \[noisy" said'
rm tries
cp sometimes.sh sometimes_again.sh
steady sh -c 'echo "not ok late: 9 ms"; timeout 1 sh -c "while :; do :; done"; exit 1'
check 'after the last try it is skipped, with what was measured' "$rc $(cat said)" eval '[ $rc -eq 0 ] && [ "$(grep -c ^again said)" -eq 2 ] && grep -q "^skip late: 9 ms \[noisy: in " said'
steady sh -c 'echo "not ok late: 9 ms [no clock]"; exit 1'
check 'a failure in which there is no clock fails at once' "$rc $(cat said)" eval '[ $rc -eq 1 ] && ! grep -q ^again said && [ "$(tail -1 said)" = "0 passed, 1 failed, 0 skipped" ]'
steady sh -c 'echo "not ok late: exit code 139: half a document"; exit 1'
check 'so does one by a crash' "$rc $(cat said)" eval '[ $rc -eq 1 ] && ! grep -q ^again said && [ "$(tail -1 said)" = "0 passed, 1 failed, 0 skipped" ]'
steady false
check 'so does a command that says nothing' "$rc $(cat said)" eval '[ $rc -eq 1 ] && grep -q "^not ok ends: exit status 1" said'
steady --limit 1 sleep 600
check 'so does one that hangs' "$rc $(cat said)" eval '[ $rc -eq 1 ] && grep -q "^not ok ends: it hangs" said'
STEADY=off steady sh -c 'echo "not ok late: 9 ms"; timeout 1 sh -c "while :; do :; done"'
check 'with STEADY=off each failure counts' "$rc $(cat said)" eval '[ $rc -eq 1 ] && ! grep -q ^again said'
STEADY_LATER=$PWD/later steady sh sometimes_again.sh
check 'within the suite it is put off' "$rc $(cat said)" eval '[ $rc -eq 0 ] && [ "$(tail -1 said)" = "1 passed, 0 failed, 1 skipped" ] && ! grep -q "^again" said && [ "$(wc -l <later)" -eq 1 ]'
STEADY_CHECKS='[["late", 0]]' steady sh sometimes_again.sh
check 'and later it is the only check that counts' "$rc $(cat said)" eval '[ $rc -eq 0 ] && [ "$(tail -1 said)" = "1 passed, 0 failed, 0 skipped" ]'
STEADY_CHECKS='[["late", 0], ["late", 1]]' steady sh sometimes_again.sh
check 'one that failed in two ways passes once' "$rc $(cat said)" \
	eval '[ $rc -eq 0 ] && [ "$(tail -1 said)" = "1 passed, 0 failed, 0 skipped" ]'
STEADY_CHECKS='[["gone", 0]]' steady sh sometimes_again.sh
check 'a check that is then not reached has failed' "$rc $(cat said)" eval '[ $rc -eq 1 ] && grep -q "^not ok gone: it was not reached" said'
kill "${noise[@]}"
wait "${noise[@]}" 2>/dev/null

# --- one late wake-up in five seconds explains one failure ---
cat >tries.py <<'PY'
import importlib.machinery, importlib.util, sys, types
loader = importlib.machinery.SourceFileLoader("steady", sys.argv[1])
steady = importlib.util.module_from_spec(importlib.util.spec_from_loader("steady", loader))
loader.exec_module(steady)
outcome = steady.Outcome()
for host in sys.argv[2:]:
    failed = {("late", 0): ("not ok", ": 9 ms")}
    outcome.take(types.SimpleNamespace(checks=failed, taken=f"{host}: in 3 s",
                                       noisy=host == "noisy", quiet=host == "quiet"))
outcome.end(all_tried=len(sys.argv) > 4)
PY
tries() { python3 tries.py "$here/tests/steady" "$@" >said; }
tries 'nearly quiet' 'nearly quiet' 'nearly quiet'
check 'a check fails if the host was nearly quiet each time' "$(cat said)" grep -qx 'not ok late: 9 ms \[nearly quiet: in 3 s\]' said
tries 'nearly quiet' noisy 'nearly quiet'
check 'it is skipped if the host was noisy once' "$(cat said)" grep -qx 'skip late: 9 ms \[nearly quiet: in 3 s\]' said
tries 'nearly quiet'
check 'and if it was not repeated' "$(cat said)" grep -qx 'skip late: 9 ms \[nearly quiet: in 3 s\]' said
tries 'nearly quiet' quiet
check 'it fails at once on a quiet host' "$(cat said)" grep -qx 'not ok late: 9 ms' said

# --- what was skipped for noise is no pass: the suite counts and names it, and runs the stage again ---
cat >suite.py <<'PY'
import importlib.machinery, importlib.util, pathlib, sys, time
loader = importlib.machinery.SourceFileLoader("run", sys.argv[1])
run = importlib.util.module_from_spec(importlib.util.spec_from_loader("run", loader))
loader.exec_module(run)
run.LOGS, run.KEPT, run.WHOLE = pathlib.Path("."), pathlib.Path("kept.json"), pathlib.Path("whole")


def ended(name, said):
    """A stage that said so."""
    s = run.Stage(f"{name} | core | one | | echo '{said}'; echo '4 passed, 0 failed, 1 skipped'")
    s.begin()
    while not s.poll():
        time.sleep(0.01)
    return s
PY
cat >stages.py <<'PY'
from suite import run
import suite
known, stages = run.Known(), []
for name, said in ("loud", "        skip late: 9 ms [noisy: in 3 s]"), ("still", "skip gone: not here"):
    s = suite.ended(name, said)
    known.take(s)
    stages.append(s)
    run.Screen(False).stage(s)
print("again:", *(s.name for s in stages if not run.reuse(s, known, False)))
run.conclude(stages, 1)
PY
python3 stages.py "$here/tests/run" >said 2>&1
check 'a check skipped for noise is counted apart' "$(cat said)" grep -qE '^loud .* 1 skipped \(1 for the host.s noise\)$' said
check 'any other is not' "$(cat said)" grep -qE '^still .* 1 skipped$' said
check 'its stage was not passed' "$(cat said)" grep -qx 'again: loud' said
check 'it is named at the end, with what was measured' "$(cat said)" eval 'grep -q "^1 of 10 checks skipped for the host" said && grep -qx "  loud: late: 9 ms \[noisy: in 3 s\]" said && [ "$(tail -1 said)" = "8 passed, 0 failed, 2 skipped" ]'

# --- and repeats it when all stages have ended ---
cat >repeats.py <<'PY'
import json, pathlib, sys
from suite import run
import suite
run.LATER = pathlib.Path("put_off")
stages, lines = [], []
for name, now in ("ok", "ok late: 1 ms"), ("wrong", "not ok late: 9 ms [no clock]"):
    stages.append(suite.ended(name, "skip late: 9 ms [noisy: in 3 s]"))
    lines.append(json.dumps({"command": [sys.argv[2], "sh", "-c", f"echo '{now}'"], "folder": ".",
                             "environment": {**run.os.environ, "STAGE": name}, "checks": [["late", 0]]}))
run.LATER.write_text("\n".join(lines) + "\n")
run.repeat_put_off(stages, run.Known(), run.Screen(False))
sys.exit(run.conclude(stages, 1))
PY
python3 repeats.py "$here/tests/run" "$here/tests/steady" >said 2>&1
check 'a check that passes then has passed' "$(cat said)" grep -qE '^ok .* 5 passed +0 failed +0 skipped  1 repeated alone$' said
check 'one that fails then has failed' "$(cat said)" eval 'grep -qE "^wrong .* 4 passed +1 failed +0 skipped  FAILED  1 repeated alone$" said && [ "$(tail -1 said)" = "9 passed, 1 failed, 0 skipped" ]'
check 'and is named' "$(cat said)" grep -q '^  not ok late: 9 ms' said
finish
