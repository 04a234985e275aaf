# SPDX-License-Identifier: GPL-2.0-only
# ipcstall watch: silent while nothing stalls; a card and a line with the ledger's proof when something does; the minutes before at SIGUSR1.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 1

refused() { # NAME WORDS ARGUMENTS...
	local name=$1 words=$2 rc
	shift 2
	"$IPCSTALL" watch "$@" >out 2>err
	rc=$?
	check "$name" "exit code $rc; $(head -c 300 err)" sh -c '[ "$0" -eq 2 ] && grep -q -- "$1" err' $rc "$words"
}
refused 'a zoom budget is a percentage' 'zoom-budget' --zoom-budget much
refused 'and so is that of the looks' 'one CPU' --budget much
needs_ledger

watched() { # CASE...: watched until it has ended; what was written is in w.ndjson and err
	rm -f go err # until_true is not to see what stood there
	"$KNOWN" --go go "$@" >known.json &
	known=$!
	jobs_to_end+=($known)
	"$IPCSTALL" watch -p $known -i 1s >w.ndjson 2>err &
	tool=$!
	jobs_to_end+=($tool)
	until_true grep -qs watching err
	touch go
}

watched nagle n=500
until_true grep -q '"type":"stall"' w.ndjson
kill -USR1 $tool
until_true grep -q '"type":"before"' w.ndjson
check 'SIGUSR1 writes what was judged before' "$(head -c 300 w.ndjson)" grep -q '"type":"before"' w.ndjson
kill $tool
wait $tool
check 'it ends in good order' "exit code $?; $(tail -3 err)" [ $? -eq 0 ]
kill $known 2>/dev/null
load="lines = [json.loads(x) for x in open('w.ndjson')]; told = [x for x in lines if x['type'] == 'stall']"
says_true 'a stall is told of once' "$load" "len(told) == 1 and told[0]['schema'] == 'ipcstall.watch'" "[x['type'] for x in lines]"
says_true 'with the cause that looks found' "$load; f = told[0]['ledger']['findings'][0]" "f['cause'] == 'nagle' and f['count'] is None" f
says_true 'and the proof of the ledger' "$load; p = told[0]['proof']['findings'][0]" "p['cause'] == 'nagle' and p['blamed'] == 'peer delayed ACK' and p['count'] > 3 and p['max_ns'] > 3e7" p
check 'the card names the cause' "$(cat err)" grep -q 'nagle: known' err

watched pingpong n=20000
wait $tool
check 'nothing is said of a conversation that goes on well' "$(cat w.ndjson; tail -20 err)" [ ! -s w.ndjson ]

# --- one that stalls all the time, and then another ---
rm -f go err w.ndjson
mkfifo full
sleep 600 <>full &
jobs_to_end+=($!)
yes >full &
chronic=$!
jobs_to_end+=($chronic)
"$KNOWN" --go go nagle n=2000 >known.json &
known=$!
jobs_to_end+=($known)
"$IPCSTALL" watch -p $chronic -p $known -i 1s >w.ndjson 2>err &
tool=$!
jobs_to_end+=($tool)
until_true grep -q '"type":"stall"' w.ndjson
touch go
two_told() { [ "$(grep -c '"type":"stall"' w.ndjson)" -ge 2 ]; }
until_true two_told
kill $tool $known $chronic
wait $tool
says_true 'a stall that goes on for ever hides no other' "$load" \
	"[x['ledger']['card']['cause'] for x in told] == ['sndbuf', 'nagle']" \
	"[x['ledger']['card'] for x in told]"
check 'and the card of each names its cause' "$(cat err)" \
	sh -c 'grep -q "sndbuf: " err && grep -q "nagle: " err'

# --- one that stalls among a thousand that do not ---
mkfifo hold
"$CROWD" 1000 1000 600 0<>hold >crowd &
crowd=$!
jobs_to_end+=($crowd)
until_true grep -q ready crowd
"$IPCSTALL" watch -p $crowd -i 1s >w.ndjson 2>err &
tool=$!
jobs_to_end+=($tool)
until_true grep -qs watching err
all_well() { # an interval in which samples were taken, and none of them found a stall
	kill -USR1 $tool
	grep -q '"kind": *"unseen".*"looks": *[1-9]' w.ndjson
}
until_true all_well
check 'of a thousand that are all well SIGUSR1 writes what was judged too' \
	"$(head -c 300 w.ndjson)" all_well
kill $tool
wait $tool
rm -f go err w.ndjson
"$KNOWN" --go go nagle n=2000 >known.json &
known=$!
jobs_to_end+=($known)
"$IPCSTALL" watch -p $crowd -p $known >w.ndjson 2>err &
tool=$!
jobs_to_end+=($tool)
until_true grep -qs watching err
began=$(date +%s)
touch go
until_true grep -q '"type":"stall"' w.ndjson
took=$(($(date +%s) - began))
kill $tool $known
wait $tool
check 'among a thousand: it is found within 10 s' "$took s" [ $took -le 10 ]
says_true 'among a thousand: it alone, with the proof' "$load" \
	"[(x['ledger']['findings'][0]['pid'], x['proof']['findings'][0]['cause'], x['proof']['findings'][0]['blamed']) for x in told] == [($known, 'nagle', 'peer delayed ACK')]" \
	"[x['ledger']['verdict'] for x in told]"
finish
