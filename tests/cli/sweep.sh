# SPDX-License-Identifier: GPL-2.0-only
# A sweep's file: what is in it, what it may go on with, and that a wrong command line leaves it alone.
. "$(dirname "$0")/lib.sh"
sweep=(sweep -m pipe -V size=64,128 -d 20ms --no-trace -q -o "$WORK/cut.ndjson")
rows() { echo "rows = [json.loads(line) for line in open('$WORK/$1')]"; }

# --- interrupted between the two tests of a size ---
"$IPCSTALL" "${sweep[@]}" && head -2 "$WORK/cut.ndjson" >"$WORK/begun" && cp "$WORK/begun" "$WORK/cut.ndjson" && "$IPCSTALL" "${sweep[@]}" --resume
says_true 'it goes on with what is missing' "$(rows cut.ndjson); done = sorted((r['vars']['size'], r['test']) for r in rows if 'vars' in r)" \
	'done == [(n, t) for n in (64, 128) for t in ("latency", "throughput")] and rows[-1]["end"] == {"points": 4, "complete": True}' '(done, rows[-1].get("end"))'
before=$(sha256sum <"$WORK/cut.ndjson")
works 'a complete one has nothing left to run' "${sweep[@]}" --resume
check 'and stays as it is' 'it was changed' [ "$before" = "$(sha256sum <"$WORK/cut.ndjson")" ]
refuses 'another command line' 9 "'options' differs from that of this command line" "${sweep[@]}" -d 30ms --resume
sed 's/"kernel":"[^"]*"/"kernel":"1.0"/' "$WORK/begun" >"$WORK/cut.ndjson"
refuses 'another kernel' 9 "'kernel' differs from that of this machine" "${sweep[@]}" --resume
sed 's/"git":"[^"]*"/"git":"0"/' "$WORK/begun" >"$WORK/cut.ndjson"
refuses 'another build' 9 "'git' differs from that of this program" "${sweep[@]}" --resume
{ cat "$WORK/begun"; tail -1 "$WORK/begun"; } >"$WORK/cut.ndjson"
refuses 'a point that is there twice' 9 'point 0 is there twice' "${sweep[@]}" --resume
sed 's/"test":"[^"]*"/"test":"other"/' "$WORK/begun" >"$WORK/cut.ndjson"
refuses 'a point of a test there is none of' 9 'point 0 names no known test' "${sweep[@]}" --resume

# --- the values of one variable, one after the other ---
together=(sweep -m tcp -t throughput -V size=16,64,1K -V nagle=0,1 -V sndbuf=0,16K,32K --together sndbuf --repeats 2 -d 5ms --no-trace -q)
works 'it measures the values of one variable one after the other' "${together[@]}" -o "$WORK/together.ndjson"
says_true 'all of them, before anything else changes' "$(rows together.ndjson); v = [r['vars'] for r in rows if 'vars' in r]; groups = [v[i:i + 3] for i in range(0, len(v), 3)]" \
	"len(v) == 36 and rows[0]['together'] == 'sndbuf' and all({x['sndbuf'] for x in g} == {0, 16384, 32768} and len({(x['size'], x['nagle']) for x in g}) == 1 for g in groups)" 'v'
says_true 'each combination once in each repeat, in another order' "$(rows together.ndjson); v = [str(r['vars']) for r in rows if 'vars' in r]" 'len(set(v[:18])) == 18 and set(v[:18]) == set(v[18:]) and v[:18] != v[18:]' 'v'
says_true 'and its values in an order of their own' "$(rows together.ndjson); v = [r['vars']['sndbuf'] for r in rows if 'vars' in r]" 'len({tuple(v[i:i + 3]) for i in range(0, 36, 3)}) > 1' 'v'
refuses 'another variable together' 9 "'together' differs from that of this command line" "${together[@]}" --together nagle --resume -o "$WORK/together.ndjson"
refuses 'together what does not vary' 2 "together link: it does not vary; give one of the options that --vary names" "${together[@]}" --together link -o "$WORK/together.ndjson"

# --- what is refused, is so before the file is opened ---
cp "$WORK/begun" "$WORK/kept.ndjson"
refuses 'no size' 2 'no message size given' sweep -m pipe -V pipe-size=64K,1M -o "$WORK/kept.ndjson"
refuses 'two sizes' 2 '2 sizes in --size' sweep -m pipe --size 64,128 -V pipe-size=64K,1M -o "$WORK/kept.ndjson"
refuses '--resume was forgotten' 2 'interrupted after 1 point' sweep -m pipe -V size=64,128 -d 20ms --no-trace -q -o "$WORK/kept.ndjson"
check 'a wrong command line leaves the file alone' 'it was changed' cmp -s "$WORK/begun" "$WORK/kept.ndjson"
"$IPCSTALL" sweep -m pipe -V size=64,128 -t latency --count 100 --no-trace -q -o "$WORK/whole.ndjson"
cp "$WORK/whole.ndjson" "$WORK/kept.ndjson"
refuses 'a sweep that has no first point' 4 'nosuch' sweep -m tcp -V size=64,128 --cc nosuch --no-trace -q -o "$WORK/kept.ndjson"
check 'leaves the whole one that was there' "$(ls -la "$WORK")" eval 'cmp -s "$WORK/whole.ndjson" "$WORK/kept.ndjson" && ! ls "$WORK"/.*.part 2>/dev/null'
works 'connecting has no size' sweep -m unix -t connect --no-trace -d 20ms -V placement=same,none -q -o "$WORK/connect.ndjson"

