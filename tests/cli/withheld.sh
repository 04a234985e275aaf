#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A sender that is not seen waits for this host's delayed ACKs, or only seems to: told from the receiver's end alone.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 70
needs_ledger

# The server is traced, and the client is not. It says what it waited for in all, in calls that took over 20 ms.
cat >two.py <<'PY'
import os, socket, sys, time

def pieces(c):  # header and body written apart: the body waits by Nagle's rule for the ACK of the header
    for _ in range(40):
        c.sendall(b"h" * 100)
        time.sleep(0.002)
        yield
        c.sendall(b"b")
        c.recv(10)

def fifth(c, then):  # four messages that are answered at once, for the timer to be used at all, and one for which it fires
    for _ in range(25):
        for _ in range(4):
            c.sendall(b"q" * 101)
            yield
            c.recv(10)
        c.sendall(b"." * 101)
        yield
        then(c)

def turns(c):  # that one is answered late
    return fifth(c, lambda c: c.recv(10))

def beats(c):  # or by nobody, and the next message comes a while later
    return fifth(c, lambda c: time.sleep(0.061))

def buffer(c):  # more than its send buffer holds, and an odd number of segments: the rest waits for memory until the ACK
    for _ in range(40):
        c.sendall(b"m" * 110000)
        yield
        c.recv(10)

how = sys.argv[1]
if sys.argv[2] == "server":
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen(1)
    with open("port.new", "w") as f:
        f.write(str(s.getsockname()[1]))
    os.rename("port.new", "port")
    a, got = s.accept()[0], 0
    message = 110000 if how == "buffer" else 101
    while data := a.recv(200000):
        got += len(data)
        late = data.endswith(b".")
        if got % message or (late and how == "beats"):
            continue
        time.sleep(0.06 if late else 0)
        a.sendall(b"k")
else:
    while not os.path.exists("port"):
        time.sleep(0.01)
    c, waited = socket.socket(), 0
    if how == "buffer":
        c.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2304)
    c.connect(("127.0.0.1", int(open("port").read())))
    if how in ("turns", "beats"):
        c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    before = time.monotonic()
    for _ in globals()[how](c):
        now = time.monotonic()
        waited, before = waited + (now - before if now - before > 0.02 else 0), now
    now = time.monotonic()
    print(waited + (now - before if now - before > 0.02 else 0))
PY
traced() { # HOW
	rm -f port m.json
	python3 two.py "$1" client >waited &
	jobs_to_end+=($!)
	"$IPCSTALL" run -q --json m.json -- python3 two.py "$1" server >out 2>err
	wait $!
}
the='l = json.load(open("m.json"))["ledger"]; w = l["withheld_ack"]
ends = [e for e in l["endpoints"] if e["proto"] == "tcp" and e["beside"]["rx"]["bytes"]]; tcp = ends[0]["beside"]["tcp"]; waited = float(open("waited").read()) * 1e9'

traced pieces
says_true "a client that waits by Nagle's rule for this end's ACKs: how often" "$the" \
	'w and w["count"] >= 0.9 * tcp["delack_fires"] > 15 and w["count"] == tcp["waited_for"]' '(tcp, w, open("err").read())'
says_true "and how long, by its own clock" "$the" 'abs(w["ns"] - waited) < 0.1 * waited' '(w, waited)'
says_true "the verdict says so, what to do, and how sure that is" "$the" \
	'"delayed ACKs held up the other end" in l["verdict"] and l["verdict"] == w["text"] and "TCP_QUICKACK" in w["fix"] and w["surety"] == "inferred from one end" and not l["findings"]' \
	'(l["verdict"], w)'

traced buffer
says_true "a client with a small send buffer waits for them too" "$the" 'w and w["count"] >= 0.5 * tcp["delack_fires"] and w["ns"] > 0.5 * waited' '(tcp, w, waited)'

for how in turns beats; do
	traced $how
	says_true "one that does not ($how) is not said to" "$the" 'w is None and tcp["delack_fires"] > 15 and tcp["waited_for"] <= 0.3 * tcp["delack_fires"]' '(tcp, w, l["verdict"])'
done

# where both ends are seen, the sender's own stall says it
rm -f port
"$IPCSTALL" run -q --json m.json -- sh -c 'python3 two.py pieces client >waited & python3 two.py pieces server; wait' >out 2>err
says_true "of a client that is seen its own ledger tells" "$the" \
	'w is None and l["findings"][0]["cause"] == "nagle" and l["findings"][0]["surety"] == "both ends seen"' '(w, l["verdict"], open("err").read())'

# recorded, and told again
rm -f port
python3 two.py pieces client >waited &
jobs_to_end+=($!)
"$IPCSTALL" record -q -o w.rec -- python3 two.py pieces server >out 2>err
"$IPCSTALL" replay --quiet --json m.json w.rec >>out 2>>err
says_true "a recording knows it too" "$the" 'w and w["count"] == tcp["waited_for"] > 15' '(w, l["verdict"], open("err").read())'
finish
