#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# report, figure, summary and compare: from any folder, and what they cannot read is refused in one line.
. "$(dirname "$0")/lib.sh"
corpus=$(cd "$(dirname "$0")/../corpus" && pwd)
cd "$WORK" || exit 70
python=${PYTHON:-/usr/bin/python3}
"$python" -c 'import numpy, matplotlib, jinja2, scipy' 2>/dev/null || { echo "the analysis' packages are missing: make deps"; exit 77; }
export PYTHON=$python

for i in a b; do
	works "a result $i" --mode pipe --size 64,1K --test latency --duration 100ms -q --no-trace --json $i.json
done
works 'report' report a.json -o r.html && check 'it is a page' "$(head -c 100 r.html)" grep -qi '<!doctype html' r.html
works 'figure' figure box a.json -o f.svg && check 'it is a picture' "$(head -c 100 f.svg)" grep -q '<svg' f.svg
works 'summary' summary a.json && check 'it has the points' "$(head -5 out)" grep -q 'Points: latency' out
works 'compare' compare a.json b.json && check 'it compares each size' "$(cat out)" [ "$(grep -cE '^  (64 B|1 KiB): latency ' out)" -eq 2 ]
check 'the files are called as they were named' "$(head -2 out)" grep -qx 'A  a.json' out

check 'a recording as a page' '' "$IPCSTALL" replay -q "$corpus/rwnd-reader.rec" --html page.html
check 'its card and its ledgers are there' "$(head -c 100 page.html)" sh -c 'grep -q "class=.card stalled" page.html && grep -q "\"kind\":\"ledgers\"" page.html'
check 'the page is all that is left' "$(ls -d /tmp/ipcstall-html-* 2>&1)" sh -c '! ls -d /tmp/ipcstall-html-* 2>/dev/null'
refuses 'a page that cannot be written' 6 'nowhere/page.html' replay -q "$corpus/rwnd-reader.rec" --html nowhere/page.html

refuses 'a file that is not there' 9 '^ipcstall: nowhere.json: no such file' report nowhere.json -o r2.html
refuses 'compare with itself alone' 2 'compare: 1 files; give two' compare a.json
refuses 'a kind that is none' 2 "figure 'pie'" figure pie a.json
refuses 'report of nothing' 2 'report: no file given' report
echo '{"schema": "ipcstall.result"' >cut.json
refuses 'a file that is cut' 9 '^ipcstall: cut.json' summary cut.json

mkdir analysis
echo 'open("ran", "w")' | tee analysis/__init__.py analysis/__main__.py >jinja2.py
works 'a stranger'"'"'s folder' report a.json -o r3.html
check 'nothing of it was run' "$(ls)" [ ! -e ran ]

if "$IPCSTALL" check >/dev/null 2>&1; then
	for i in a b; do "$IPCSTALL" record -q -o $i.rec -- sh -c 'head -c 4000000 /dev/zero | cat >/dev/null' 2>err || fail "record $i" "$(cat err)"; done
	"$IPCSTALL" compare a.rec b.rec >out 2>err
	check 'recordings are compared' "$(cat err)" grep -q 'pipe .*%' out
	check 'under their own names' "$(head -2 out)" grep -qx 'B  b.rec' out
	check 'nothing is left' "$(ls /tmp/ipcstall-compare* 2>&1)" bash -c '! ls /tmp/ipcstall-compare* 2>/dev/null'
fi
finish
