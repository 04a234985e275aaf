# SPDX-License-Identifier: GPL-2.0-only
# The screen of ipcstall top by looks, in a real terminal, and how the screen ends.
. "$(dirname "$0")/lib.sh"
needs_ledger

"$KNOWN" nagle n=100000 >/dev/null 2>&1 &
jobs_to_end+=($!)
terminal 160 40 "stty -g >$WORK/stty.before; exec sh"
until_true test -s "$WORK/stty.before"
T send-keys "$IPCSTALL top -f known; echo END \$?" Enter
shown 'the row' '^ *9[0-9]\.[0-9]% known.*nagle, delack'
T send-keys Enter
shown 'enter attaches the ledger, which sees each stall' 'newest first: nagle 4[0-9]\.[0-9] ms, nagle 4'
shown 'time line' '^tx  \|.*[Nn]{10}'
T send-keys Escape
shown 'back' '^STALL WHO WAITS'
T send-keys q
shown 'q ends it' '^END 0'
for sig in INT TERM HUP; do
	rm -f "$WORK/stty.after"
	T send-keys "clear; $IPCSTALL top --exact; echo END $sig \$?; stty -g >$WORK/stty.after" Enter
	shown "comes up before $sig" '^ipcstall top  '
	kill -$sig "$(in_terminal)"
	shown "$sig ends it" "^END $sig 0"
	until_true test -s "$WORK/stty.after"
	check "$sig restores the terminal" "$(diff "$WORK"/stty.*)" cmp -s "$WORK/stty.before" "$WORK/stty.after"
done
T send-keys "clear; $IPCSTALL top --exact" Enter
shown 'comes up for the last time' '^ipcstall top  '
pid=$(in_terminal)
T kill-server
until_true gone "$pid"
check 'a closed terminal ends it' "process $pid is still there" gone "$pid"
finish
