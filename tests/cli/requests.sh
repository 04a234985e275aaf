#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Where the time of a request goes, against programs that know their own times: within 1 ms + 2 %.
. "$(dirname "$0")/lib.sh"
program=$(cd "$(dirname "$0")" && pwd)/answered.py
cd "$WORK" || exit 70
needs_ledger
PY=$("${PYTHON:-python3}" -c 'import sys; print(sys.executable)')
read_it='d = json.load(open("m.json")); l = d["ledger"]; r = (l["long_wait"] or {}).get("requests") or {}; asked = int(open("asked").read())
thought, lay = map(int, open("served").read().split()); near = lambda a, b: a is not None and abs(a - b) < 1e6 + 0.02 * b
came = lambda r: lay - r["way_ns"] - 1e6 - 0.02 * lay <= r["unread_ns"] <= lay + 1e6 + 0.02 * lay  # the program counts from before its send call: the way there too
n = r.get("count"); rtt = max([(e["beside"]["tcp"] or {}).get("min_rtt_us") or 0 for e in l["endpoints"]]) * 1000 * (n or 0)'
shown='(r, "asked", asked, "thought", thought, "lay", lay, "rtt", rtt, l["verdict"])'

both_ends() { # NAME SETTING...
	local name=$1
	shift
	rm -f served asked
	traced -- "$PY" "$program" both "$@"
	says_true "$name: the server's time to think" "$read_it" "not r.get('bounded', True) and near(r['think_ns'], thought)" "$shown"
	says_true "$name: how long requests lay unread" "$read_it" "r and came(r)" "$shown"
	says_true "$name: all of it together" "$read_it" "r and near(r['think_ns'] + r['unread_ns'] + r['way_ns'], asked)" "$shown"
}
both_ends "tcp, 2 ms" think=2 n=50
both_ends "tcp, 30 ms" think=30
both_ends "tcp, 300 ms" think=300 n=4
both_ends "tcp, reader late" think=20 late=30
both_ends "tcp, client in poll()" think=30 wait=poll
both_ends "tcp, client in epoll" think=30 wait=epoll
both_ends "tcp, client in epoll, 300 ms" think=300 n=4 wait=epoll
both_ends "tcp, both in epoll" think=30 wait=epoll serves=epoll
both_ends "tcp, client in epoll, reader late" think=20 late=30 wait=epoll
both_ends "unix, both in epoll" how=unix think=30 wait=epoll serves=epoll
both_ends "pipes, both in epoll" how=pipe think=30 wait=epoll serves=epoll
both_ends "unix" how=unix think=30
both_ends "unix, reader late" how=unix think=20 late=30
both_ends "pipes" how=pipe think=30

# one end seen: the server is not traced, and what it does is a bound
one_end() { # NAME SERVER_SPACE CLIENT_SPACE SETTING...
	local name=$1 server=$2 client=$3
	shift 3
	rm -f port served
	$server "$PY" "$program" server "$@" &
	jobs_to_end+=($!)
	until_true test -s port
	# shellcheck disable=SC2086 # the words of a command, or none
	traced -- $client "$PY" "$program" client "$@" port="$(cat port)"
	until_true test -s served
	says_true "$name: what the server took at most" "$read_it" "r.get('bounded') and near(r['think_ns'], asked - rtt) and r['think_ns'] > 0.98 * thought" "$shown"
}
one_end "one end, 30 ms" "" "" think=30
one_end "one end, 300 ms" "" "" think=300 n=4
one_end "one end, client in epoll" "" "" think=30 wait=epoll
one_end "one end, client that seldom asks" "" "" think=150 pause=500 n=8
shown_is_true "one end: what the untraced server does meanwhile" \
	"'sleeps in clock_nanosleep()' in c['why']" "c['why']"

# the other end seen: the client is not traced, and the server's end times each of its requests
read_answers="$read_it; r = (l['slow_answers'] or {}).get('requests') or {}"
server_end() { # NAME SETTING...
	local name=$1
	shift
	rm -f port served
	(
		until_true test -s port
		# shellcheck disable=SC2086
		exec "$PY" "$program" client "$@" port="$(cat port)"
	) &
	jobs_to_end+=($!)
	traced -- "$PY" "$program" server "$@"
	says_true "$name: the server's time to think, and the number of requests" "$read_answers" \
		"near(r['think_ns'], thought) and r['count'] == 10" "(r, 'thought', thought, l['verdict'])"
	says_true "$name: what a request lay unread" "$read_answers" \
		"r['unread_ns'] <= lay and near(r['unread_ns'], lay)" "(r, 'lay', lay, l['verdict'])"
}
server_end "the server alone, 30 ms" think=30
server_end "the server alone, in epoll" think=30 serves=epoll
server_end "the server alone, reader late" think=20 late=30

