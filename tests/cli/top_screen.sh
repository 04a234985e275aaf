# SPDX-License-Identifier: GPL-2.0-only
# The screen of ipcstall top with the ledger, in a real terminal: keys, sizes, ^Z.
. "$(dirname "$0")/lib.sh"
needs_ledger

"$KNOWN" nagle n=100000 >/dev/null 2>&1 &
jobs_to_end+=($!)
# the pane's shell has a process group for each job: in its own top would be no job that can stop
terminal 100 30 "stty -g >$WORK/stty.before; echo BEFORE; set -m; $IPCSTALL top --exact -f known; echo STOPPED; read -r again; fg >/dev/null; echo EXIT \$?; stty -g >$WORK/stty.after; exec sh"
shown 'comes up' '^ipcstall top  '
shown 'the row' '^ *9[0-9]\.[0-9]% known.*nagle, delack'
T send-keys Enter
shown 'details' 'STALLED .* waits for an ACK from known'
shown 'the fix in the details' 'try    TCP_NODELAY'
shown 'time line' '^tx  \|.*[Nn]{10}'
shown 'stalls' 'newest first: nagle 4[0-9]\.[0-9] ms, nagle 4'
T send-keys t
shown 't tries a fix on it, after asking' 'Go on\? \[y/N\]'
T send-keys n Enter
shown 'and comes back' 'press Enter to go back to top'
T send-keys Enter
shown 'to the details' '^esc back  t try a fix'
T send-keys Escape
shown 'back' '^STALL WHO WAITS'
T send-keys ' '
shown 'pause' 'PAUSED'
T send-keys ' ' '/' x y z z y
shown 'typing' 'filter: knownxyzzy_'
shown 'nothing found' 'no row contains'
T send-keys Escape
T resize-window -x 20 -y 8
shown '20 columns' '^WHO WAITS'
T resize-window -x 160 -y 40
shown '160 columns' 'LOCAL'
T send-keys C-z
shown '^Z gives the terminal back' '^STOPPED'
T send-keys Enter
shown 'after ^Z' '^STALL WHO WAITS'
T send-keys q
shown 'q ends it' 'EXIT 0'
shown 'what stood there before is there again' '^BEFORE'
until_true test -s "$WORK/stty.after"
check 'the terminal is as it was' "$(diff "$WORK"/stty.*)" cmp -s "$WORK/stty.before" "$WORK/stty.after"
finish
