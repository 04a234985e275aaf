# SPDX-License-Identifier: GPL-2.0-only
# Whom the ledger follows, and with how little privilege: a cgroup's processes and no others; CAP_BPF and CAP_PERFMON alone.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 1
needs_ledger
top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
group=$top/ipcstall-test-$$

# COMMAND...: in the group
inside() { sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"; }

programs() { # FILE: the processes of its endpoints
	python3 -c "
import json, sys
ends = json.load(open(sys.argv[1]))['ledger']['endpoints']
print(*sorted({str(e['beside'][s]['pid']) for e in ends for s in ('tx', 'rx') if e['beside'][s]['pid']}))" "$1"
}

if [ -n "$top" ] && mkdir "$group" 2>/dev/null; then
	mkdir "$group/below"
	rm -f err # until_true is not to see what stood there
	"$IPCSTALL" attach --exact -c "$group" --json group.json >out 2>err &
	tool=$!
	until_true grep -qs 'attached;' err
	inside "$KNOWN" nagle n=10 >in.json &
	"$KNOWN" nagle n=10 >out.json
	wait $!
	group=$group/below inside "$KNOWN" pipe-slow-reader n=3 >below.json 2>/dev/null
	kill -INT $tool
	wait $tool
	rc=$?
	of() { python3 -c "import json, sys; print(*sorted({str(e['pid']) for e in json.load(open(sys.argv[1]))['endpoints']}))" "$1"; }
	wanted=$( (of in.json; of below.json) | tr ' ' '\n' | sort | xargs)
	got=$([ $rc -eq 0 ] && programs group.json | tr ' ' '\n' | sort | xargs)
	check 'a cgroup: its processes, those of the groups below it, and no others' "exit code $rc, wanted $wanted, got $got; $(head -c 200 err)" [ "$wanted" = "$got" ]
	says_true 'a cgroup: its name on every endpoint' "d = json.load(open('group.json'))['ledger']['endpoints']; names = {e['cgroup'] for e in d if e['pid']}" \
		"names == {'/ipcstall-test-$$', '/ipcstall-test-$$/below'}" names
	rmdir "$group/below" "$group"

	mkdir "$group"
	rm -f err
	"$IPCSTALL" attach --exact -c "$group" -d 2s --json gone.json >out 2>err &
	tool=$!
	until_true grep -qs 'attached;' err
	rmdir "$group"
	wait $tool
	rc=$?
	check 'a cgroup that goes meanwhile' "exit code $rc: $(head -c 300 err)" [ $rc -eq 0 ] && says_true 'nothing is made up of it' "d = json.load(open('gone.json'))" "d['ledger']['endpoints'] == []" d
else
	echo 'skip a cgroup: no cgroup v2 hierarchy in which groups can be made here'
fi

refuses 'a directory that is no cgroup' 2 'no directory of the cgroup v2 hierarchy' attach -c /tmp -d 1s
refuses 'a file that is no cgroup' 5 'Not a directory' attach -c /etc/passwd -d 1s

# --- a thread calls execve(): the leader's exit is not its process's ---
cat >exec.py <<'END'
import os, sys, threading
threading.Thread(target=os.execv, args=(sys.executable, [sys.executable, "-c", """
import os, time
r, w = os.pipe()
for i in range(20):
    time.sleep(0.005)
    os.write(w, b"x" * 500)
    os.read(r, 500)
"""])).start()
threading.Event().wait()
END
"$IPCSTALL" run -q --json exec.json -- python3 exec.py >out 2>err
says_true 'a program that a thread has started is followed' 'd = json.load(open("exec.json"))["ledger"]["endpoints"]' \
	'[e for e in d if e["proto"] == "pipe" and e["beside"]["tx"]["bytes"] == 10000]' d

# --- two processes on one socket, one of them asked for: the other waits in its calls too ---
cat >shared.py <<'END'
import os, socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0))
child = os.fork()
if child:
    print(child, flush=True)
    while s.recv(100) != b"end":
        pass
    os.wait()
    os._exit(0)
sys.stdin.readline()
c = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(100):
    c.sendto(b"x", s.getsockname())
    time.sleep(0.02)
c.sendto(b"end", s.getsockname())
END
mkfifo go
python3 shared.py <go >ready &
shared=$!
exec 5>go
until_true test -s ready
rm -f err
"$IPCSTALL" attach --exact -p "$(cat ready)" --json shared.json >out 2>err &
tool=$!
until_true grep -qs 'attached;' err
echo >&5
wait $shared
until_true gone $tool
wait $tool
exec 5>&-
says_true 'a reader that nobody asked for waits in its calls' 'd = json.load(open("shared.json"))["ledger"]["endpoints"]
r = [e for e in d if e["proto"] == "udp" and e["beside"]["rx"]["messages"] == 101]' \
	'len(r) == 1 and r[0]["rx"]["states"]["wait"]["ns"] > 1.8e9 and r[0]["beside"]["rx"]["blocked_ns"] > 1.8e9' d