# what the server does in that fifth of the time, and not where it sleeps between two requests
rm -f port served
"$PY" "$program" server think=150 n=100 &
seldom=$!
jobs_to_end+=("$seldom")
until_true test -s port
"$PY" "$program" client pause=500 n=100 port="$(cat port)" &
jobs_to_end+=($!)
for tier in sampled exact; do
	[ $tier = sampled ] && how= || how=--exact
	# shellcheck disable=SC2086
	"$IPCSTALL" attach $how -q -p $seldom -d 5s --json m.json >out 2>err
	shown_is_true "$tier: what a server does whose client seldom asks" \
		"'sleeps in clock_nanosleep()' in c['why']" '(c["head"], c["why"])'
done

# a server that pauses now and then, as redis does while it saves, and is idle in between
rm -f port served
"$PY" "$program" server long=400 serves=epoll n=5000 &
pauses=$!
jobs_to_end+=("$pauses")
until_true test -s port
"$PY" "$program" client pause=12 n=5000 wait=poll port="$(cat port)" &
client=$!
jobs_to_end+=("$client")
"$IPCSTALL" attach -q -p $client -d 6s --json m.json >out 2>err
shown_is_true "sampled: a server that pauses now and then" \
	"l['outcome'] == 'waiting' and 0.1 < c['share'] < 0.4" \
	'(l["outcome"], c["head"], c["share"])'
# the samples of what it does are of the time of the exact tracing, which has a pause
shown_is_true "sampled: what a server does as it pauses" \
	"'sleeps in clock_nanosleep()' in c['why']" '(c["head"], c["why"])'

# a request that was sent before anybody looked, and whose client waits in epoll: by the dates of
# the socket alone
cat >pending.py <<-'PY'
	import select, socket, sys
	s = socket.socket()
	if sys.argv[1] == "server":
	    s.bind(("127.0.0.1", 0))
	    s.listen(1)
	    open("port", "w").write(str(s.getsockname()[1]))
	    c = s.accept()[0]
	    c.recv(9)
	    open("came", "w").write("1")
	    sys.stdin.read()
	s.connect(("127.0.0.1", int(open("port").read())))
	s.send(b"q")
	p = select.epoll()
	p.register(s, select.EPOLLIN)
	p.poll()
PY
rm -f port came
mkfifo hold-pending
"$PY" pending.py server <hold-pending | cat >/dev/null & # an idle reader of its output
exec 9>hold-pending
until_true test -s port
"$PY" pending.py client &
client=$!
jobs_to_end+=("$client")
until_true test -s came
server=$(pgrep -f 'pending.py server' | head -1)
until_true sleeps $client
for tier in sampled exact; do
	[ $tier = sampled ] && how= || how=--exact
	for end in client server; do
		# shellcheck disable=SC2086
		"$IPCSTALL" attach $how -q -p "${!end}" -d 1s --json m.json >out 2>err
		kind=$([ $end = client ] && echo wait || echo answers)
		says_true "$tier, of the $end: a request under way is suspected" \
			'd = json.load(open("m.json")); l = d["ledger"]; c = l["card"]' \
			"l['outcome'] == 'waiting' and c['kind'] == '$kind' and c['surety'].startswith('suspected')" '(l["outcome"], c["kind"], c["head"], c["why"], c["surety"])'
	done
done
exec 9>&-

# two ends that each wait for the other's first data, of which one is traced
cat >both-read.py <<-'PY'
	import os, socket
	l = socket.create_server(("127.0.0.1", 0))
	if os.fork():
	    l.accept()[0].recv(1)
	else:
	    s = socket.create_connection(l.getsockname())
	    l.close()
	    s.recv(1)
PY
"$PY" both-read.py &
server=$!
jobs_to_end+=("$server")
until_true pgrep -P $server >client
client=$(cat client)
until_true sleeps "$client"
until_true sleeps $server
"$IPCSTALL" attach --exact -q -p "$client" -d 1s --json m.json >out 2>err
kill $server "$client"
shown_is_true "exact, of one end: both wait for the other's first data" \
	"c['kind'] == 'wait' and
	'[$server] waits for data there too: neither sends' in c['why']" '(c["head"], c["why"])'

# A request that follows the last answer at once, as in SQL: the socket's dates do not tell it.
cat >at-once.py <<-'PY'
	import os, select, socket, sys, threading
	l = socket.create_server(("127.0.0.1", 0))
	if os.fork():
	    s = socket.create_connection(l.getsockname())
	    l.close()
	    for size in (5, 30):
	        s.recv(size)
	        s.send(b"q")
	    s.recv(1)
	else:
	    c = l.accept()[0]
	    p = select.epoll()
	    p.register(c, select.EPOLLIN)
	    c.send(b"hello")
	    p.poll()
	    c.recv(9)
	    c.send(b"a" * 30)
	    p.poll()
	    c.recv(9)
	    open("came", "w").write(str(os.getpid()))
	    {"works": threading.Event().wait, "waits": p.poll}[sys.argv[1]]()
