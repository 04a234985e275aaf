#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Whoever does not answer since it may not run: stopped by a signal, without its cgroup's CPU quota, or behind others on its CPU.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 70
needs_ledger
PY=$("${PYTHON:-python3}" -c 'import sys; print(sys.executable)')
server='e = [e for e in json.load(open("m.json"))["ledger"]["endpoints"] if e["proto"] == "unix-stream" and e["rx"]["states"]["unread"]["ns"]]
b = max((x["beside"][s] for x in e for s in ("tx", "rx")), key=lambda b: (b["stopped_ns"] or 0) + (b["no_cpu_ns"] or 0), default=None)'

cat >served.py <<'PY'
import os, signal, socket, sys, time

# a client that asks every 10 ms and does not wait in read() for the answers; what happens to its server meanwhile is `meanwhile`
def serve(meanwhile, work=0, rounds=200):
    a, b = socket.socketpair()
    pid = os.fork()
    if not pid:
        a.close()
        while d := b.recv(100):
            end = time.thread_time() + work
            while time.thread_time() < end:
                pass
            b.sendall(d)
        os._exit(0)
    b.close()
    for i in range(rounds):
        meanwhile(pid, i)
        a.sendall(b"x")
        time.sleep(0.01)
        a.recv(100)
    a.close()
    os.waitpid(pid, 0)
PY
cat >stops.py <<'PY'
import os, signal, threading
from served import serve

def stop(pid, i):
    if i == 20:
        os.kill(pid, signal.SIGSTOP)
        threading.Timer(1, os.kill, (pid, signal.SIGCONT)).start()

serve(stop, rounds=100)
PY
traced -- "$PY" stops.py
says_true "a server that was stopped for a second is told from one that did not read" "$server" \
	'b and 9.5e8 < b["stopped_ns"] < 1.3e9 and b["stopped_max_ns"] > 9.5e8 and b["stops"] == 1 and not b["stopped"]' '[(x["beside"], x["rx"]) for x in e]'

# A reader that was stopped before the ledger was attached, and one that goes on while it is.
cat >full.py <<'PY'
import os, signal, socket, subprocess, sys, time

def process(body, own, other):
    pid = os.fork()
    if not pid:
        other.close()
        body(own)
    return pid

def read(end):
    while end.recv(65536):
        pass

def write(end):
    while True:
        end.send(bytes(65536))

