# SPDX-License-Identifier: GPL-2.0-only
# Experiment files: what is refused, and a short one that comes to an answer.
. "$(dirname "$0")/lib.sh"
files=$(dirname "$0")/../../docs/experiments
export PYTHON=${PYTHON:-/usr/bin/python3}

plan() { # FILE [JSON-BLOCK]
	printf '# A title\n\n## Hypothesis\n\nh\n\n## Variables\n\nv\n\n## Apparatus\n\na\n\n```json\n%s\n```\n' "$2" >"$WORK/$1.md"
}
whole() { printf '{"schema":"ipcstall.experiment","version":1,"seed":"0","runs":[%s],"claims":[%s],"figures":[]}' "$1" "$2"; }
run='{"name":"r","command":"sweep -m pipe -t latency --no-trace -V size=4,64 -d 30ms --placement same","full":"--repeats 4","quick":"--repeats 2"}'
claim='{"says":"small is quicker","kind":"trend","metric":"latency","expect":"rises"}'

refuses 'no file' 2 'give one' experiment
refuses 'no such file' 9 'no-such: No such file' experiment no-such
refuses 'a directory' 9 '' experiment "$WORK"
echo 'no title' >"$WORK/untitled.md"
refuses 'no title' 9 'no title' experiment "$WORK/untitled.md"
plan none ''; sed -i '/```/d' "$WORK/none.md"
refuses 'no block' 9 'no .*json block' experiment "$WORK/none.md"
plan broken '{"schema": '
refuses 'broken json names its line' 9 'line 16' experiment "$WORK/broken.md"
plan foreign '{"schema":"x","version":1}'
refuses 'another schema' 9 'schema' experiment "$WORK/foreign.md"
plan later '{"schema":"ipcstall.experiment","version":2}'
refuses 'a later version' 8 'version 2' experiment "$WORK/later.md"
plan noruns "$(whole '' "$claim")"
refuses 'no runs' 9 '0 runs' experiment "$WORK/noruns.md"
plan shell "$(whole '{"name":"r","command":"run -- id","full":"","quick":""}' "$claim")"
refuses 'anything but a sweep' 9 'a run is a sweep' experiment "$WORK/shell.md"
plan pilot "$(whole '{"name":"r","command":"sweep","full":"","quick":"","repeats":{"pilot":9,"most":3}}' "$claim")"
refuses 'a pilot longer than the run' 9 '"most"' experiment "$WORK/pilot.md"
plan part '{"schema":"ipcstall.experiment","version":1,"seed":"0","parts":["../x"],"runs":[],"claims":[],"figures":[]}'
refuses 'a part that is a path' 9 'a part is the name of an experiment' experiment "$WORK/part.md"
plan path "$(whole '{"name":"../r","command":"sweep","full":"","quick":""}' "$claim")"
refuses 'a name that is a path' 9 'name' experiment "$WORK/path.md"
plan twice "$(whole "$run,$run" "$claim")"
refuses 'two runs of one name' 9 'two runs' experiment "$WORK/twice.md"
plan good "$(whole "$run" "$claim")"
echo >"$WORK/a-file"
refuses 'a file where the results should go' 6 'exists' experiment "$WORK/good.md" -o "$WORK/a-file"
refuses 'no place for the results' 6 '' experiment "$WORK/good.md" -o /proc/nowhere

