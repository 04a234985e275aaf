# SPDX-License-Identifier: GPL-2.0-only
# NIST's Figures 1, 2 and 3 by one command: at least 25 sizes, dips of 70 % at the sizes foretold and at no others, explained by stall, cured by NODELAY.
# About a minute. What a load disturbed is tried again, and so is what was refuted: points of 10 ms on a busy host are refuted by chance now and
# then, by a fault of ours always. A machine that is never quiet decides nothing, and that is said.
. "$(dirname "$0")/lib.sh"
export PYTHON=${PYTHON:-/usr/bin/python3}
unshare -n true 2>/dev/null || { echo 'network namespaces are not allowed here'; exit 77; }
"$PYTHON" -c 'import matplotlib, scipy' 2>/dev/null || { echo 'no matplotlib or scipy'; exit 77; }
"$IPCSTALL" check >"$WORK/check" 2>&1 || { echo "nothing can be traced here: $(tail -1 "$WORK/check")"; exit 77; }

for try in 1 2; do
	timeout 550 "$IPCSTALL" experiment nagle-comb --quick -o "$WORK/comb" >"$WORK/text" 2>"$WORK/err" </dev/null
	rc=$?
	answer=$(sed -n 's/^Answer: \([A-Z ]*\)\..*/\1/p' "$WORK/text")
	case $answer in 'NOT DECIDED' | REFUTED) ;; *) break ;; esac
	[ $try = 2 ] || echo "again: $(tr '\n' ' ' <"$WORK/text" | grep -oE 'But: .{0,200}')"
done
case $rc:$answer in
0:SUPPORTED) pass 'the comb' ;;
10:'NOT DECIDED') echo "skip the comb: $(tr -s '\n ' ' ' <"$WORK/text" | grep -oE 'But: .{0,300}')" ;;
124:*) CLOCK=no fail 'the comb' 'not done in 550 s' ;;
*) fail 'the comb' "exit code $rc: ${answer:-$(tail -1 "$WORK/err")} $(tr -s '\n ' ' ' <"$WORK/text" | grep -oE 'But: .{0,300}')" ;;
esac
[ $rc -eq 124 ] || "$PYTHON" - "$WORK/comb" <<'P' && pass 'its data: 25 sizes or more, three pictures' || fail 'its data' "$(ls "$WORK/comb")"
import json, os, sys
sizes = {json.loads(l)["size"] for l in open(sys.argv[1] + "/comb.ndjson") if '"vars"' in l}
sys.exit(not (len(sizes) >= 25 and len([f for f in os.listdir(sys.argv[1]) if f.startswith("figure-") and f.endswith(".svg")]) == 3))
P
finish
