#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run, attach, record and replay where something is in the way: one clear line, the right exit code, nothing left behind.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 70

# --- what needs no privilege: refused before anything is attached ---
dead=$(bash -c 'echo $$')
refuses "attach: nobody" 2 'no target given' attach
refuses "attach: a dead process" 5 'no such process' attach -p "$dead" -d 1s
refuses "attach: not a number" 2 'not a process id' attach -p 12x -d 1s
refuses "attach: not a number in a list" 2 "'13x': not a process id" attach -p "$$,13x" -d 1s
refuses "attach: two ways" 2 'exclude each other' attach -a -p $$ -d 1s
refuses "attach: no such name" 5 'no process of this name' attach --comm no-such-name -d 1s
refuses "attach: a bad port" 2 'port' attach -a -P 70000 -d 1s
refuses "attach: a bad protocol" 2 'unknown' attach -a --proto sctp -d 1s
refuses "run: no command" 2 'no command' run
refuses "run: no such program" '[2345]' 'no-such-program|cannot|Operation' run -- "$WORK/no-such-program"
refuses "run: two outputs to one pipe" 2 'would mix' run --json - --ndjson - -- true
refuses "run: two outputs to one file" 2 'two outputs would mix in one file' run --json x --timeline ./x -- true
check "run: and none is left" "x is there" [ ! -e x ]
refuses "run: a folder that is not there" 6 'No such file' run --json /nowhere/x.json -- true
refuses "run: a timeline that cannot be written" 6 'No such file' run --timeline /nowhere/t -- true
refuses "record: no file" 2 'no output file given' record -a
refuses "record: a command and a process" 2 'exclude each other' record -o a.rec -p $$ -- true
refuses "record: too small" 2 'out of range' record -o a.rec --max-size 1K -a
refuses "record: onto standard output" 2 'give a file' record -o - -a
check "record: no file of that name is made" "it is there" [ ! -e ./- ]
refuses "replay: from standard input" 2 'save it to a file' replay -
refuses "replay: no file" 2 'give one FILE' replay
refuses "replay: not there" 9 'No such file' replay /nowhere/a.rec
echo '{}' >not.rec
refuses "replay: something else" 9 'not a recording' replay not.rec
: >empty.rec
refuses "replay: empty" 9 'not a recording' replay empty.rec
refuses "replay: a folder" 9 'not a recording' replay "$WORK"
printf 'ipcstall\x63\0\0\0' >version.rec
python3 -c 'import sys,zlib,struct; d=open("version.rec","rb").read(); sys.stdout.buffer.write(d+struct.pack("<I",zlib.crc32(d)))' >version2.rec
refuses "replay: another version" 8 'version 99' replay version2.rec
# blocks of 60 KB that unpack to 60 MB of living endpoints each: one line, and no more than half of the memory that is free
cat >bomb.py <<'PY'
import struct, sys, zlib
def block(kind, content):
    packed = min(zlib.compress(content, 9), content, key=len)
    head = struct.pack("<IIII", kind, len(content), len(packed), zlib.crc32(packed))
    return head + struct.pack("<I", zlib.crc32(head)) + packed
