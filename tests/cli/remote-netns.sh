# SPDX-License-Identifier: GPL-2.0-only
# Two hosts, as far as the network is concerned: the server in one namespace, the client in another, a cable between them.
. "$(dirname "$0")/lib.sh"
if [ "$(id -u)" -ne 0 ] || ! command -v ip >/dev/null; then
	echo 'skip: needs root and ip(8)'
	exit 77
fi
a=ipcsc$$ b=ipcss$$
down() {
	kill $server 2>/dev/null
	ip netns del $a 2>/dev/null
	ip netns del $b 2>/dev/null
	rm -rf "$WORK"
}
trap down EXIT
if ! ip netns add $a || ! ip netns add $b || ! ip link add v$$ netns $a type veth peer name v$$ netns $b; then
	echo 'skip: no network namespace can be made here'
	exit 77
fi 2>/dev/null
for x in "$a 1" "$b 2"; do
	# shellcheck disable=SC2086
	set -- $x
	ip -n "$1" addr add 10.9.8.$2/24 dev v$$
	ip -n "$1" addr add fd98::$2/64 dev v$$ nodad
	ip -n "$1" link set v$$ up
	ip -n "$1" link set lo up
done

tool=$IPCSTALL
IPCSTALL="$WORK/there"
printf '#!/bin/sh\nexec ip netns exec %s %s "$@"\n' "$a" "$tool" >"$IPCSTALL"
chmod +x "$IPCSTALL"
serve() { # ADDRESS
	: >"$WORK/server" # or the line of the one before is read
	ip netns exec $b "$tool" server --insecure --listen "$1" >"$WORK/server" 2>&1 </dev/null &
	server=$!
	until_true grep -q listening "$WORK/server"
}

serve 127.0.0.1
refuses 'loopback is not reached from another host' 7 "start 'ipcstall server" --mode tcp --size 64 --duration 60ms --connect 10.9.8.2
kill $server
wait $server

serve 10.9.8.2
grep -q 'whoever reaches this port' "$WORK/server" && pass 'the server says who may use it' || fail 'the server says who may use it' "$(cat "$WORK/server")"
for mode in tcp udp rudp; do
	works "$mode" --mode $mode --size 64,64K --duration 60ms --connect 10.9.8.2 --json "$WORK/r.json" &&
		python3 -c "import json,sys; d = json.load(open('$WORK/r.json')); sys.exit(not (d['remote']['address'] == '10.9.8.2' and all(p['messages'] > 10 for p in d['points'])))" &&
		pass "$mode: figures" || fail "$mode: figures" "$(head -c 300 "$WORK/r.json")"
done
works 'one way: namespaces of one host share a clock' --mode tcp --test oneway --size 64 --duration 60ms --connect 10.9.8.2
ip netns exec $a "$tool" --mode tcp --size 64 --duration 300s --connect 10.9.8.2 >"$WORK/out" 2>"$WORK/far" </dev/null &
client=$!
packets() { ip netns exec $b cat /proc/net/dev | awk -v dev="v$$:" '$1 == dev { print $3 }'; }
before=$(packets)
under_way() { [ "$(packets)" -gt $((before + 1000)) ]; }
until_true under_way
ip -n $a link set v$$ down
t0=$(date +%s)
wait $client
rc=$?
took=$(($(date +%s) - t0))
[ $rc -eq 7 ] && [ $took -le 60 ] && [ "$(wc -l <"$WORK/far")" -eq 1 ] && pass 'the cable cut: the client ends in bounded time' ||
	fail 'the cable cut: the client ends in bounded time' "exit code $rc after $took s: $(cat "$WORK/far")"
ip -n $a link set v$$ up
ip -n $a addr add fd98::1/64 dev v$$ nodad 2>/dev/null # went with the link
one_there() {
	ip netns pids $b | xargs -r ps -o comm= -p 2>/dev/null | grep -c ipcstall >"$WORK/count"
	[ "$(cat "$WORK/count")" -eq 1 ]
}
until_true one_there
[ "$(cat "$WORK/count")" -eq 1 ] && pass 'the cable cut: so does the session there' || fail 'the cable cut: so does the session there' "$(cat "$WORK/count") processes there"
works 'mended' --mode tcp --size 64 --duration 60ms --connect 10.9.8.2
kill $server
wait $server
serve '[fd98::2]'
works 'IPv6' --mode udp --size 64 --duration 60ms --connect '[fd98::2]'
finish
