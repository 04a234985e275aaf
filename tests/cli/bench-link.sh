# SPDX-License-Identifier: GPL-2.0-only
# Over a cable made for the run: the configured rate is what arrives, and the comb of the Nagle stall shows in user-space figures alone.
. "$(dirname "$0")/lib.sh"
unshare -n true 2>/dev/null || { echo 'network namespaces are not allowed here'; exit 77; }

before=$(ip -o link 2>/dev/null | wc -l)
# NAME PYTHON-EXPRESSION over `mb`: MB/s by size, from $WORK/r.json
holds() {
	says_true "$1" "mb = {p['size']: p['throughput']['bytes_per_s'] / 1e6 for p in json.load(open('$WORK/r.json'))['points']}" "$2" mb
}

for kind in veth bridge; do
	works "$kind at 100 Mbit/s" --mode tcp --test throughput --size 64K --link $kind,rate=100mbit --duration 500ms --json "$WORK/r.json" &&
		holds "$kind: 100 Mbit/s arrive, less the headers" '10.5 < mb[65536] < 12.6'
done
works 'udp at 100 Mbit/s' --mode udp --test throughput --size 1400 --link veth,rate=100mbit --duration 500ms --json "$WORK/r.json" &&
	holds 'udp: no more than 100 Mbit/s arrive' '10 < mb[1400] < 12.6'

comb=(--mode tcp --test throughput --ack message --no-trace --pattern trailer=4 --link veth,rate=100mbit,tso=off --size 3500,5000 --duration 400ms --warmup 25)
works 'the comb' "${comb[@]}" --json "$WORK/r.json" && holds 'an odd number of segments stalls, an even one does not' '5 * mb[3500] < mb[5000]'
works 'the comb, NODELAY' "${comb[@]}" --nodelay --json "$WORK/r.json" && holds 'NODELAY cures it' 'mb[3500] > 5 and mb[5000] > 5'

[ "$(ip -o link 2>/dev/null | wc -l)" -eq "$before" ] && pass 'no device is left' || fail 'no device is left' "$(ip -o link | tail -1)"
finish
