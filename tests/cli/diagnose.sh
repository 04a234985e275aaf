# SPDX-License-Identifier: GPL-2.0-only
# diagnose: what it refuses, what it says without privileges, its document, saved files; the edges of a dip by sweep --refine.
. "$(dirname "$0")/lib.sh"
chmod 755 "$WORK"

# NAME PYTHON-EXPRESSION over `d`, the document in $WORK/d.json
holds() { says_true "$1" "d = json.load(open('$WORK/d.json')); p = d['diagnoses'][0]" "$2" 'json.dumps(p)'; }

# NAME EXIT-CODES ARGS...: one of these codes, a document
diagnoses() {
	local name=$1 codes=$2 rc
	shift 2
	timeout $HUNG "$IPCSTALL" diagnose "$@" -q --json "$WORK/d.json" >"$WORK/out" 2>"$WORK/err" </dev/null
	rc=$?
	if [[ " $codes " != *" $rc "* ]] || [ -s "$WORK/out" ]; then
		fail "$name" "exit code $rc: $(head -c 300 "$WORK/err" "$WORK/out")"
		return 1
	fi
	pass "$name"
}

refuses 'no mode' 2 'mode' diagnose
refuses 'too few pairs' 2 'pairs' diagnose -m pipe --pairs 3
refuses 'a timeline, of which round?' 2 'timeline' diagnose -m pipe --timeline "$WORK/t"
refuses 'a timeline, of which point?' 2 'timeline' sweep -m pipe -V size=4K --timeline "$WORK/t"
refuses 'another host' 2 'connect' diagnose -m tcp --connect 192.0.2.1
refuses 'no such file' 9 'from /nonexistent' diagnose --from /nonexistent
printf 'no JSON at all\n' >"$WORK/bad"
refuses 'its own file for the answer' 2 'this input would be overwritten' diagnose --from "$WORK/bad" --json "$WORK/bad"
refuses 'not JSON' 9 'from' diagnose --from "$WORK/bad"
printf '{"schema": "ipcstall.sweep", "version": 2, "options": {}}\n' >"$WORK/bad"
refuses 'another version' 8 'version 2' diagnose --from "$WORK/bad"
printf '{"schema": "ipcstall.run", "version": 1}\n' >"$WORK/bad"
refuses 'another kind of file' 9 'neither' diagnose --from "$WORK/bad"
printf '{"schema": "ipcstall.sweep", "version": 1, "options": {"mode": "tcp"}}\n' >"$WORK/bad"
refuses 'an empty sweep' 9 'no point' diagnose --from "$WORK/bad"
printf '{"schema": "ipcstall.sweep", "version": 1, "options": {"mode": "tcp"}}\n{"size": 4}\n' >"$WORK/bad"
refuses 'a point that is none' 9 'without a test' diagnose --from "$WORK/bad"
refuses 'a sweep to go on with that is not there' 9 'No such file' sweep -m pipe -V size=4 --resume -o /nonexistent/x
printf '{"schema": "ipcstall.other", "version": 1}\n' >"$WORK/bad"
refuses 'a sweep to go on with that is none' 9 "its 'schema' differs from that of" sweep -m pipe -V size=4 --resume -o "$WORK/bad"
"$IPCSTALL" sweep -m pipe -V size=4 -t latency --count 100 --no-trace -q >/dev/full 2>"$WORK/err"
rc=$?
check 'a full standard output cannot be gone on with' "$rc $(cat "$WORK/err")" eval '[ $rc -eq 6 ] && grep -q "standard output: No space" "$WORK/err" && ! grep -q resume "$WORK/err"'
refuses 'refine without repeats' 2 'repeats' sweep -m pipe -V size=1K,2K --refine -o "$WORK/x"
refuses 'refine without sizes' 2 'size' sweep -m tcp -V nodelay=0,1 --repeats 3 --refine -o "$WORK/x"

