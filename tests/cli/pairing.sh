# SPDX-License-Identifier: GPL-2.0-only
# Which two ends belong together: the same addresses in two network namespaces, many destinations, a server that is replaced.
. "$(dirname "$0")/lib.sh"
needs_ledger

# Both hold a connection 127.0.0.1:40123 -> 127.0.0.1:40124, the one of the second namespace begun while the first one's lives.
cat >"$WORK/twins.py" <<'PY'
import os, socket, subprocess, sys, time
HERE, THERE = ("127.0.0.1", 40123), ("127.0.0.1", 40124)
INSIDE = """
import socket, sys
server = socket.create_server(%r)
client = socket.create_connection(%r, source_address=%r)
end, _ = server.accept()
for i in range(20):
    client.sendall(b"x" * 1000)
    assert end.recv(1000, socket.MSG_WAITALL)
print("made", flush=True)
sys.stdin.readline()
client.sendall(b"x")
assert end.recv(1)
""" % (THERE, THERE, HERE)
twins = []
for _ in range(2):
    twins.append(subprocess.Popen(["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "-", sys.executable, "-c", INSIDE],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
    assert twins[-1].stdout.readline() == "made\n"
for t in twins:
    t.communicate("\n")
PY
ends='e = json.load(open("'$WORK'/l.json"))["ledger"]["endpoints"]'
if unshare --net ip link set lo up 2>/dev/null; then
	timeout $HUNG "$IPCSTALL" run -q --proto tcp --json "$WORK/l.json" -- python3 "$WORK/twins.py" >"$WORK/out" 2>&1 </dev/null
	says_true 'the same addresses in two namespaces' "$ends
by = {x['serial']: x for x in e}" 'len(e) == 4 and all(x["peer_serial"] and by[x["peer_serial"]]["netns"] == x["netns"] and
	by[x["peer_serial"]]["peer_serial"] == x["serial"] for x in e)' "[(x['serial'], x['peer_serial'], x['netns'], x['local']) for x in e]"
else
	echo 'skip the same addresses in two namespaces: no network namespace can be made here'
fi

# To another destination each, with a filter of ports: such an end is made when it connects, before it has a port of its own.
cat >"$WORK/wide.py" <<'PY'
import socket, sys
port, n = int(sys.argv[1]), int(sys.argv[2])
server = socket.create_server(("0.0.0.0", port))
for i in range(n):
    client = socket.create_connection(("127.0.%d.%d" % (i // 250 + 1, i % 250 + 1), port))
    end, _ = server.accept()
    client.sendall(b"x")
    assert end.recv(1)
    end.close()
    client.close()
PY
timeout $HUNG "$IPCSTALL" run -q -P 40125 --max-endpoints 50 --proto tcp --json "$WORK/l.json" -- python3 "$WORK/wide.py" 40125 300 >"$WORK/out" 2>&1 </dev/null
says_true 'pairs do not run out' "$ends
at = {(x['local'], x['remote']): x for x in e}
twos = [x for x in e if (x['remote'], x['local']) in at]
alone = [x for x in twos if x['peer_serial'] is None]" 'len(twos) >= 10 and not alone' "(len(e), len(twos), len(alone))"

# The new server listens first, the old one ends then, as in a reload; what comes next waits for 300 ms to be accepted.
cat >"$WORK/reload.py" <<'PY'
import os, signal, socket, sys, time
port, other = int(sys.argv[1]), sys.argv[2]
def listener():
    return socket.create_server(("127.0.0.1", port), reuse_port=True)
def stop(pid):
    os.kill(pid, signal.SIGTERM)
    mine = ":%04X 00000000:0000 0A" % port
    while open("/proc/net/tcp").read().count(mine) > 1:    # a process has no /proc/PID/exe before its sockets are closed
        time.sleep(0.01)
old = listener() if other in ("own", "before") else None
if other == "before":
    sys.stdin.readline()
new = listener()
if old:
    old.close()
else:
    stop(int(other))
client = socket.create_connection(("127.0.0.1", port))
client.sendall(b"x" * 100)
time.sleep(0.3)
end, _ = new.accept()
assert end.recv(100, socket.MSG_WAITALL)
PY
waited='sum(x["rx"]["states"]["unread"]["ns"] for x in e if x["local"].endswith(":40126"))'
as_expected="len(e) == 2 and 2.5e8 < $waited < 6e8"
replaced() { # NAME SCENARIO
	for _ in 1 2 3; do
		"$2"
		blind_alone "$WORK/l.json" "$ends" "$as_expected" || break
	done
	says_true "a server that replaced $1" "$ends" "$as_expected" "($waited, [x['local'] for x in e])"
}
traced() { timeout $HUNG "$IPCSTALL" "$@" >"$WORK/out" 2>&1 </dev/null; }

its_own() { traced run -q --proto tcp --json "$WORK/l.json" -- python3 "$WORK/reload.py" 40126 own; }
replaced 'its own' its_own

a_strangers() {
	rm -f "$WORK/listens"
	python3 -c 'import socket, time; s = socket.create_server(("127.0.0.1", 40126), reuse_port=True); print(flush=True); time.sleep(600)' >"$WORK/listens" &
	local stranger=$!
	jobs_to_end+=($stranger)
	until_true test -s "$WORK/listens"
	traced run -q --proto tcp --json "$WORK/l.json" -- python3 "$WORK/reload.py" 40126 $stranger
	wait $stranger 2>/dev/null
}
replaced "a stranger's" a_strangers

one_from_before() {
	local server tool
	rm -f "$WORK/go"
	mkfifo "$WORK/go"
	python3 "$WORK/reload.py" 40126 before <"$WORK/go" &
	server=$!
	exec 5>"$WORK/go"
	"$IPCSTALL" attach --exact -q --proto tcp --json "$WORK/l.json" -p $server >"$WORK/out" 2>&1 </dev/null 5>&- &
	tool=$!
	until_true tracing $tool
	echo >&5
	exec 5>&-
	wait $server
	until_true gone $tool
	wait $tool
}
replaced 'one from before the session' one_from_before
finish
