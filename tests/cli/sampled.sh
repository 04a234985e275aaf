# SPDX-License-Identifier: GPL-2.0-only
# The sampled tier: the same shares and the same cause as the ledger's, without a hook on a message's way; what looks cannot know is null.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 1
needs_ledger
export IPCSTALL KNOWN
beside() { # NAME CASE [key=value...]: agrees with the ledger that runs beside it
	local name=$1 rc
	shift
	timeout 60 python3 "$here/tests/sampled/beside.py" "$@" >out 2>&1
	rc=$?
	check "$name: the sampled shares are the ledger's" "exit code $rc" [ $rc -eq 0 ]
	sed 's/^/# /' out
}

beside 'nagle' nagle n=100
beside 'a reader who does not read' rwnd
beside 'a small send buffer' sndbuf
beside 'a cork' cork
beside 'pacing' pacing
beside 'loss' loss
beside 'a tail that is lost' hole
beside 'a full pipe' pipe-slow-reader n=600
beside 'an empty pipe' pipe-slow-writer n=600
beside 'a full Unix stream' unix-slow-reader type=stream n=600
beside 'a full Unix datagram socket' unix-slow-reader type=dgram n=1000
beside 'an empty UDP socket' udp-slow-writer n=900	# it is found a tenth of a second after it was made, or later

sample() { # NAME BUDGET CASE [key=value...]: s.json of a sampled session of it
	local name=$1 budget=$2 known tool rc
	shift 2
	rm -f go
	: >err
	"$KNOWN" --go go "$@" >known.json &
	known=$!
	jobs_to_end+=($known)
	"$IPCSTALL" attach -p $known --budget "$budget" --json s.json >out 2>err &
	tool=$!
	until_true grep -q attached err
	touch go
	wait $tool
	rc=$?
	check "$name" "exit code $rc; $(head -c 300 err)" [ $rc -eq 0 ]
}

sample 'attach to a stream' 5% stream n=8000 size=262144
says_true 'a TCP sender that has the socket locked is at work' "d = json.load(open('s.json')); w = [e['looks']['tx'].get('work') for e in d['ledger']['endpoints'] if e['proto'] == 'tcp' and e['looks']]" \
	"any(x and x['found'] for x in w)" w
says_true "TCP's own counts of the path are told, and what a hook alone sees is null" "d = json.load(open('s.json')); t = [e['beside']['tcp'] for e in d['ledger']['endpoints'] if e['proto'] == 'tcp' and e['looks']]" \
	"t and any(x['sent_segments'] > 100 and x['cwnd'] and x['congestion_control'] for x in t) and all(x['connecting'] is None and x['unaccepted'] is None and x['holes'] is None for x in t)" t

sample 'attach to a sender whose reader is slow' 5% rwnd
says_true "TCP's busy time contains the parts that something limits" \
	"e = json.load(open('s.json'))['ledger']['endpoints']
c = [x['looks']['chronographs'] for x in e if x['proto'] == 'tcp' and x['looks']]
limited = [x['rwnd_limited_ns'] + x['sndbuf_limited_ns'] for x in c]" \
	"max(limited) > 1e8 and all(x['busy_ns'] >= n for x, n in zip(c, limited))" c