def state(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        return f.read().rpartition(")")[2].split()[0]

a, b = socket.socketpair()
reader, writer = process(read, b, a), process(write, a, b)
os.kill(reader, signal.SIGSTOP)
while state(reader) != "T" or state(writer) != "S":
    time.sleep(0.01)
tracing = subprocess.Popen([os.environ["IPCSTALL"], "attach", "-p", f"{reader},{writer}", "--exact", "-d", "3s", "--json", "m.json"],
                           stderr=subprocess.PIPE, text=True)
print(tracing.stderr.readline())
if sys.argv[1] == "continues":
    time.sleep(1.6)
    os.kill(reader, signal.SIGCONT)
tracing.communicate()
for pid in reader, writer:
    os.kill(pid, signal.SIGKILL)
PY
for then in stays continues; do
	rm -f m.json
	"$PY" full.py $then >out 2>err
	says_true "a reader that was stopped before anybody looked is told so ($then)" 'd = json.load(open("m.json"))["ledger"]
e = max((e["beside"]["rx"] for e in d["endpoints"]), key=lambda b: b["stopped_ns"] or 0)' \
		'd["outcome"] == "stalled" and "was stopped" in str(d["card"]) and e["stopped_ns"] > 1.5e9 and e["stops"] == 1' '(d["card"], e)'
done

# others on its CPU, and new names all the time: none of them makes what it waited for a CPU begin anew
cat >busy.py <<'PY'
import os, subprocess, threading
from served import serve

cpu = sorted(os.sched_getaffinity(0))[-1]
hogs = [subprocess.Popen(["sh", "-c", "while :; do :; done"], preexec_fn=lambda: os.sched_setaffinity(0, {cpu})) for _ in range(4)]
over = False

def names():
    while not over:
        subprocess.run(["true"])

t = threading.Thread(target=names)
t.start()

def pin(pid, i):
    if not i:
        os.sched_setaffinity(pid, {cpu})

serve(pin, work=0.003, rounds=60)
over = True
t.join()
for h in hogs:
    h.kill()
PY
traced -- "$PY" busy.py
says_true "waiting for a CPU is counted beside hundreds of execs" "$server" \
	'b and b["no_cpu_ns"] > 0.3 * max(x["rx"]["states"]["unread"]["ns"] for x in e) and not b["quota_ns"]' '[(x["beside"], x["rx"]) for x in e]'

# a quota of a twentieth of a CPU
for group in /sys/fs/cgroup/cpu/ipcstall-test-$$ /sys/fs/cgroup/ipcstall-test-$$; do
	[ -d "${group%/*}" ] && mkdir "$group" 2>/dev/null && break
	group=
done
if [ -n "$group" ] && { echo 5000 >"$group/cpu.cfs_quota_us" || echo 5000 100000 >"$group/cpu.max"; } 2>/dev/null; then
	cat >quota.py <<PY
from served import serve

def confine(pid, i):
    if not i:
        with open("$group/cgroup.procs", "w") as f:
            f.write(str(pid))

serve(confine, work=0.004, rounds=60)
PY
	traced -- "$PY" quota.py
	says_true "a CPU quota that is used up is told from a busy machine" "$server" \
		'b and b["quota_ns"] > 3e8 and b["quota_ns"] <= b["no_cpu_ns"]' '[(x["beside"], x["rx"]) for x in e]'
	rmdir "$group"
else
	echo "skip a CPU quota: no cgroup here can have one"
	[ -z "$group" ] || rmdir "$group"
fi

# Two workers inherited two listeners at one port, and each waits at its own. One is stopped: the
# connections in its queue are not accepted.
cat >workers.py <<'PY'
import os, select, signal, socket, sys, time
listeners = []
for _ in range(2):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    s.bind(("127.0.0.1", int(open("port").read()) if listeners else 0))
    s.listen(16)
    open("port", "w").write(str(s.getsockname()[1]))
    listeners.append(s)
workers = []
for own in listeners:
    pid = os.fork()
    if pid == 0:
        p = select.epoll()
        p.register(own, select.EPOLLIN)
        while True:
            p.poll()
            c = own.accept()[0]
            c.sendall(c.recv(10))
            c.close()
    workers.append(pid)
while open("/proc/%d/stat" % workers[1]).read().rsplit(")", 1)[1].split()[0] in "RD":
    time.sleep(0.01)
os.kill(workers[1], signal.SIGSTOP)
open("workers", "w").write("%d %d" % tuple(workers))
sys.stdin.read()
for pid in workers:
    os.kill(pid, signal.SIGKILL)
PY
cat >visitor.py <<'PY'
import socket, time
while True:
    s = socket.create_connection(("127.0.0.1", int(open("port").read())))
    s.settimeout(1)
    s.sendall(b"hello")
    try:
        s.recv(10)
    except TimeoutError:
        open("stuck", "w").write("1")
    s.close()
    time.sleep(0.05)
PY
rm -f port workers stuck
mkfifo hold-workers
"$PY" workers.py <hold-workers &
jobs_to_end+=($!)
exec 9>hold-workers
until_true test -s workers
"$PY" visitor.py &
visitor=$!
jobs_to_end+=("$visitor")
until_true test -s stuck
"$IPCSTALL" attach -q -p $visitor -d 4s --json m.json >out 2>err
exec 9>&-
stopped=$(cut -d' ' -f2 workers)
shown_is_true "a stopped worker that does not accept is told from the one that does" \
	"'[$stopped]' in c['head'] and 'accept' in c['head'] and
	'was stopped' in c['why']" '(c["head"], c["why"])'
finish
