# SPDX-License-Identifier: GPL-2.0-only
# stage: core
# Containers: a client and its servers are in network namespaces that are not the tracer's. They
# are named all the same, and followed to the one that keeps all waiting.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 70
needs_ledger
if [ "$(id -u)" -ne 0 ] || ! command -v ip >/dev/null; then
	echo 'skip: needs root and ip(8)'
	exit 77
fi
a=ipcsa$$ b=ipcsb$$ c=ipcsc$$
jobs_to_end=()
down() {
	kill "${jobs_to_end[@]}" 2>/dev/null
	for n in $a $b $c; do ip netns del $n 2>/dev/null; done
	rm -rf "$WORK"
}
trap down EXIT
if ! ip netns add $a || ! ip netns add $b || ! ip netns add $c ||
	! ip link add v$$ netns $a type veth peer name v$$ netns $b ||
	! ip link add w$$ netns $b type veth peer name w$$ netns $c; then
	echo 'skip: no network namespace can be made here'
	exit 77
fi 2>/dev/null
cable() { # NETNS LINK ADDRESS
	ip -n "$1" addr add "$3" dev "$2$$"
	ip -n "$1" link set "$2$$" up
	ip -n "$1" link set lo up
}
cable $a v 10.9.8.1/24
cable $b v 10.9.8.2/24
cable $b w 10.9.9.1/24
cable $c w 10.9.9.2/24
ip -n $a route add default via 10.9.8.2

# "serve AT": it answers after 100 ms, or as the server at UP answers; "ask AT asked N", N times
cat >talk.py <<-'PY'
	import socket, sys, time
	def reach(at):
	    s = socket.create_connection((at, 7070))
	    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
	    return s
	def asks(s):
	    s.sendall(b"q" * 50)
	    return s.recv(9)
	if sys.argv[1] == "ask":
	    s = reach(sys.argv[2])
	    for _ in range(int(sys.argv[4])):
	        asks(s)
	        open(sys.argv[3], "w").write("1")
	    sys.exit()
	l = socket.socket()
	l.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
	l.bind((sys.argv[2], 7070))
	l.listen()
	up = reach(sys.argv[3]) if len(sys.argv) > 3 else None
	c = l.accept()[0]
	while c.recv(99):
	    asks(up) if up else time.sleep(0.1)
	    c.sendall(b"a")
PY
listens() { ip netns exec "$1" ss -Hltn 'sport = 7070' | grep -q .; }
serve() { # NETNS AT [UP]
	ip netns exec "$1" python3 talk.py serve "${@:2}" &
	jobs_to_end+=($!)
	server=$!
	until_true listens "$1"
}
asker() { # AT
	rm -f asked
	ip netns exec $a python3 talk.py ask "$1" asked 1000 &
	jobs_to_end+=($!)
	client=$!
	until_true test -e asked
}
stop() {
	kill "${jobs_to_end[@]}"
	wait "${jobs_to_end[@]}"
	jobs_to_end=()
} 2>/dev/null
waits_for() { # NAME PID [OPTION...]
	"$IPCSTALL" attach -q -p $client "${@:3}" --json m.json >out 2>err
	shown_is_true "$1" "l['outcome'] == 'waiting' and 'waits for python3[$2] ' in c['head']" \
		'(c["head"], c["why"])'
}

serve $c 10.9.9.2
last=$server
serve $b 10.9.8.2 10.9.9.2
asker 10.9.8.2
waits_for 'the server in another namespace is named' $server -d 4s
shown_is_true 'it is followed to the server that it asked, in a third one' \
	"'for python3[$last]' in c['why'] and 'clock_nanosleep()' in c['why']" \
	'(c["head"], c["why"])'
stop

# when the session ends, all of them have ended
serve $c 10.9.9.2
last=$server
serve $b 10.9.8.2 10.9.9.2
"$IPCSTALL" run -q --json m.json -- \
	ip netns exec $a python3 talk.py ask 10.9.8.2 asked 25 >out 2>err
shown_is_true 'what was followed while the client ran is told' \
	"'waits for python3[$server] ' in c['head'] and 'for python3[$last]' in c['why']" \
	'(c["head"], c["why"])'
wait "${jobs_to_end[@]}"
jobs_to_end=()

serve $a 127.0.0.1
asker 127.0.0.1
waits_for 'both ends in one namespace, over loopback' $server --exact -d 1s
stop

# as Kubernetes does for a service, and a sidecar proxy for all connections
translate() { # ADDRESS TARGET...
	ip netns exec $a iptables -w -t nat -A OUTPUT -p tcp -d "$1" --dport 7070 -j "${@:2}" 2>err
}
if ! command -v iptables >/dev/null ||
	! translate 10.9.7.1 DNAT --to-destination 10.9.8.2:7070; then
	echo "skip a server behind a translated address: no iptables(8) for that: $(head -1 err)"
	finish
fi
serve $b 10.9.8.2
asker 10.9.7.1
waits_for 'a server behind a translated address' $server --exact -d 1s
stop
translate 10.9.6.1 REDIRECT --to-ports 7070
serve $a 0.0.0.0
asker 10.9.6.1
waits_for 'a proxy to which a connection is redirected' $server --exact -d 1s
finish
