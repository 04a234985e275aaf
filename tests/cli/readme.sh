# SPDX-License-Identifier: GPL-2.0-only
# README.md's commands, read from it and run, and its first card, which is the program's own.
. "$(dirname "$0")/lib.sh"
CLOCK=no
needs_ledger

(while :; do "$KNOWN" nagle n=1000; done) >/dev/null 2>&1 & # it ends itself after a minute
jobs_to_end+=($!)
known=$!
cd "$here" || exit 1
"$IPCSTALL" --mode pipe --size 64 -d 50ms -q --json "$WORK/A.json" >/dev/null && cp "$WORK/A.json" "$WORK/B.json"
"$IPCSTALL" record -q -o "$WORK/FILE.rec" -- true
"$IPCSTALL" run -q --threshold 5ms --stacks --json "$WORK/S.json" -- "$KNOWN" nagle n=5 >/dev/null 2>&1
cat >"$WORK/commands.py" <<'PY'
"""One command a line, its words parted by tabs: those of README.md that can be run here, made short; of the others `left out` and which."""
import re, sys
pid, work = sys.argv[1:3]
text = open("README.md").read()
found = re.findall(r"`(ipcstall [^`]+)`", text) + re.findall(r"^    (?:\$ )?(?:sudo )?(ipcstall .*)$", text, re.M)
# what needs a person, another host, more than a minute, or programs that are built apart
NOT_HERE = re.compile(r"^ipcstall (server|export|sweep|experiment seed|diagnose|watch$|report (comb|FILE)|replay FILE|help COMMAND|try)|--connect|--mode (grpc|thrift|tcp --size 64K)|-c /sys|-c CGROUP")
INSTEAD = [(r"\bPID\b", pid), (r"-- CMD\b", "-- true"), (r"-d (10s|1h)\b", "-d 1s"), (r" S\.json$", rf" {work}/S.json -o {work}/S.svg"), (r"--json S\.json", rf"--json {work}/new.json"),
           (r"\b([AB])\.json\b", rf"{work}/\1.json"), (r"\bFILE\b", f"{work}/FILE"),
           (r"^ipcstall top$", "ipcstall top -b --iterations 1 -i 0.3"), (r"^(ipcstall --mode pipe)$", r"\1 --size 64 -d 50ms --no-trace")]
for command in dict.fromkeys(c.strip() for c in found):
    command = re.sub(r"\s+#.*", "", command)
    if NOT_HERE.search(command):
        print("left out\t" + command)
        continue
    for old, new in INSTEAD:
        command = re.sub(old, new, command)
    print("\t".join(command.split()[1:]))
PY
python3 "$WORK/commands.py" $known "$WORK" >"$WORK/commands"
run=0
while IFS=$'\t' read -r -a words; do
	[ "${words[0]}" != 'left out' ] || { echo "# left out: ${words[1]}"; continue; }
	PYTHON=/usr/bin/python3 timeout "$HUNG" "$IPCSTALL" "${words[@]}" >"$WORK/out" 2>"$WORK/err" </dev/null
	rc=$?
	check "README: ipcstall ${words[*]}" "exit code $rc: $(head -c 300 "$WORK/err")" [ $rc -eq 0 ]
	run=$((run + 1))
done <"$WORK/commands"
check 'README names commands that can be run' "$run of $(wc -l <"$WORK/commands")" [ $run -ge 10 ]

# the card: the same lines, whatever the figures; a busy host may add one, for who had no CPU
CLOCK=yes
labels() { # as far as the bars, whose rows hang on what was seen: the first word of each line
	sed -n '/^STALLED/,/share of life/p' | awk 'NF { print $1 }'
}
sed -n '/^    STALLED/,/share of life/s/^    //p' README.md | labels >"$WORK/said"
COLUMNS=80 "$IPCSTALL" run -- "$KNOWN" nagle 2>&1 >/dev/null | labels >"$WORK/is"
check "README's first card is the program's own" "$(diff "$WORK/said" "$WORK/is" | tr '\n' ' ')" cmp -s "$WORK/said" "$WORK/is"
finish