(
	until_true [ -e starts ]
	for _ in {1..200}; do "$(type -P true)"; done
	touch ended
	until_true [ -e stop ]
) &
parent=$!
"$IPCSTALL" attach -p $parent --json s.json >out 2>err &
tool=$!
jobs_to_end+=($parent $tool)
until_true grep -q attached err
touch starts
until_true [ -e ended ]
followed=$(bpftool -j map show 2>map-err | python3 -c "import json, sys
maps = [m for m in json.load(sys.stdin) if m.get('name') == 'followed']
print(*(m['id'] for m in maps if any(p['pid'] == $tool for p in m.get('pids', []))))")
n=$(bpftool -j map dump id "$followed" 2>>map-err |
	python3 -c 'import json, sys; print(len(json.load(sys.stdin)))')
touch stop
wait $tool
check 'children that have ended are followed no more' "of 200: ${n:-unknown}; $(cat map-err)" \
	[ "${n:-200}" -lt 20 ]

sample 'attach samples, and ends with the process' 0.5% nagle n=100
load="import jsonschema, subprocess
d = json.load(open('s.json')); l = d['ledger']; f = l['findings'][0]; e = l['endpoints'][f['endpoint']]; n = e['tx']['states']['nagle']"
says_true 'the cause and the party' "$load" "f['cause'] == 'nagle' and f['blamed'] == 'peer delayed ACK' and f['surety'] == 'both ends seen'" f
says_true 'its resolution is `sampled`' "$load" "n['resolution'] == 'sampled' and n['ns'] > 0" n
says_true 'what looks cannot know is null' "$load" \
	"n['count'] is None and n['max_ns'] is None and f['count'] is None and f['max_ns'] is None and e['beside']['tx']['messages'] is None and e['beside']['tx']['runq_ns'] is None and e['rx']['states']['work']['ns'] is None" \
	"(n, f, e['beside'])"
says_true 'nor is what accept() did' "$load" "l['listeners'] and all(x[k] is None for x in l['listeners'] for k in ('accepted', 'accept_wait_ns', 'accept_wait_max_ns'))" "l['listeners']"
says_true 'an interval around the share' "$load; i = e['looks']['tx']['nagle']; s = n['ns'] / e['tx']['lifetime_ns']" "i['share_low'] <= s <= i['share_high'] and i['share_high'] - i['share_low'] < 0.2" "(i, s)"
says_true 'states add up to the lifetime' "$load" "all(x[s]['unaccounted_ns'] == 0 and sum(v['ns'] or 0 for v in x[s]['states'].values()) == x[s]['lifetime_ns'] for x in l['endpoints'] for s in ('tx', 'rx'))" "[x['tx'] for x in l['endpoints']]"
says_true 'the peer was found to owe an ACK' "$load; p = l['endpoints'][e['peer']]['looks']" "p['facts']['ack_owed']['found'] > 0.8 * p['n']" p
says_true 'no program hangs on the way of a message' \
	"$load; p = {h['point'] for h in d['trace']['hooks'] if h['attached']}" \
	"p and p <= {'inet_sock_set_state', 'tcp_destroy_sock',
	'sched_process_fork', 'sched_process_exit'}" p
says_true 'the ledger proved it meanwhile' "$load; p = d['proofs']" "len(p) == 1 and p[0]['ns'] > 2e8 and p[0]['ledger']['findings'][0]['cause'] == 'nagle' and p[0]['ledger']['findings'][0]['max_ns'] > 3e7" p
tr '\n' ' ' <err >said
check 'and its card says so' "$(cat err)" grep -qE '  proof  exact tracing of .*nagle' said
says_true 'the document is of its schema' "$load; jsonschema.validate(d, json.loads(subprocess.check_output(['$IPCSTALL', 'attach', '--json-schema'])))" True d

right() { # NAME SCRIPT: it exits with 0; with 77 where the host left it too little CPU to say
	local rc
	timeout 300 python3 "$here/tests/sampled/$2" >out 2>&1
	rc=$?
	if [ $rc -eq 77 ]; then
		echo "skip $1: $(tail -n 1 out | cut -d: -f1)"
	else
		check "$1" "exit code $rc; $(tail -c 1200 out)" [ $rc -eq 0 ]
	fi
}

right 'a busy reader is not blamed' busy_reader.py
right 'a client in poll() waits for its server, and an idle server for nobody' waits_in_epoll.py
right 'who connected long before anybody looked waits for its answers, seen at either end alone' \
	one_end.py
right 'who waits for a server that was stopped is told so' stopped_server.py
right 'a program waits for the helper that it asked by a pipe, and a pool of helpers for nobody' \
	waits_for_helper.py
right 'who should read a full pipe is named, where the writer alone is traced' full_pipe.py
right 'what a program does instead of reading or answering is told' elsewhere.py
right 'pings and their acknowledgements are no requests' feeds.py
right 'who shares both ends of a pipe with its writer waits for that' shared_queue.py
right 'datagrams that found no room are counted' lost_datagrams.py
right 'a wait in connections that are shorter than the time between two looks' short_connections.py
right 'who waits at a Unix socket for a server that was asked before is told by either end' \
	unix_server.py
right 'whom a proxy waits for, by the ledger, where samples do not tell' proven_wait.py
right 'clients wait for the server behind a proxy, with the requests under way at both ends of the session' \
	pool_of_one.py

"$IPCSTALL" attach -a -P 21000-21007 -d 3s --json s.json >out 2>err &
tool=$!
jobs_to_end+=($tool)
until_true grep -q attached err
"$CHURN" 21000 8 100 1 >made
wait $tool
says_true 'connections that live between two looks are named' "l = json.load(open('s.json'))['ledger']; e = [x for x in l['endpoints'] if x['proto'] == 'tcp']" \
	"len(e) >= 100 and sum(not x['looks']['n'] for x in e) > 50 and all(x['comm'] == 'churn' for x in e)" "(len(e), {x['comm'] for x in e})"
finish
