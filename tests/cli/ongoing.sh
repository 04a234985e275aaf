#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A stall that has not ended when somebody looks, or when the session does: it is told of like any other, with who is to blame and the stacks.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 70
needs_ledger
PY=$("${PYTHON:-python3}" -c 'import sys; print(sys.executable)')
cat >hangs.py <<'PY'
import os, socket, sys, time

listener = socket.create_server(("127.0.0.1", 0))
sender = socket.create_connection(listener.getsockname())
reader = listener.accept()[0]
if os.fork() == 0:
    sender.close()
    reader.recv(1)
    while True:
        time.sleep(1)
reader.close()
print(os.getpid(), flush=True)
while not os.path.exists("traced"):
    time.sleep(0.02)
sender.sendall(bytes(64 << 20))
PY
"$PY" hangs.py >pid &
jobs_to_end+=($!)
until_true [ -s pid ]
pid=$(cat pid)
"$IPCSTALL" record -q -p "$pid" -d 5 -o hang.rec --stacks --threshold 100ms 2>err &
recorder=$!
until_true tracing $recorder
touch traced
wait $recorder
check "record of a hung sender" "$(cat err)" [ $? -eq 0 ]
"$IPCSTALL" replay -q hang.rec --json m.json --ndjson m.nd --folded folded 2>err
the='d = json.load(open("m.json")); s = d["stalls"]; open_ = [x for x in s if x["goes_on"]]
ends = max(e["born_ns"] + e["tx"]["lifetime_ns"] for e in d["ledger"]["endpoints"])
lines = [json.loads(x) for x in open("m.nd")]'
says_true "its last stall is told though it goes on, up to the end, and once" "$the" \
	'len(open_) == 1 and open_[0] is s[-1] and open_[0]["ns"] > 3e8 and abs(open_[0]["to_ns"] - ends) < 1e8' '[(x["state"], x["ns"], x["goes_on"]) for x in s]'
says_true "with who is to blame, and where both are" "$the" \
	'[(x["blamed"], bool(x["kernel_stack"]), bool(x["peer_kernel_stack"])) for x in open_] == [("peer application not reading", True, True)]' 'open_'
says_true "the stream has it too" "$the" '[x["goes_on"] for x in lines if x.get("type") == "stall"] == [False] * (len(s) - 1) + [True]' '[x.get("type") for x in lines]'
check "and the flame graph" "$(cut -c1-300 folded)" grep -q 'stall:rwnd;by:python' folded
"$IPCSTALL" top --exact -b --json - -p "$pid" --iterations 3 >top.nd 2>err
says_true "top blames the reader while the stall goes on" 'rows = [e for l in open("top.nd") for e in json.loads(l)["endpoints"] if e["cause"] == "rwnd"]' \
	'rows and all(e["blamed"] == "peer application not reading" for e in rows)' 'open("top.nd").read()'
finish
