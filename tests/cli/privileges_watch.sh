# SPDX-License-Identifier: GPL-2.0-only
# Row 7 of docs/SECURITY.md: what watch and top --batch may still do once they are attached.
. "$(dirname "$0")/users.bash"
nobody=$(id -u nobody) no_group=$(id -g nobody)

# --- watch ---
proof_of_known() { # NAME
	says_true "$1" "lines = map(json.loads, open('watch.ndjson'))
p = [x for x in lines if x['type'] == 'stall'][0]['proof']
found = (p or {}).get('findings', [{}])[0]
told = found.get('cause'), found.get('blamed'), found.get('pid')" \
		"told == ('nagle', 'peer delayed ACK', $known)" told
}
# its number in $watcher; what it watches stalls once the file go is there
begin_watch() { # ARGUMENTS...
	rm -f go watch.err watch.ndjson
	./known --go go nagle n=100000 >/dev/null 2>&1 &
	known=$!
	"$IPCSTALL" watch -p $known -i 1s "$@" >watch.ndjson 2>watch.err &
	watcher=$!
	jobs_to_end+=("$known" "$watcher")
	until_true grep -qs watching watch.err
	status_of $watcher >threads
}
end_watch() {
	kill $known
	kill -INT $watcher && wait $watcher
}
begin_watch
# it attaches the ledger again: PERFMON (38), BPF (39)
check 'row7: watch goes on as nobody, in no group, with what looks and zooms use' "$(cat threads)" \
	every_thread "$nobody" "$no_group" "$(printf '%016x' $((looks | 1 << 38 | 1 << 39)))"
check 'row7: a filter refuses it the rest' "$(seccomp_of $watcher)" filtered $watcher
touch go
until_true grep -q '"type":"stall"' watch.ndjson
proof_of_known "row7: and still brings the ledger's proof of root's processes"
check 'row7: and ends in good order' "$(cat watch.err)" end_watch
begin_watch --zoom-budget 0 --user alice
check 'row7: watch that attaches no ledger keeps what looks use, and --user names another' \
	"$(cat threads)" every_thread 23456 23456 "$(printf '%016x' $looks)"
end_watch
begin_watch --user root
check 'row7: watch --user root stays root' "$(cat threads)" stays_root
end_watch
"$IPCSTALL" watch -d 1s --user nobody-has-this-name >out 2>err
rc=$?
check 'row7: watch as a user there is none of' "$(cat out err)" \
	eval "[ $rc -eq 2 ] && [ ! -s out ] && grep -q 'no such user' err"

# as docs/monitoring/ipcstall-watch.service starts it
unit=bpf,+perfmon,+syslog
rm -f go watch.err watch.ndjson
setpriv --reuid=23456 --regid=23456 --clear-groups ./known --go go nagle n=100000 >/dev/null 2>&1 &
known=$!
until_true grep -qx known /proc/$known/comm # no longer setpriv, and no longer root's
setpriv --reuid=23456 --regid=23456 --clear-groups --inh-caps=-all,+$unit \
	--ambient-caps=+$unit --bounding-set=-all,+$unit --no-new-privs \
	"$IPCSTALL" watch -p $known -i 1s >watch.ndjson 2>watch.err &
watcher=$!
jobs_to_end+=("$known" "$watcher")
until_true grep -qs watching watch.err
touch go
until_true grep -q '"type":"stall"' watch.ndjson
check 'row7: a service that never was root has the filter too' "$(seccomp_of $watcher)" \
	filtered $watcher
proof_of_known 'row7: and brings the proof'
check 'row7: and ends in good order too' "$(cat watch.err)" end_watch

# --- top ---
begin_top() { # ARGUMENTS...: its number in $lister; its file is where only root may write
	rm -rf mine
	mkdir -m 700 mine
	./known nagle n=100000 >/dev/null 2>&1 &
	known=$!
	"$IPCSTALL" top --json mine/top.nd -i 0.5s -n 0 "$@" 2>top.err &
	lister=$!
	jobs_to_end+=("$known" "$lister")
	until_true test -s mine/top.nd
	status_of $lister >threads
}
end_top() {
	kill $known
	kill -INT $lister && wait $lister
}
begin_top
check 'row7: the lines of top come from nobody, with what looks use' "$(cat threads)" \
	every_thread "$nobody" "$no_group" "$(printf '%016x' $looks)"
check 'row7: a filter refuses it the rest too' "$(seccomp_of $lister)" filtered $lister
until_true grep -q '"nagle"' mine/top.nd
check "row7: they show what root's processes do, in a file that nobody could not open" \
	"$(head -c 300 mine/top.nd)" grep -q '"program": *"known"' mine/top.nd
check 'row7: and it ends in good order' "$(cat top.err)" end_top
begin_top --exact --user alice
check 'row7: of each message, without capabilities' "$(cat threads)" every_thread 23456 23456 $first
end_top
begin_top --user root
check 'row7: top --user root stays root' "$(cat threads)" stays_root
end_top
python3 -c 'import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' \
	"$IPCSTALL" top --user alice >out 2>&1 </dev/null
rc=$?
check 'row7: the screen takes no user' "$rc: $(head -c 300 out)" \
	eval "[ $rc -eq 2 ] && grep -q 'the screen needs its privileges' out"
finish
