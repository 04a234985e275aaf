#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A sender that is not seen waits for this host's delayed ACKs, or only seems to: told from the receiver's end alone.
. "$(dirname "$0")/lib.sh"
# The server is traced, and the client is not.
two=$(cd "$(dirname "$0")" && pwd)/withheld.py
cd "$WORK" || exit 70
needs_ledger

traced() { # HOW
	rm -f port m.json
	python3 "$two" "$1" client >waited &
	jobs_to_end+=($!)
	"$IPCSTALL" run -q --json m.json -- python3 "$two" "$1" server >out 2>err
	wait $!
}
the='l = json.load(open("m.json"))["ledger"]; w = l["withheld_ack"]
ends = [e for e in l["endpoints"] if e["proto"] == "tcp" and e["beside"]["rx"]["bytes"]]; tcp = ends[0]["beside"]["tcp"]; waited = float(open("waited").read()) * 1e9'

traced pieces
says_true "a client that waits by Nagle's algorithm for this end's ACKs: how often" "$the" \
	'w and tcp["delack_fires"] > 15 and w["count"] == tcp["waited_for"]' '(tcp, w, open("err").read())'
says_true "and how long, by its own clock" "$the" 'abs(w["ns"] - waited) < 0.2 * waited + 1e8' '(w, waited)'
says_true "the verdict says so, what to do, and how sure that is" "$the" \
	'"delayed ACKs held up the other end" in l["verdict"] and l["verdict"] == w["text"] and "TCP_QUICKACK" in w["fix"] and w["surety"] == "inferred from one end" and not l["findings"]' \
	'(l["verdict"], w)'

traced buffer
says_true "a client with a small send buffer waits for them too" "$the" 'w and w["count"] >= 0.5 * tcp["delack_fires"] and w["ns"] > 0.5 * waited' '(tcp, w, waited)'

for how in turns beats; do
	traced $how
	says_true "one that does not ($how) is not said to" "$the" 'w is None and tcp["delack_fires"] > 15 and tcp["waited_for"] <= 0.3 * tcp["delack_fires"]' '(tcp, w, l["verdict"])'
done

# the exporter's sums of a server that runs already
rm -f port
python3 "$two" many server &
server=$!
python3 "$two" many client >waited &
jobs_to_end+=("$server" $!)
"$IPCSTALL" export --exact --once --interval 1s -p $server >metrics 2>err
says_true "the exporter tells it, of each second most" 'import re
s = [float(x) for x in re.findall(r"^ipcstall_withheld_ack_seconds_total\{.*proto=.tcp.\} (\S+)", open("metrics").read(), re.M)]' \
	'len(s) == 1 and 0.4 < s[0] <= 1.05' '(s, open("err").read())'
kill "$server"

# where both ends are seen, the sender's own stall says it
rm -f port
"$IPCSTALL" run -q --json m.json -- sh -c 'python3 "$0" pieces client >waited & python3 "$0" pieces server; wait' "$two" >out 2>err
says_true "of a client that is seen its own ledger tells" "$the" \
	'w is None and l["findings"][0]["cause"] == "nagle" and l["findings"][0]["surety"] == "both ends seen"' '(w, l["verdict"], open("err").read())'

# recorded, and told again
rm -f port
python3 "$two" pieces client >waited &
jobs_to_end+=($!)
"$IPCSTALL" record -q -o w.rec -- python3 "$two" pieces server >out 2>err
"$IPCSTALL" replay --quiet --json m.json w.rec >>out 2>>err
says_true "a recording knows it too" "$the" 'w and w["count"] == tcp["waited_for"] > 15' '(w, l["verdict"], open("err").read())'
finish