# --- who has ended is waited for by nobody: whoever holds the descriptor still is who must close it, or read ---
cat >ended.py <<'END'
import os, signal, socket, sys, time
signal.alarm(300)
signal.signal(signal.SIGPIPE, signal.SIG_IGN)
pids = {}

def spawn(who, does):
    pid = os.fork()
    if pid == 0:
        open("/proc/self/comm", "w").write(who)
        does()
        os._exit(0)
    return pid

def told(*who):  # in one write
    os.write(1, " ".join("%d" % pid for pid in who).encode())

def ends(kind, writes=False):
    if kind == "pipe":
        return os.pipe()[::-1] if writes else os.pipe()
    if kind == "unix":
        return tuple(s.detach() for s in socket.socketpair())
    listener = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(listener.getsockname())
    return client.detach(), listener.accept()[0].detach()

def leaves(uses, holds):  # a process that uses its end and is gone at once; its helper holds that on
    helper = spawn("helper", holds)
    told(os.getpid(), helper)
    uses()

def eof(kind):  # it answers, and no end follows
    mine, its = ends(kind)
    def answer():
        os.close(mine)
        leaves(lambda: os.write(its, b"k"), lambda: time.sleep(0.7))
    spawn("answers", answer)
    os.close(its)
    while os.read(mine, 100):
        pass

def itself():  # the reader forgot its own copy of the write end
    r, w = os.pipe()
    told(spawn("answers", lambda: os.write(w, b"k")), os.getpid())
    signal.alarm(1)
    while os.read(r, 100):
        pass

def closes():  # it lives on, and has closed its own
    r, w = os.pipe()
    def answer():
        os.close(r)
        leaves(lambda: os.write(w, b"k"), lambda: time.sleep(0.7))
        os.close(w)
        time.sleep(1)
    spawn("answers", answer)
    os.close(w)
    while os.read(r, 100):
        pass

def unread(kind):  # it reads a little
    mine, its = ends(kind, writes=True)
    def read():
        os.close(mine)
        leaves(lambda: (os.read(its, 100), time.sleep(0.05)), lambda: time.sleep(0.7))
    spawn("reads", read)
    os.close(its)
    try:
        rest = memoryview(bytes(8 << 20))
        while rest:
            rest = rest[os.write(mine, rest):]
    except OSError:
        pass

def passes():  # it reads the first bytes, and leaves the rest to its child, who comes late
    mine, its = ends("tcp")
    def read():
        os.close(mine)
        os.read(its, 10)
        def late():
            time.sleep(0.7)
            while os.read(its, 1 << 20):
                pass
        child = spawn("late", late)
        os.close(its)
        told(os.getpid(), child)
        os.wait()
    spawn("reads", read)
    os.close(its)
    os.write(mine, b"x" * 10)
    time.sleep(0.05)
    rest = memoryview(bytes(16 << 20))
    while rest:
        rest = rest[os.write(mine, rest):]

def never(kind):  # it reads nothing, and closes its end when its writer is dead
    mine, its = ends(kind, writes=True)
    def write():
        os.close(its)
        os.write(mine, bytes(8 << 20))
    writer = spawn("writes", write)
    os.close(mine)
    time.sleep(0.5)
    os.kill(writer, 9)
    os.wait()
    told(os.getpid())
    os.close(its)

globals()[sys.argv[1]](*sys.argv[2:])
END
traced_pids='l = json.load(open("m.json"))["ledger"]; pids = open("out").read().split(); said = [l["verdict"]] + [f["text"] for f in l["findings"]]'
python=$(python3 -c 'import sys; print(sys.executable)')
for kind in pipe unix tcp; do
	traced -- "$python" ended.py eof $kind
	says_true "who answered has ended, and another holds its end: $kind" "$traced_pids" \
		'any("for more data or EOF: answers[%s] has ended, but helper[%s] still holds the descriptor" % tuple(pids) in t for t in said)' '(pids, said)'
done
traced --proto tcp -- "$python" ended.py eof tcp
says_true 'where no hook sees close(), too' "$traced_pids" 'any("answers[%s] has ended, but helper[%s] still" % tuple(pids) in t for t in said)' '(pids, said)'
traced -- "$python" ended.py itself
says_true 'the reader itself holds what it waits for the end of' "$traced_pids" \
	'any("answers[%s] has ended, but" % pids[0] in t and "[%s] itself still holds the descriptor" % pids[1] in t for t in said)' '(pids, said)'
traced -- "$python" ended.py closes
says_true 'who answered has closed its end' "$traced_pids" \
	'any("answers[%s] has closed its descriptor, but helper[%s] still holds" % tuple(pids) in t for t in said)' '(pids, said)'