# A saved point is judged by its own size: none of the default ones would do here.
saved() { # NAME ARGS...: a short result in $WORK/saved.json
	local name=$1
	shift
	works "run: $name" "$@" -d 20ms --warmup 1 -q --json "$WORK/saved.json" && diagnoses "from a file: $name" '0 10' --from "$WORK/saved.json"
}
saved 'a header larger than the smallest default size' -m tcp --size 100 --pattern header=16 --ack message
saved 'datagrams smaller than the largest default size' -m udp -E mmsg --size 1K
saved 'connects beside messages of one size' -m tcp -t connect,throughput --size 100 --pattern header=16
works 'a sweep over sizes' sweep -m tcp -t throughput --pattern header=16 --ack message -V size=100,200 -d 20ms --warmup 1 -q -o "$WORK/sizes.ndjson"
diagnoses 'from a sweep over sizes' '0 10' --from "$WORK/sizes.ndjson"
diagnoses 'from a sweep over sizes, with the fixes run' '0 10' --from "$WORK/sizes.ndjson" --fixes run --no-trace --rounds 3 -q
zcat "$here/docs/experiments/results/nagle-comb/comb.ndjson.gz" >"$WORK/comb.ndjson"
diagnoses 'from the sweep of an experiment' '0 10' --from "$WORK/comb.ndjson"

diagnoses 'a stall, by its causes alone' '0 10' -m tcp --ack message --pattern header=16 --size 1000 -d 100ms --warmup 1 --fixes name
if [ "$(python3 -c "import json; print(json.load(open('$WORK/d.json'))['trace']['backend'])")" = None ]; then
	echo 'skip the ledger: this kernel does not allow it'
	finish
fi
holds 'cause and both ends' "p['outcome'] == 'ill' and p['cause'] == 'nagle' and p['findings'][0]['waits']['role'] == 'client' and
	p['findings'][0]['blamed'] == 'peer delayed ACK' and p['findings'][0]['blamed_end']['role'] == 'server' and p['findings'][0]['blamed_end']['pid'] > 0"
holds 'fixes are named, none is run' "{'nodelay', 'one-write', 'quickack'} <= {f['name'] for f in p['fixes']} and all(f['verdict'] is None for f in p['fixes'])"
"$IPCSTALL" diagnose --json-schema >"$WORK/schema.json"
if python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null; then
	out=$(python3 -c "import json, jsonschema
s = json.load(open('$WORK/schema.json')); v = jsonschema.Draft202012Validator(s); v.check_schema(s)
print([e.message[:200] for e in v.iter_errors(json.load(open('$WORK/d.json')))])" 2>&1)
	[ "$out" = '[]' ] && pass 'schema' || fail 'schema' "$out"
else
	echo 'skip schema: python3-jsonschema 4 is not installed'
fi

if command -v setpriv >/dev/null; then
	setpriv --reuid 65534 --clear-groups --bounding-set=-all --inh-caps=-all "$IPCSTALL" diagnose -m tcp --ack message --pattern header=16 --size 1000 -d 30ms --warmup 2 >"$WORK/out" 2>&1
	rc=$?
	[ $rc -eq 0 ] && grep -q '^UNKNOWN .*the cause is unknown' "$WORK/out" && pass 'without privileges nothing is claimed' || fail 'without privileges nothing is claimed' "$rc: $(head -3 "$WORK/out")"
fi

# Chunks of 4096 bytes stall from 4097 to 5543 at an MSS of 1448, and nowhere else near them.
timeout 900 "$IPCSTALL" sweep -m tcp --pattern chunks=4096 --ack message -t throughput -L veth,tso=off -V size=4085,4100,5000,5540,5555 --repeats 3 --refine -d 40ms --warmup 2 \
	--delack-max 8ms -q -o "$WORK/edges.ndjson" 2>"$WORK/err"
rc=$?
[ $rc -eq 0 ] && pass 'refine' || fail 'refine' "exit code $rc: $(cat "$WORK/err")"
diagnoses 'a saved sweep' '0 10' --from "$WORK/edges.ndjson"
holds 'the dip, to the byte' "len(d['ranges']) == 1 and [(b['first'], b['last'], b['cause']) for b in d['ranges'][0]['bands'][:1]] == [(4097, 5543, 'nagle')] or
	sys.exit(json.dumps(d['ranges'])[-900:])"
holds 'stall explains it' "d['ranges'][0]['bands'][0]['explained'] > 0.7 and p['cause'] == 'nagle' and d['from'].endswith('edges.ndjson')"
head -c $(($(wc -c <"$WORK/edges.ndjson") / 2)) "$WORK/edges.ndjson" >"$WORK/cut.ndjson"
timeout $HUNG "$IPCSTALL" diagnose --from "$WORK/cut.ndjson" >"$WORK/out" 2>"$WORK/err"
grep -q 'the file is incomplete; judging the points that it has' "$WORK/out" && pass 'a sweep cut short is judged as far as it goes, and said to be' || fail 'cut short' "$(head -c 200 "$WORK/out" "$WORK/err")"
[ -z "$(left_over)" ] && pass 'nothing left over' || fail 'nothing left over' "$(left_over)"
finish
