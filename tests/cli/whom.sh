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
	"$IPCSTALL" attach -c "$group" -d 4s --json group.json >out 2>err &
	tool=$!
	within 20 grep -q 'attached;' err
	inside "$KNOWN" nagle n=10 >in.json &
	"$KNOWN" nagle n=10 >out.json
	wait $!
	group=$group/below inside "$KNOWN" pipe-slow-reader n=3 >below.json 2>/dev/null
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
	"$IPCSTALL" attach -c "$group" -d 2s --json gone.json >out 2>err &
	tool=$!
	within 20 grep -q 'attached;' err
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
within 10 test -s ready
"$IPCSTALL" attach -p "$(cat ready)" --json shared.json -d 4s >out 2>err &
tool=$!
within 20 grep -q 'attached;' err
echo >&5
wait $tool $shared
exec 5>&-
says_true 'a reader that nobody asked for waits in its calls' 'd = json.load(open("shared.json"))["ledger"]["endpoints"]
r = [e for e in d if e["proto"] == "udp" and e["beside"]["rx"]["messages"] == 101]' \
	'len(r) == 1 and r[0]["rx"]["states"]["wait"]["ns"] > 1.8e9 and r[0]["beside"]["rx"]["blocked_ns"] > 1.8e9' d

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
	"${least[@]}" ./ipcstall run -q --json here/run.json -- ./known pipe-slow-reader n=5 >out 2>err </dev/null
	rc=$?
	check 'CAP_BPF and CAP_PERFMON suffice: run' "exit code $rc: $(head -c 300 err)" [ $rc -eq 0 ] &&
		says_true 'and its verdict' "g = json.load(open('here/run.json'))['ledger']" "'is not reading' in g['verdict']" "g['verdict']"
else
	echo 'skip CAP_BPF and CAP_PERFMON suffice: not root, or no setpriv here'
fi
finish