# An interrupt that is sent to the parent alone, as a script does it.
long='{"name":"r","command":"sweep -m pipe -t latency --no-trace -V size=4,64 -d 5s --placement same","full":"--repeats 4","quick":"--repeats 2"}'
plan long "$(whole "$long" "$claim")"
says_true 'interrupted alone, it ends, and the run with it' "import os, signal, subprocess
p = subprocess.Popen(['$IPCSTALL', 'experiment', '$WORK/long.md', '-o', '$WORK/long'], stderr=subprocess.DEVNULL)
until = time.monotonic() + 120
while time.monotonic() < until and not os.path.exists('$WORK/long/r.ndjson'): time.sleep(0.05)
p.send_signal(signal.SIGINT)
try: rc = p.wait(100)
except subprocess.TimeoutExpired: rc = 'none'; p.terminate()
left = subprocess.run(\"ps -eo comm=,args= | grep '^ipcstall .*$WORK/long/r.ndjson'\", shell=True, capture_output=True, text=True).stdout" "rc == 130 and not left" '(rc, left)'

# NAME FILE PATTERN: comes to an answer (0, or 10 where the data do not decide), which says PATTERN.
answers() {
	timeout 900 "$IPCSTALL" experiment "$2" --quick -o "$WORK/results" >"$WORK/text" 2>"$WORK/err" </dev/null
	local rc=$?
	if [ $rc -ne 0 ] && [ $rc -ne 10 ]; then
		fail "$1" "exit code $rc: $(tail -2 "$WORK/err")"
	elif ! grep -qE "^Answer: $3" "$WORK/text"; then
		fail "$1" "$(grep '^Answer' "$WORK/text" || tail -3 "$WORK/text")"
	elif ! [ -s "$WORK/results/report.html" ] || ! [ -s "$WORK/results/answer.json" ]; then
		fail "$1" 'no report or no answer.json'
	else
		pass "$1"
	fi
}
if "$PYTHON" -c 'import matplotlib, scipy, jinja2' 2>/dev/null; then
	answers 'a short one of our own' "$WORK/good.md" '(SUPPORTED|REFUTED|NOT DECIDED)'
	before=$(sha256sum "$WORK/results/r.ndjson")
	timeout $HUNG "$IPCSTALL" experiment "$WORK/good.md" --quick --resume -o "$WORK/results" >/dev/null 2>"$WORK/err"
	grep -q 'is complete' "$WORK/err" && [ "$before" = "$(sha256sum "$WORK/results/r.ndjson")" ] && pass 'resumed: what is there is kept' || fail 'resumed: what is there is kept' "$(tail -1 "$WORK/err")"
	head -n 4 "$WORK/results/r.ndjson" >"$WORK/cut"; mv "$WORK/cut" "$WORK/results/r.ndjson"
	timeout $HUNG "$IPCSTALL" experiment "$WORK/good.md" --quick --resume -o "$WORK/results" >/dev/null 2>"$WORK/err"
	[ "$(grep -c '"vars"' "$WORK/results/r.ndjson")" -eq 4 ] && pass 'resumed: an unfinished sweep goes on' || fail 'resumed: an unfinished sweep goes on' "$(tail -1 "$WORK/err")"
	rm -rf "$WORK/results"
	answers 'handshake, quick' "$files/handshake.md" '(SUPPORTED|REFUTED|PARTLY|NOT DECIDED)'
	[ "$(ls "$WORK/results"/figure-*.png | wc -l)" -eq 2 ] && pass 'its figures are there' || fail 'its figures are there' "$(ls "$WORK/results")"
	rm -rf "$WORK/seed"
	timeout 900 "$IPCSTALL" experiment seed-002 --quick -o "$WORK/seed" >"$WORK/text" 2>"$WORK/err" </dev/null
	rc=$?
	if { [ $rc -eq 0 ] || [ $rc -eq 10 ]; } && grep -q 'the paper said: median 52.7' "$WORK/text" && grep -q 'here it is: least: [0-9]' "$WORK/text" &&
		[ -s "$WORK/seed/report.html" ] && [ -s "$WORK/seed/handshake/report.html" ]; then pass 'a seed: its rows beside the paper'; else fail 'a seed: its rows beside the paper' "exit code $rc: $(tail -2 "$WORK/err")"; fi
	calm='{"name":"r","command":"sweep -m pipe -t latency --no-trace -V size=4,64 -d 30ms --placement same","full":"","quick":"","repeats":{"pilot":2,"most":6}}'
	plan calm "$(whole "$calm" '{"says":"s","kind":"faster","metric":"latency","margin":0.5,"of":{"size":4},"than":{"size":64},"by":"mode"}')"
	timeout $HUNG "$IPCSTALL" experiment "$WORK/calm.md" -o "$WORK/calm" >"$WORK/text" 2>"$WORK/err"
	rc=$?
	if grep -q 'the machine is disturbed' "$WORK/err"; then check 'a disturbed machine ends it early' "exit code $rc" [ $rc -eq 10 ]; else check 'the pilot says how many repeats' "$(cat "$WORK/text" "$WORK/err")" grep -qE '^pilot of r: [2-6] repeats' "$WORK/text"; fi
	plan bad-kind "$(whole "$run" '{"says":"s","kind":"witchcraft"}')"
	timeout $HUNG "$IPCSTALL" experiment "$WORK/bad-kind.md" --quick -o "$WORK/results2" >"$WORK/text" 2>"$WORK/err"
	[ $? -eq 9 ] && grep -q 'witchcraft' "$WORK/err" && pass 'a kind nobody knows' || fail 'a kind nobody knows' "$(tail -1 "$WORK/err")"
else
	echo 'skip answers: no matplotlib'
fi
PYTHON=/nonexistent timeout $HUNG "$IPCSTALL" experiment "$WORK/good.md" --quick -o "$WORK/results3" >"$WORK/text" 2>"$WORK/err"
[ $? -eq 4 ] && grep -q 'install Python' "$WORK/err" && [ -s "$WORK/results3/r.ndjson" ] && pass 'without Python the data are kept and it says so' || fail 'without Python the data are kept and it says so' "$(tail -1 "$WORK/err")"

n=$(ls "$files"/[a-z]*.md | wc -l)
[ "$("$IPCSTALL" experiment --list | grep -c "^[^ ]")" -eq "$n" ] && [ "$n" -ge 9 ] && pass 'all are listed' || fail 'all are listed' "$n files"

make -s -C "$files/../.." install DESTDIR="$WORK/root" PREFIX=/usr >/dev/null 2>"$WORK/err" &&
	[ "$(cd / && "$WORK/root/usr/bin/ipcstall" experiment --list | grep -c "^[^ ]")" -eq "$n" ] && pass 'installed: they are found' || fail 'installed: they are found' "$(tail -1 "$WORK/err")"
make -s -C "$files/../.." uninstall DESTDIR="$WORK/root" PREFIX=/usr
check 'uninstalled: nothing is left' "$(find "$WORK/root" -type f)" [ -z "$(find "$WORK/root" ! -type d)" ]
finish