head = b"ipcstall" + struct.pack("<I", int(open(sys.argv[1]).read().split("BLOCKS_VERSION")[1].split()[0]))
endpoint = b"\1\1\x3c\0\0\0" + bytes(60)  # one section, its identity
snapshot = block(5, b"\0\x40" + bytes(64) + b"\0" + b"\xff" * 5 + b"\1" + endpoint * 1000000)  # 64 counters
sys.stdout.buffer.write(head + struct.pack("<I", zlib.crc32(head)) + block(1, b"{}") + snapshot * 200)
PY
cat >bounded.py <<'PY'
import resource, subprocess, sys
free = int(next(line for line in open("/proc/meminfo") if line.startswith("MemAvailable")).split()[1]) << 10
resource.setrlimit(resource.RLIMIT_AS, (free // 4 * 3, free // 4 * 3))
p = subprocess.run(sys.argv[1:], capture_output=True, text=True)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
sys.exit(0 if p.returncode == 5 and p.stderr.count("\n") == 1 and "no memory" in p.stderr and peak < free / 2 else f"{p} {peak} of {free}")
PY
# shellcheck disable=SC2154 # lib.sh says where
python3 bomb.py "$here/user/recording/blocks.h" >bomb.rec
said=$(python3 bounded.py "$IPCSTALL" replay bomb.rec 2>&1)
check "replay: a file that unpacks without end" "$said" [ $? -eq 0 ]

# --- the rest needs to trace ---
if ! "$IPCSTALL" run -q -- true 2>"$WORK/why" >/dev/null; then
	echo "skip tracing: $(tail -1 "$WORK/why")"
	finish
fi
# What the command would have been traced into stays as it was; execvp()'s rules are the tool's.
echo kept >kept
mkdir path1 path2
printf '#!/bin/sh\nexit 7\n' | tee path1/seven path2/seven >seven
chmod 755 path2/seven
refuses "record: no such program" 2 'no-such-program: No such file' record -o kept -- "$WORK/no-such-program"
refuses "record: a file that is no program" 3 'seven: Permission denied' record -o kept -- ./seven
refuses "record: a folder" 3 'path1: Permission denied' record -o kept -- ./path1
refuses "run: a stream, and no such program" 2 'no-such-program: No such file' run --ndjson kept -- no-such-program
refuses "run: an empty name" 2 'No such file' run --ndjson kept -- ''
PATH=$WORK/path1:$PATH refuses "run: a file on the path that is no program" 3 'seven: Permission denied' run --ndjson kept -- seven
check "what was there before stays" "$(head -c 100 kept)" [ "$(cat kept)" = kept ]
(PATH=$WORK/path1:$WORK/path2:$PATH; "$IPCSTALL" run -q -- seven 2>err)
rc=$?
check "the next on the path is run" "$rc $(cat err)" [ $rc -eq 7 ]
refuses "attach: a cgroup that is gone" '[35]' 'cgroup' attach -c /sys/fs/cgroup/no-such-group -d 1s

# NAME WANT ARGS...: the exit code of a command is passed on
passes_on() {
	local name=$1 want=$2
	shift 2
	"$IPCSTALL" run -q -- "$@" >/dev/null 2>&1 </dev/null
	local rc=$?
	if [ $rc -eq "$want" ]; then pass "$name"; else fail "$name" "exit code $rc, not $want"; fi
}
passes_on "run passes 0 on" 0 true
passes_on "run passes 7 on" 7 sh -c 'exit 7'
passes_on "run passes a signal on" 143 sh -c 'kill -TERM $$'

# what ends the command ends all that it has started, also what is nobody's child any more and what does not listen
cat >family.sh <<'SH'
echo $$ >>pids
(sh -c 'echo $$ >>pids; exec sleep 60' &)
sh -c 'trap "" TERM; echo $$ >>pids; while :; do sleep 0.2; done' &
yes | sh -c 'echo $$ >>pids; exec cat >/dev/null'
SH
all_gone() { for p in $(cat pids); do ! kill -0 "$p" 2>/dev/null || return 1; done; }
timeout $HUNG "$IPCSTALL" run -q --duration 3s -- sh family.sh
rc=$?
check "--duration ends all of a command" "exit code $rc, $(wc -l <pids) began, left: $(ps -o pid=,args= -p "$(paste -sd, pids)")" \
	eval "[ $rc -eq 143 ] && [ \$(wc -l <pids) -eq 4 ] && all_gone"
rm -f pids
"$IPCSTALL" run -q -- sh family.sh &
tool=$!
until_true eval '[ "$(cat pids 2>/dev/null | wc -l)" -eq 4 ]'
kill -TERM $tool
wait $tool
rc=$?
check "SIGTERM ends all of a command" "exit code $rc, left: $(ps -o pid=,args= -p "$(paste -sd, pids)")" eval "[ $rc -eq 130 ] && all_gone"
rm -f pids

# but not what the shell that became the tool had started before, nor what a command leaves behind that ends by itself
(sleep 60 & echo $! >pids; exec "$IPCSTALL" run -q --duration 300ms -- sh -c 'sleep 60; :')
check "what was there before stays" "it is gone" kill -0 "$(cat pids)"
"$IPCSTALL" run -q -- sh -c '(sleep 60 & echo $! >>pids)'
check "what is left behind stays" "it is gone" kill -0 "$(tail -1 pids)"
xargs kill <pids

# NAME CODE PATTERN FILE COMMAND...: exit code and the last line of stderr
ends() {
	local name=$1 code=$2 pattern=$3 rc
	shift 3
	timeout $HUNG "$@" 2>err >out </dev/null
	rc=$?
	if [ $rc -ne "$code" ]; then
		fail "$name" "exit code $rc, not $code: $(tail -1 err)"
	elif ! tail -1 err | grep -qE -- "$pattern"; then
		fail "$name" "'$(tail -1 err)' does not match $pattern"
	else
		pass "$name"
	fi
}
cat >talk.py <<'PY'
import os, socket, sys, time
a, b = socket.socketpair()
for _ in range(int(sys.argv[1])):
    a.send(b"x"); b.recv(1); time.sleep(0.01)
PY
talk=(python3 talk.py)
ends "json to a full disk" 6 'No space' "$IPCSTALL" run -q --json /dev/full -- "${talk[@]}" 3
ends "json to a standard output that is full" 6 'standard output: No space left on device; free some space or start its reader, and run again$' \
	sh -c '"$0" "$@" >/dev/full' "$IPCSTALL" run -q --json - -- true
ends "csv to a full disk" 6 '/dev/full: No space left on device; free some space and run again$' "$IPCSTALL" run -q --csv /dev/full -- "${talk[@]}" 3
ends "timeline to a full disk" 6 'No space' "$IPCSTALL" run -q --timeline /dev/full -- "${talk[@]}" 3
# a pipe is one endpoint of two programs: both are named
"$IPCSTALL" run -q --timeline pipe.t -- bash -c 'head -c 300000 /dev/zero | cat >/dev/null' 2>err
says_true "timeline: who reads a pipe" "import json; e = json.loads(open('pipe.t').readline())['endpoints']" \
	"[(p['comm'], p['reader_comm']) for p in e if p['proto'] == 'pipe' and 'reader_comm' in p] == [('head', 'cat')]" 'e'
ends "trace events to a full disk" 6 'No space' "$IPCSTALL" run -q --perfetto /dev/full -- "${talk[@]}" 3
ends "stream to a full disk" 6 'No space' "$IPCSTALL" run -q --ndjson /dev/full -i 50ms -- "${talk[@]}" 30
ends "recording to a full disk" 6 'No space' "$IPCSTALL" record -q -o /dev/full -- "${talk[@]}" 3

# a descriptor that was closed is no tracer's: it stays closed, to the command too
for args in 'run -q --csv - -- true' 'top --exact -b --iterations 1 -i 50ms' 'export --exact --once --interval 100ms'; do
	# shellcheck disable=SC2086
	ends "$args: closed standard output" 6 'standard output: Bad file descriptor' sh -c '"$0" "$@" >&-' "$IPCSTALL" $args
done
"$IPCSTALL" run -q -- sh -c '[ ! -e /proc/$$/fd/0 ] && [ ! -e /proc/$$/fd/1 ] && exit 5' <&- >&- 2>err
rc=$?
check "the command's closed descriptors are closed" "$rc $(cat err)" [ $rc -eq 5 ]

# a reader that leaves: attach ends by itself, with 6
"${talk[@]}" 30000 &
talker=$!
{ timeout $HUNG "$IPCSTALL" attach --exact -q -p $talker --ndjson - -i 50ms -d 30s 2>err; echo $? >status; } | head -2 >out
if [ "$(cat status)" = 6 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q 'Broken pipe' err; then
	pass "a reader that leaves"
else
	fail "a reader that leaves" "exit code $(cat status): $(cat err)"
fi

# SIGINT ends a session in good order, with all its files, though a script's shell has what it starts in the background ignore it
"$IPCSTALL" attach --exact -q -p $talker --json l.json --timeline t.ndjson 2>err &
tool=$!
until_true tracing $tool
kill -INT $tool
wait $tool
rc=$?
if [ $rc -eq 0 ] && [ -s l.json ] && tail -1 t.ndjson | grep -q '"end"'; then
	pass "Ctrl-C leaves whole files"
else
	fail "Ctrl-C leaves whole files" "exit code $rc: $(cat err)"
fi

# nohup's hangup stays ignored; SIGTERM still ends it, with its files
(trap '' HUP; exec "$IPCSTALL" attach --exact -q -p $talker --json i.json 2>err) &
tool=$!
until_true tracing $tool
kill -HUP $tool
sleep 1
check "an inherited SIG_IGN stays" "it is gone" kill -0 $tool
kill -TERM $tool
wait $tool
rc=$?
check "and SIGTERM ends it" "exit code $rc: $(cat err)" eval "[ $rc -eq 0 ] && [ -s i.json ]"

# the command gets what the tool was started with, no more and no less ignored
for ignored in '' 'HUP' 'INT PIPE' 'HUP INT QUIT TERM PIPE'; do
	bare=$(env - sh -c "trap '' ${ignored:-0}; exec grep -E '^Sig(Ign|Blk)' /proc/self/status")
	run=$(env - sh -c "trap '' ${ignored:-0}; exec '$IPCSTALL' run -q -- grep -E '^Sig(Ign|Blk)' /proc/self/status" 2>err)
	check "the command ignores '$ignored'" "$run, not $bare: $(cat err)" [ "$run" = "$bare" ]
done

# a pipe ends with the processes that held it: nobody closes it, and half a second of waiting is no small part of its life
"$IPCSTALL" run -q --json p.json -- sh -c 'head -c 300000 /dev/zero | { sleep 0.5; cat >/dev/null; }; sleep 2'
says_true "a pipe ends with its processes" 'd = json.load(open("p.json"))["ledger"]
e, = [e for e in d["endpoints"] if e["proto"] == "pipe" and e["beside"]["rx"]["bytes"] == 300000]' \
	'e["tx"]["lifetime_ns"] < 1.9e9 and e["tx"]["states"]["sndbuf"]["ns"] > 0.4e9' '(e["tx"]["lifetime_ns"], e["tx"]["states"]["sndbuf"])'

# Ctrl-C in a terminal is the command's too: it is waited for and traced, and its exit code passed on; a second one ends it
cat >busy.py <<'PY'
import os, signal, sys, time
patient = sys.argv[1] == "patient"
r, w = os.pipe()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
print("ready", flush=True)
signal.sigwait([signal.SIGINT])
time.sleep(1 if patient else 60)
os.write(w, b"x" * 1000)
os.read(r, 1000)
sys.exit(4)
PY
cat >at_terminal.py <<'PY'
import os, pty, signal, sys
signal.alarm(300)
pid, tty = pty.fork()
if not pid:
    signal.signal(signal.SIGINT, signal.SIG_DFL)    # as at a login, wherever this test was started
    os.execv(sys.argv[2], [*sys.argv[2:4], "--json", "r.json", "--", sys.executable, "busy.py", sys.argv[1]])
seen = b""
while b"ready" not in seen:
    seen += os.read(tty, 4096)
os.write(tty, b"\x03")
if sys.argv[1] == "stuck":
    while b"Ctrl-C again" not in seen:
        seen += os.read(tty, 4096)
    os.write(tty, b"\x03")
try:
    while os.read(tty, 4096):
        pass
except OSError:
    pass
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
PY
check "Ctrl-C is the command's" "exit code" [ "$(python3 at_terminal.py patient "$IPCSTALL" run)" = 4 ]
check "and it is traced to its end" "$(head -c 400 r.json)" python3 -c 'import json; d = json.load(open("r.json")); assert d["exit_code"] == 4 and sum(e["beside"]["tx"]["bytes"] == 1000 for e in d["ledger"]["endpoints"]) == 1'
check "a second Ctrl-C ends it" "exit code" [ "$(python3 at_terminal.py stuck "$IPCSTALL" run)" = 130 ]
ends "a terminal of 20 columns" 0 '.' env COLUMNS=20 "$IPCSTALL" attach --exact -p $talker -d 500ms
kill $talker
wait $talker 2>/dev/null

# --- record and replay ---
"$IPCSTALL" record -q -o a.rec -- "${talk[@]}" 20 2>err || fail "record" "$(cat err)"
cp a.rec kept.rec
refuses "replay: an output in place of the recording" 2 'this input would be overwritten' replay a.rec --json ./a.rec
check "replay: the recording is as it was" "$(ls -l a.rec kept.rec)" cmp -s a.rec kept.rec
refuses "replay: no timeline was recorded" 9 'holds no timeline' replay a.rec --timeline t2.ndjson
ends "replay to a full disk" 6 'No space' sh -c '"$0" replay a.rec >/dev/full' "$IPCSTALL"
size=$(stat -c %s a.rec)
head -c $((size - 1)) a.rec >cut.rec
ends "replay of a file that breaks off" 0 'is cut off at byte' "$IPCSTALL" replay cut.rec
cp a.rec bad.rec
printf '\x5a\x5a' | dd of=bad.rec bs=1 seek=60 conv=notrunc 2>/dev/null
ends "replay of a damaged head" 9 'it is damaged .*nothing can be shown' "$IPCSTALL" replay bad.rec

# one byte of what is in the last block of a kind (5: a snapshot), or of its head, is not what was written
cat >flip.py <<'PY'
import struct, sys
d, kind, offset, at, hit = bytearray(open("a.rec", "rb").read()), int(sys.argv[1]), int(sys.argv[2]), 16, None
while at < len(d):
    this, _, stored = struct.unpack_from("<III", d, at)
    hit = at + offset if this == kind else hit
    at += 20 + stored
d[hit] ^= 1
open("flipped.rec", "wb").write(d)
PY
for offset in 5 25; do
	python3 flip.py 5 $offset
	ends "replay of a damaged first snapshot, byte $offset" 9 'flipped.rec: it is damaged .*nothing can be shown' "$IPCSTALL" replay flipped.rec
	check "replay of a damaged first snapshot, byte $offset: one line" "$(cat err)" [ "$(wc -l <err)" -eq 1 ]
done
for at in '6 25' '8 5'; do # closed endpoints; the head of the last block
	python3 flip.py $at
	ends "replay of a damaged block, $at" 9 '1 damaged block left out' "$IPCSTALL" replay flipped.rec
	check "and it is said once, $at" "$(cat err)" [ "$(grep -c damaged err)" -eq 1 ]
done

# no room for a snapshot: nothing of it could be replayed, so the recording of before is still there
cp a.rec small.rec
ends "a recording without room" 6 'small.rec: File too large; there is no snapshot yet, so nothing is kept' \
	bash -c 'trap "" XFSZ; ulimit -f 3; exec "$0" "$@"' "$IPCSTALL" record -q -o small.rec --timeline -- "${talk[@]}" 30
check "leaves the one of before, and nothing beside it" "$(ls -la small.rec a.rec .*.part 2>&1)" eval 'cmp -s a.rec small.rec && ! ls .*.part 2>/dev/null'
"$IPCSTALL" record -q -i 100ms -o small.rec -- "${talk[@]}" 200 &
recorder=$!
jobs_to_end+=("$recorder")
check "a recording under way stands under its name from its first snapshot on" "$(ls -la)" until_true eval '! cmp -s a.rec small.rec'
kill -9 "$recorder"
wait "$recorder" 2>/dev/null
ends "and is read as far as it came" 0 'did not end cleanly; its figures are those of the last whole snapshot' "$IPCSTALL" replay small.rec

# --- without privileges ---
if command -v setpriv >/dev/null && [ "$(id -u)" = 0 ]; then
	cp "$IPCSTALL" "$WORK/ipcstall" 2>/dev/null
	chmod 755 "$WORK" "$WORK/ipcstall"
	chmod 644 a.rec
	nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	ends "nobody: run" 3 'run as root|CAP_BPF' "${nobody[@]}" "$WORK/ipcstall" run -- true
	[ "$(wc -l <err)" -eq 1 ] || fail "nobody: run" "$(wc -l <err) lines"
	sleep 300 &
	other=$!
	ends "nobody: another user's process" 3 'belongs to another user' "${nobody[@]}" "$WORK/ipcstall" attach --exact -p $other -d 1s
	ends "nobody: record" 3 'run as root|CAP_BPF' "${nobody[@]}" "$WORK/ipcstall" record -o /tmp/nobody-$$.rec -- true
	rm -f /tmp/nobody-$$.rec
	ends "nobody: replay needs no privilege" 0 'recorded on' "${nobody[@]}" "$WORK/ipcstall" replay a.rec
	kill $other
	mkdir -m 777 "$WORK/open"
	for asked in --ab --nist "--timeline $WORK/open/t" "--perfetto $WORK/open/p" '--backend rawtp'; do
		# shellcheck disable=SC2086
		ends "nobody: a benchmark with ${asked%% *}" 3 'run as root' "${nobody[@]}" "$WORK/ipcstall" -m pipe -t latency --size 4 --count 10 $asked --json "$WORK/open/r.json"
		says_true "nobody: a benchmark with ${asked%% *} is not complete" "d = json.load(open('$WORK/open/r.json'))" "d['complete'] is False and len(d['points']) == 1" "d['complete']"
		rm -f "$WORK/open/r.json"
	done
	check "nobody: a benchmark without the ledger" "exit code not 0" "${nobody[@]}" "$WORK/ipcstall" -m pipe -t latency --size 4 --count 10 -q
fi
# root has every capability: where the better backends are refused all the same, it is not for want of one
if [ "$(id -u)" = 0 ] && "$IPCSTALL" check | grep -q '^  fentry .*not permitted' && "$IPCSTALL" check | grep -q '^  raw tracepoints *yes'; then
	ends "a kernel that is locked down is said to be" 4 'locked down' "$IPCSTALL" run --backend fentry -- true
fi
# --- what closed before the last snapshot is in the replayed stream too ---
"$IPCSTALL" record -q -i 100ms --proto pipe -o closed.rec -- sh -c 'for i in 1 2; do head -c 300000 /dev/zero | (sleep 0.3; cat >/dev/null); done; sleep 0.4' 2>err
"$IPCSTALL" replay -q closed.rec --ndjson closed.ndjson --json closed.json 2>>err
says_true "replay: the stream ends as the document" 'rows = [json.loads(line) for line in open("closed.ndjson")]; so_far = [r["stall_ns"] for r in rows if r.get("type") == "interval"]; all_of_it = json.load(open("closed.json"))["ledger"]["stall_ns"]' \
	'all_of_it > 400e6 and so_far == sorted(so_far) and so_far[-1] == all_of_it' '(so_far, all_of_it)'
"$IPCSTALL" replay -q closed.rec -i 60s --ndjson rare.ndjson 2>>err && "$IPCSTALL" replay -q closed.rec -i 400ms --ndjson some.ndjson 2>>err
says_true "replay: the stream at an interval, and its end" 'lines = {name: [json.loads(line) for line in open(name + ".ndjson")] for name in ("closed", "some", "rare")}
t = {name: [row["t"] for row in rows if row.get("type") == "interval"] for name, rows in lines.items()}' \
	'len(t["rare"]) == 1 and 2 <= len(t["some"]) <= len(t["closed"]) / 3 and t["rare"][-1] == t["some"][-1] == t["closed"][-1] and lines["rare"][-2] == lines["closed"][-2]' 't'
[ -z "$(left_over)" ] && pass "nothing left running" || fail "nothing left running" "$(left_over)"
finish
