# SPDX-License-Identifier: GPL-2.0-only
# `attach` to two thousand connections of which one stalls: it is in fewer samples than a finding
# needs, and the ledger proves it.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 1
needs_ledger
mkfifo hold
"$CROWD" 2000 1000 600 0<>hold >crowd &
crowd=$!
jobs_to_end+=($crowd)
until_true grep -q ready crowd
touch go
"$KNOWN" --go go nagle n=2000 >known.json &
known=$!
jobs_to_end+=($known)
"$IPCSTALL" attach -p $crowd -p $known -d 12s --json a.json 2>err
check 'the card of 4,000 endpoints tells of the one that stalls' "$(cat err)" \
	grep -qE '^STALLED.* known\[[0-9]+\] waits for an ACK' err
check 'as something that was seen' "$(cat err)" grep -qE 'nagle: known.*seen at both ends' err
says_true 'by the proof of the ledger' "p = json.load(open('a.json'))['proofs']" \
	"[x['ledger']['card']['cause'] for x in p] == ['nagle']" "[x['ledger']['card'] for x in p]"
says_true 'which counted its episodes' "p = json.load(open('a.json'))['proofs']" \
	"p[0]['ledger']['findings'][0]['count'] > 3" \
	"[x['ledger']['card'] for x in p]"
kill $known $crowd
finish
