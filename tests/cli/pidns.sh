# SPDX-License-Identifier: GPL-2.0-only
# In a PID namespace, as in a container, processes have other numbers than the hooks see: the same ledgers, and the namespace's numbers.
. "$(dirname "$0")/lib.sh"
known=${KNOWN:-build/O2/tests/kernel/known}
inside=(unshare --mount --pid --fork --kill-child --mount-proc)
"${inside[@]}" true 2>/dev/null || { echo 'PID namespaces are not allowed here'; exit 77; }
[ -x "$known" ] || { echo "no $known: make known"; exit 77; }
recorded() {
	timeout $HUNG "${inside[@]}" "$IPCSTALL" run --json "$WORK/ledger.json" -- "$known" --out "$WORK/known.json" nagle n=5 >"$WORK/out" 2>&1 </dev/null
}
compared() { "${PYTHON:-/usr/bin/python3}" tests/kernel/compare.py "$WORK/known.json" "$WORK/ledger.json" >"$WORK/compared"; }
# the kernel ran no program for a while, and nothing else is wrong: see tests/kernel/retry
only_blind() { grep -q '^not ok' "$WORK/compared" && ! grep '^not ok' "$WORK/compared" | grep -qv '\[blind [0-9]*\]$'; }
recorded
rc=$?
if [ $rc -eq 3 ] || [ $rc -eq 4 ]; then tail -1 "$WORK/out"; exit 77; fi

if [ $rc -eq 0 ]; then pass 'a run in a PID namespace'; else fail 'a run in a PID namespace' "exit code $rc: $(tail -1 "$WORK/out")"; fi
compared
for _ in 1 2 3; do
	only_blind || break
	sed -n 's/^not ok /again its ledgers: /p' "$WORK/compared"
	recorded && compared
done
while IFS= read -r line; do
	case $line in
	not\ ok*) fail 'its ledgers' "${line#not ok }" ;;
	*\ 0\ failed,*) pass 'its ledgers, blame by the numbers of the namespace' ;;
	esac
done <"$WORK/compared"
# The holder's sleeps are noted by one number and looked for by another if the two are mixed.
timeout $HUNG "${inside[@]}" "$IPCSTALL" run -q --stacks --threshold 10ms --json "$WORK/ledger.json" -- "$known" nagle n=5 >/dev/null 2>&1 </dev/null
if grep -q '"peer_kernel_stack": *\[' "$WORK/ledger.json"; then pass 'where the reader slept'; else fail 'where the reader slept' 'no stall says it'; fi
# Who sleeps in a call since before the session goes by the number of the namespace too.
# shellcheck disable=SC2016 # for the shell within
timeout $HUNG "${inside[@]}" bash -c 'sleep 300 | cat & echo $! >"$2/pid"; until grep -q pipe_read /proc/$!/wchan; do sleep 0.02; done; exec "$1" attach --exact -q -d 500ms --json "$2/attached.json" -p $!' - \
	"$IPCSTALL" "$WORK" >"$WORK/out" 2>&1 </dev/null
if grep -qE "\"pid\": *$(cat "$WORK/pid"), *\"comm\": *\"cat\"" "$WORK/attached.json"; then
	pass 'a sleeper from before'
else
	fail 'a sleeper from before' "cat is $(cat "$WORK/pid"): $(grep -oE '"pid":[^}]{1,40}' "$WORK/attached.json" | head -3) $(tail -1 "$WORK/out")"
fi
timeout $HUNG "${inside[@]}" "$IPCSTALL" --mode tcp --size 64 --test latency --duration 300ms >"$WORK/out" 2>&1 </dev/null
if grep -q 'nothing was observed' "$WORK/out"; then fail 'a benchmark there' "$(head -3 "$WORK/out")"; else pass 'a benchmark there has ledgers'; fi
finish