PY
for does in works waits; do
	rm -f came
	"$PY" at-once.py $does >/dev/null &
	client=$!
	jobs_to_end+=("$client")
	until_true test -s came
	server=$(cat came)
	until_true sleeps "$server"
	for how in '' --exact; do
		# shellcheck disable=SC2086
		"$IPCSTALL" attach $how -q -p "$server" -d 1s --json m.json >out 2>err
		says_true "a server that $does after a request that followed its answer at once ${how:---sampled}" \
			'l = json.load(open("m.json"))["ledger"]; c = l["card"]' \
			"(l['outcome'] == 'waiting' and c['kind'] == 'answers') == ('$does' == 'works')" '(l["outcome"], c["kind"], c["head"], c["why"])'
	done
	kill -9 "$server" "$client" 2>/dev/null
done

# a server that sends first, as those of mail and SQL do, to a client that waits for it in epoll
cat >greets.py <<-'PY'
	import os, select, socket, threading, time
	l = socket.create_server(("127.0.0.1", 0))
	if os.fork():
	    clock, thought = time.monotonic_ns, [0]
	    def greet(c, since):
	        time.sleep(0.2)
	        thought[0] += clock() - since
	        c.send(b"hello")
	        c.recv(9)
	        c.close()
	    workers = []
	    for _ in range(6):
	        c = l.accept()[0]
	        workers.append(threading.Thread(target=greet, args=(c, clock())))
	        workers[-1].start()
	    for w in workers:
	        w.join()
	    open("served", "w").write(f"{thought[0]}\n0")
	else:
	    address = l.getsockname()
	    l.close()
	    for _ in range(6):
	        s = socket.create_connection(address)
	        p = select.epoll()
	        p.register(s, select.EPOLLIN)
	        p.poll()
	        s.recv(9)
	        s.send(b"bye")
	        s.close()
PY
rm -f served
echo 0 >asked
traced -- "$PY" greets.py
says_true "a server's slow greeting: the outcome, and its time to think" "$read_it" \
	"l['outcome'] == 'waiting' and near(r['think_ns'], thought)" "$shown"

# a server with a pool of threads, of which most are idle
cat >pool.py <<-'PY'
	import queue, select, socket, threading, time
	l = socket.create_server(("127.0.0.1", 0))
	open("port", "w").write(str(l.getsockname()[1]))
	work, idle = queue.Queue(), select.epoll()
	idle.register(l, select.EPOLLIN)
	connections = {}
	def answer():
	    while True:
	        c = work.get()
	        if c.recv(99):
	            time.sleep(0.15)
	            c.send(b"a")
	            idle.modify(c, select.EPOLLIN | select.EPOLLONESHOT)
	for _ in range(5):
	    threading.Thread(target=answer, daemon=True).start()
	while True:
	    for fd, _ in idle.poll():
	        if fd == l.fileno():
	            c = l.accept()[0]
	            connections[c.fileno()] = c
	            idle.register(c, select.EPOLLIN | select.EPOLLONESHOT)
	        else:
	            work.put(connections[fd])
PY
cat >asks.py <<-'PY'
	import socket, time
	s = socket.create_connection(("127.0.0.1", int(open("port").read())))
	while True:
	    s.send(b"q")
	    s.recv(9)
	    time.sleep(0.1)
PY
rm -f port
"$PY" pool.py &
server=$!
jobs_to_end+=("$server")
until_true test -s port
"$PY" asks.py &
client=$!
jobs_to_end+=("$client")
for how in "" "--exact -p $server"; do
	# shellcheck disable=SC2086
	"$IPCSTALL" attach $how -q -p $client -d 5s --json m.json >out 2>err
	tier=$([ "$how" ] && echo exact || echo sampled)
	shown_is_true "$tier: what the thread does that works on a request" \
		"'sleeps in clock_nanosleep()' in c['why']" '(c["head"], c["why"])'
done

# a path of 10 ms each way
a=answered-a-$$ b=answered-b-$$
if [ -e /dev/net/tun ] && ip netns add $a 2>/dev/null && ip netns add $b 2>/dev/null; then
	mkfifo hold
	"$PY" "$program" cable 10 $a $b <hold >cable &
	jobs_to_end+=($!)
	exec 9>hold
	until_true grep -q up cable
	in_a="ip netns exec $a" in_b="ip netns exec $b"
	one_end "a path of 10 ms, one end" "$in_b" "$in_a" think=40 to=10.8.0.2
	rm -f port served
	cat >run-both.sh <<-SH
	$in_b $PY $program server think=40 to=10.8.0.2 &
	until [ -s port ]; do sleep 0.02; done
	$in_a $PY $program client to=10.8.0.2 port=\$(cat port)
	wait
	SH
	traced -- bash run-both.sh
	says_true "a path of 10 ms, both ends: the server's time to think" "$read_it" "not r.get('bounded', True) and near(r['think_ns'], thought)" "$shown"
	says_true "a path of 10 ms, both ends: the way" "$read_it" "r and near(r['way_ns'] + r['unread_ns'], asked - thought)" "$shown"
	exec 9>&-
	ip netns del $a
	ip netns del $b
else
	echo "skip a path of 10 ms: no network namespaces or no TUN device here"
fi
finish