for kind in pipe unix tcp; do
	traced -- "$python" ended.py unread $kind
	says_true "who read has ended, and another holds its end: $kind" "$traced_pids; f = [f for f in l['findings'] if f['blamed'] == 'peer application not reading']" \
		'f and "helper[%s], which has held the descriptor since reads[%s] ended, is not reading" % (pids[1], pids[0]) in f[0]["text"] and f[0]["blamed_pid"] == int(pids[1])' '(pids, said)'
	[ $kind = tcp ] || traced -- "$python" ended.py never $kind
	[ $kind = tcp ] || says_true "who closes what he never read did not read it: $kind" "$traced_pids" \
		'any("[%s] is not reading" % pids[0] in t for t in said)' '(pids, said)'
done
for protos in "tcp" "tcp --proto pipe"; do
	# shellcheck disable=SC2086 # options
	traced --proto $protos -- "$python" ended.py passes
	says_true "who reads the first bytes and leaves the rest to his child: $protos" "$traced_pids; f = [f for f in l['findings'] if f['blamed'] == 'peer application not reading']" \
		'f and f[0]["blamed_pid"] == int(pids[1])' '(pids, said)'
done
mkfifo begin
"$python" -c 'import sys; sys.stdin.readline(); sys.argv[1:] = ["eof", "pipe"]; exec(open("ended.py").read().replace("0.7", "4"))' <begin >out &
waits=$!
jobs_to_end+=($waits)
exec 5>begin
rm -f m.json err
"$IPCSTALL" attach --exact -p $waits --json m.json -d 2s >/dev/null 2>err &
tool=$!
until_true grep -qs 'attached;' err
echo >&5
wait $tool
exec 5>&-
says_true 'the session ends first: the descriptor is found in /proc' "$traced_pids" \
	'any("answers[%s] has ended, but helper[%s] still holds the descriptor" % tuple(pids) in t for t in said)' '(pids, said)'

if command -v setpriv >/dev/null && [ "$(id -u)" = 0 ] && setpriv --bounding-set=-all,+bpf,+perfmon true 2>/dev/null; then
	cp "$IPCSTALL" ipcstall
	cp "$KNOWN" known
	chmod 755 "$WORK" ipcstall known
	mkdir -m 777 here
	least=(setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all,+bpf,+perfmon --inh-caps=-all,+bpf,+perfmon --ambient-caps=-all,+bpf,+perfmon)
	"${least[@]}" ./ipcstall --mode tcp --size 64 --test latency --duration 100ms --json here/bench.json >out 2>err </dev/null
	rc=$?
	check 'CAP_BPF and CAP_PERFMON suffice: a benchmark' "exit code $rc: $(head -c 300 err)" [ $rc -eq 0 ] &&
		says_true 'with its ledger' "d = json.load(open('here/bench.json')); g = d['points'][0]['ledger']" \
			"d['trace']['backend'] and g['unaccounted_ns'] == 0 and len(g['endpoints']) == 2" "[d['trace'], g]"
	"${least[@]}" ./ipcstall run -q --json here/run.json -- ./known pipe-slow-reader n=20 >out 2>err </dev/null
	rc=$?
	check 'CAP_BPF and CAP_PERFMON suffice: run' "exit code $rc: $(head -c 300 err)" [ $rc -eq 0 ] &&
		says_true 'and its verdict' "g = json.load(open('here/run.json'))['ledger']" "'is not reading' in g['verdict']" "g['verdict']"
else
	echo 'skip CAP_BPF and CAP_PERFMON suffice: not root, or no setpriv here'
fi
# ---- attached to a thread that has slept in poll() since before ----
cat >polls.py <<'PY'
import os, signal, socket
signal.alarm(300)
l = socket.create_server(("127.0.0.1", 0))
s = socket.create_connection(l.getsockname())
c, _ = l.accept()
r, w = os.pipe()
if os.fork() == 0:
    s.close()
    print(os.getpid(), flush=True)
    os.read(r, 1)
    c.recv(10)
    os._exit(0)
c.close()
s.settimeout(300)
s.send(b"question")
s.recv(10)
PY
rm -f where
"${PYTHON:-python3}" polls.py >where &
poller=$!
jobs_to_end+=("$poller")
until_true [ -s where ]
in_poll() { grep -qE '^(7|73|271) ' "/proc/$poller/syscall"; }
until_true in_poll
"$IPCSTALL" attach --exact -p "$poller" -d 1s --json polls.json >out 2>err
says_true 'whoever slept in poll() before it was attached to waits for the other end' "d = json.load(open('polls.json'))['ledger']
e = [e for e in d['endpoints'] if e['proto'] == 'tcp' and e['pid'] == $poller]" \
	'd["outcome"] == "waiting" and d["asleep_before"] >= 1 and e[0]["rx"]["states"]["wait"]["ns"] > 9e8' '(open("err").read(), d["outcome"], e)'
kill "$poller" "$(cat where)"
finish
