# SPDX-License-Identifier: GPL-2.0-only
# What looks and the ledger take and refuse, without tracing anything.
# stage: core
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 1

refused() { # NAME WORDS ARGUMENTS...
	local name=$1 words=$2 rc
	shift 2
	"$IPCSTALL" "$@" >out 2>err
	rc=$?
	check "$name" "exit code $rc; $(head -c 200 err)" [ $rc -eq 2 ]
	check "$name: one line says why and what to do" "$(head -c 300 err)" sh -c '[ "$(wc -l <err)" -eq 1 ] && grep -q -- "$0" err' "$words"
}

refused 'one tier of the two' '--exact with --sampled' attach -a --exact --sampled
refused 'a budget is of looks' '--budget with --exact' attach -a --exact --budget 1%
refused 'so is that of zooms' '--zoom-budget with --threshold' attach -a --threshold 1ms --zoom-budget 1%
refused 'a zoom budget is a percentage' '--zoom-budget 0.5%' attach -a --zoom-budget much
refused 'top: one tier of the two' '--exact with --sampled' top --exact --sampled
refused 'export: one tier of the two' '--exact with --sampled' export --exact --sampled
refused 'a budget is a percentage' '--budget 0.5%' attach -a --sampled --budget much
refused 'a budget is not more than one CPU' 'one CPU' attach -a --sampled --budget 101%
refused 'a budget is not 0' 'one CPU' attach -a --sampled --budget 0
refused 'samples see no single stall' 'no single message' attach -a --sampled --threshold 1ms
refused 'nor their stacks' '--stacks' attach -a --sampled --stacks
refused 'nor a timeline' '--timeline' attach -a --sampled --timeline t.ndjson
refused 'nor folded stacks' '--folded' attach -a --sampled --folded f
refused 'looks have no backend' '--backend' attach -a --sampled --backend rawtp
"$IPCSTALL" attach --help >out
check 'the help names them' "$(grep -c sampled out)" sh -c 'grep -q -- --exact out && grep -q -- --sampled out && grep -q -- --budget out && grep -q -- --zoom-budget out'
finish