# --- what one of the tests has a use for is given to all ---
works 'options of one cell'"'"'s test' sweep -m unix --count 50 --no-trace -V test=latency,throughput,connect --size 300 --pattern chunks=200 --trials 5 --ack message -q -o "$WORK/mixed.ndjson"
works 'chunks that some of the sizes are cut by' sweep -m unix --count 50 -t latency --no-trace -V size=100,300 --pattern chunks=200 -q -o "$WORK/mixed.ndjson"

# --- what varies is in its point as the option is in a result: a time in ns, a number always ---
works 'a time and a rate vary' sweep -m pipe -t latency --size 64 --no-trace -V duration=20ms,0.05 -V rate=500,1k -q -o "$WORK/units.ndjson"
says_true 'as numbers, in the units of a result' "$(rows units.ndjson); found = sorted((r['vars']['duration'], r['vars']['rate']) for r in rows if 'vars' in r)" \
	'found == [(d, r) for d in (20000000, 50000000) for r in (500, 1000)]' found

refuses 'two values that are one' 2 'nagle=0,1' sweep -m tcp -t latency --size 64 -V nodelay=0,1 -d 10ms --no-trace
works 'and not where they are two' sweep -m tcp -t latency --size 64 -V nagle=0,1 -d 10ms --no-trace -q -o "$WORK/nagle.ndjson"
says_true 'each point has its own' "$(rows nagle.ndjson); own = sorted((r['vars']['nagle'], r['nodelay']) for r in rows if 'vars' in r)" 'own == [(False, True), (True, False)]' own

# --- the ledgers ---
if "$IPCSTALL" check >/dev/null 2>&1; then
	works 'with ledgers' sweep -m pipe -t latency -d 10ms -V size=64:256:+64 -q -o "$WORK/traced.ndjson"
	says_true 'each point has its own, its head how it was traced' "$(rows traced.ndjson); points = [r for r in rows if 'vars' in r]
own = [sum(e['beside']['tx']['messages'] for e in p['ledger']['endpoints']) >= 2 * p['messages'] for p in points]" \
		"len(points) == 4 and all(own) and rows[0]['trace']['backend'] in ('fentry', 'kprobe', 'rawtp')" '(len(points), own, rows[0].get("trace"))'
	works 'of one kind of endpoint, then of another' sweep -t latency --size 64 --count 100 -V mode=pipe,unix,tcp --repeats 2 -q -o "$WORK/kinds.ndjson"
	says_true 'each point has the ledger of its own kind' "$(rows kinds.ndjson); points = [r for r in rows if 'vars' in r]
own = [{e['proto'].split('-')[0] for e in p['ledger']['endpoints'] if e['beside']['tx']['messages'] >= 100} == {p['mode']} for p in points]" \
		'len(points) == 6 and all(own)' '[(p["mode"], [(e["proto"], e["beside"]["tx"]["messages"]) for e in p["ledger"]["endpoints"]]) for p in points]'
else
	echo 'skip with ledgers: the ledger cannot be kept here'
fi
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	chmod 777 "$WORK"
	(cd / && setpriv --reuid 65534 --clear-groups "$IPCSTALL" sweep -m pipe -t latency -d 10ms -V size=64,128 -o "$WORK/plain.ndjson") >"$WORK/out" 2>"$WORK/err" </dev/null
	check 'who may not trace is told so, once' "$(head -3 "$WORK/err")" [ "$(grep -c 'sweep: without ledgers: ' "$WORK/err")" = 1 ]
	says_true 'and so is who reads the file' "$(rows plain.ndjson)" "rows[0]['trace']['backend'] is None and len(rows) == 4" 'rows[0]["trace"]'
	(cd / && setpriv --reuid 65534 --clear-groups "$IPCSTALL" sweep -m pipe -t latency -d 10ms --ab -V size=64,128 -o "$WORK/ab.ndjson") >"$WORK/out" 2>"$WORK/err" </dev/null
	check 'what needs the ledger fails without' "exit $?: $(tail -1 "$WORK/err")" grep -q -- '--ab: nothing could be traced' "$WORK/err"
	(cd / && setpriv --reuid 65534 --clear-groups "$IPCSTALL" sweep -m pipe -t latency -d 10ms --trace -V size=64,128 -o "$WORK/insists.ndjson") >"$WORK/out" 2>"$WORK/err" </dev/null
	check 'so does who insists on it' "exit $?: $(tail -1 "$WORK/err")" grep -q -- '--trace: nothing could be traced' "$WORK/err"
fi
# What `make demo` asks for is asked for rightly: a usage error comes at once, and anything else is cut short.
# shellcheck disable=SC2154
eval "$(sed -n '/^comb=(/,/)$/p' "$(dirname "$0")/../../.ci/demo")"
timeout -s INT 2 "$IPCSTALL" sweep "${comb[@]}" --out "$WORK/comb.ndjson" >/dev/null 2>"$WORK/err"
rc=$?
check "the demo's sweep has no bad usage" "exit $rc: $(head -1 "$WORK/err")" [ $rc -ne 2 -a "${#comb[@]}" -gt 5 ]
finish
