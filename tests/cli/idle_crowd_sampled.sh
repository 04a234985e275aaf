# SPDX-License-Identifier: GPL-2.0-only
# A stranger's idle sockets fill the table of endpoints that are looked at now and then
# (docs/SECURITY.md, row 5).
. "$(dirname "$0")/lib.sh"
needs_ledger
begin() { # crowd|honest: see idle_crowd.py
	/usr/bin/python3 "$(dirname "$0")/idle_crowd.py" "$1" >"$WORK/$1" &
	jobs_to_end+=($!)
}

metric() { # PATTERN: one of the exporter's lines
	python3 -c "import sys, urllib.request
sys.stdout.write(urllib.request.urlopen('http://127.0.0.1:$port/metrics', timeout=60).read().decode())" 2>/dev/null | grep -E "$1"
}
shown() { [ -n "$(metric "$1")" ]; }
port=$(free_port)
"$IPCSTALL" export --max-endpoints 500 --interval 1s --listen "127.0.0.1:$port" >"$WORK/out" 2>"$WORK/err" &
exporter=$!
jobs_to_end+=($exporter)
until_true shown '^ipcstall_overflow_endpoints'
begin crowd
until_true grep -qs there "$WORK/crowd"
until_true shown '^ipcstall_overflow_endpoints.* [1-9]'
begin honest
check 'row5: nor does it take a hook to see who talks' "$(metric '^ipcstall_overflow|honest' | head -3)" until_true shown 'process="honest"'
finish
