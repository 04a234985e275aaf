# SPDX-License-Identifier: GPL-2.0-only
# Over a cable made for the run: the configured rate is what arrives, and the comb of the Nagle stall shows in user-space figures alone.
. "$(dirname "$0")/lib.sh"
unshare -n true 2>/dev/null || { echo 'network namespaces are not allowed here'; exit 77; }

before=$(ip -o link 2>/dev/null | wc -l)
# NAME PYTHON-EXPRESSION over `mb`: MB/s by size, from $WORK/r.json
holds() {
	says_true "$1" "mb = {p['size']: p['throughput']['bytes_per_s'] / 1e6 for p in json.load(open('$WORK/r.json'))['points']}" "$2" mb
}

# NAME PYTHON-EXPRESSION ARGS...: a machine that others stop for longer than the shaper's bucket holds carries less, never more than the rate:
# so every look must hold the upper limit, and one of five the lower too. What was seen is in the line that fails.
carries() {
	local name=$1 expression=$2 seen=
	shift 2
	for _ in 1 2 3 4 5; do
		works "$name" "$@" --json "$WORK/r.json" >"$WORK/said" || { cat "$WORK/said"; return; }
		seen=$(python3 -c "import json
mb = {p['size']: p['throughput']['bytes_per_s'] / 1e6 for p in json.load(open('$WORK/r.json'))['points']}
x = $expression
print('over' if x > 12.6 else 'held' if x > 10.5 else 'short', x)")
		case $seen in
		held*) pass "$name"; return ;;
		over*) break ;;
		esac
		echo "again: $name: $seen MB/s"
	done
	fail "$name" "$seen MB/s"
}
for kind in veth bridge; do
	carries "$kind: 100 Mbit/s arrive, less the headers" 'mb[65536]' --mode tcp --test throughput --size 64K --link $kind,rate=100mbit --duration 500ms
done
carries 'udp: 100 Mbit/s arrive and no more' 'mb[1400]' --mode udp --test throughput --size 1400 --link veth,rate=100mbit --duration 500ms

comb=(--mode tcp --test throughput --ack message --no-trace --pattern trailer=4 --link veth,rate=100mbit,tso=off --size 3500,5000 --duration 400ms --warmup 25)
works 'the comb' "${comb[@]}" --json "$WORK/r.json" && holds 'an odd number of segments stalls, an even one does not' '5 * mb[3500] < mb[5000]'
works 'the comb, NODELAY' "${comb[@]}" --nodelay --json "$WORK/r.json" && holds 'NODELAY cures it' 'mb[3500] > 5 and mb[5000] > 5'

[ "$(ip -o link 2>/dev/null | wc -l)" -eq "$before" ] && pass 'no device is left' || fail 'no device is left' "$(ip -o link | tail -1)"
finish
