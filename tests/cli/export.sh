# SPDX-License-Identifier: GPL-2.0-only
# stage: core
# ipcstall export: the text, and the server under good and bad clients. prometheus.sh has it scraped.
. "$(dirname "$0")/lib.sh"
needs_ledger

refuses 'an address that is none' 2 'not ADDRESS:PORT' export --listen localhost
refuses 'a port alone' 2 'not ADDRESS:PORT' export --listen :19435
refuses 'an empty address' 2 'not ADDRESS:PORT' export --listen '[]:19435'
refuses 'a name instead of an address' 2 'address in numbers' export --listen localhost:19435
refuses 'a port that is none' 2 'is not a port' export --listen 127.0.0.1:99999
refuses 'an address of elsewhere' 5 'Cannot assign' export --listen 192.0.2.1:19435
"$IPCSTALL" export --exact --once --interval 0.2 >/dev/full 2>"$WORK/err"
check 'a full disk' "exit $?: $(cat "$WORK/err")" grep -q 'No space left' "$WORK/err"

# --- a server to look at ---
serve_metrics
refuses 'a port that is taken' 5 'in use' export --listen "127.0.0.1:$port"

cat >"$WORK/clients.py" <<'PY'
"""Good clients and bad ones. Prints ok and not ok lines."""
import re, socket, sys, threading, time

PORT = int(sys.argv[1])

def talk(data, wait=8.0, chunks=None, pause=0):
    """Send data and read to the end; the whole answer."""
    s = socket.create_connection(("127.0.0.1", PORT), timeout=wait)
    try:
        for piece in chunks or [data]:
            s.sendall(piece)
            time.sleep(pause)
    except OSError:
        pass
    out = b""
    try:
        while piece := s.recv(65536):
            out += piece
    except OSError:
        pass
    s.close()
    return out

def request(path="/metrics", method="GET", extra=""):
    return f"{method} {path} HTTP/1.1\r\nHost: x\r\n{extra}\r\n".encode()

def split(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]) if head.startswith(b"HTTP/1.1 ") else 0, head.decode().lower(), body.decode()

def is_(name, good, detail=""):
    print(f"ok {name}" if good else f"not ok {name}: {str(detail)[:300]}")

OPEN = "Accept: application/openmetrics-text; version=1.0.0\r\n"
status, head, body = split(talk(request(extra=OPEN)))
is_("OpenMetrics", status == 200 and "application/openmetrics-text" in head and body.endswith("# EOF\n"), head)
is_("the length is told", f"content-length: {len(body)}" in head, head)
is_("no addresses and no process numbers among the labels", not re.search(r'\b(pid|port|addr|peer)="|\d+\.\d+\.\d+\.\d+', body))
for family, samples in re.findall(r"# TYPE (\S+) counter\n((?:[^#].*\n)*)", body):
    for line in samples.splitlines():
        if not line.startswith(family + "_total"):
            is_("counters end with _total", False, line)
status, head, body = split(talk(request()))
is_("the older text", status == 200 and "text/plain; version=0.0.4" in head and "# EOF" not in body, head)
status, head, none = split(talk(request(method="HEAD")))
is_("HEAD", status == 200 and none == "" and int(re.search(r"content-length: (\d+)", head)[1]) > 1000, head)
is_("404", split(talk(request("/nothing")))[0] == 404)
status, head, _ = split(talk(request(method="POST")))
is_("405", status == 405 and "allow: get, head" in head, head)
is_("a beginning page", split(talk(request("/")))[0] == 200)
is_("400", split(talk(b"nonsense\r\n\r\n"))[0] == 400)
is_("TLS", split(talk(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\n"))[0] == 400)
is_("431", split(talk(request(extra="A: " + "b" * 100000 + "\r\n")))[0] == 431)
is_("in small pieces", split(talk(b"", chunks=[bytes([b]) for b in request()], pause=0.002))[0] == 200)

# Slow ones: they hold some places, and lose them in time, however they trickle.
slow = [socket.create_connection(("127.0.0.1", PORT)) for _ in range(12)]
stop = time.monotonic() + 7

def trickle(s):
    try:
        while time.monotonic() < stop:
            s.sendall(b"G")
            time.sleep(0.3)
    except OSError:
        pass

threads = [threading.Thread(target=trickle, args=(s,)) for s in slow]
for t in threads:
    t.start()
t0 = time.monotonic()
status = split(talk(request()))[0]
is_("served beside slow ones", status == 200 and time.monotonic() - t0 < 1.5, time.monotonic() - t0)
results = []

def scrape():
    t = time.monotonic()
    results.append((split(talk(request()))[0], time.monotonic() - t))

crowd = [threading.Thread(target=scrape) for _ in range(40)]
for t in crowd:
    t.start()
for t in crowd:
    t.join()
codes = sorted(r[0] for r in results)
is_("forty at once are served or told to come again", set(codes) <= {200, 503} and codes.count(200) >= 4, codes)
is_("nobody waits long", max(r[1] for r in results) < 4, max(r[1] for r in results))
for t in threads:
    t.join()
late = 0
for s in slow:
    s.settimeout(3)
    try:
        data = s.recv(65536)
        late += data == b"" or b" 408 " in data
    except ConnectionError:
        late += 1
    except OSError:
        pass
is_("slow ones are given up", late == 12, late)
is_("served after them", split(talk(request()))[0] == 200)

# One that never reads: the answer stays with us, others are served.
deaf = socket.socket()
deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
deaf.connect(("127.0.0.1", PORT))
deaf.sendall(request())
is_("served beside a deaf one", split(talk(request()))[0] == 200)

def counters():
    values = {}
    for line in split(talk(request(extra=OPEN)))[2].splitlines():
        name = line.split("{")[0].split(" ")[0]
        if not line.startswith("#") and re.search(r"_(total|count|sum|bucket)$", name):
            key, _, value = line.rpartition(" ")
            values[key] = float(value)
    return values

# Connections come and go: no counter falls, and what they sent is counted.
sink = socket.socket()
sink.bind(("127.0.0.1", 0))
sink.listen(100)
last, fell, bytes_before = counters(), [], None
for turn in range(5):
    for _ in range(20):
        c = socket.create_connection(sink.getsockname())
        s = sink.accept()[0]
        c.sendall(b"x" * 1000)
        c.close()
        s.close()
    time.sleep(0.3)
    now = counters()
    fell += [(k, last[k], now.get(k)) for k in last if now.get(k, -1) < last[k]]
    last = now
is_("no counter falls when endpoints close", not fell, fell[:3])
sent = sum(v for k, v in last.items() if k.startswith("ipcstall_bytes_total") and 'process="python3"' in k and 'proto="tcp"' in k and "sent" in k)
is_("what the closed ones sent is counted", sent >= 100000, sent)
deaf.close()
PY
python3 "$WORK/clients.py" "$port" >"$WORK/clients.out" 2>&1
cat "$WORK/clients.out"
grep -q '^not ok' "$WORK/clients.out" && failures=$((failures + 1))
check 'the clients were all tried' "$(tail -3 "$WORK/clients.out")" grep -q 'what the closed ones sent' "$WORK/clients.out"

# --- what is asked of the ledgers has a bound ---
mkfifo "$WORK/hold"
"$CROWD" 2500 2500 600 0<>"$WORK/hold" >"$WORK/crowd" &
jobs_to_end+=($!)
until_true grep -q ready "$WORK/crowd"
cat >"$WORK/crowd.py" <<'PY'
import sys, urllib.request
text = urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/metrics").read().decode()
sys.exit(sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith("ipcstall_endpoints{") and "crowd" in line) < 5000)
PY
until_true python3 "$WORK/crowd.py" "$port"
took=$(python3 - "$port" <<'PY'
import sys, time, urllib.request
best = 9.0
for _ in range(5):
    t = time.monotonic()
    text = urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/metrics").read()
    best = min(best, time.monotonic() - t)
    time.sleep(0.4)
print(int(best * 1000), sum(float(l.split()[-1]) for l in text.decode().splitlines() if l.startswith("ipcstall_endpoints{") and "crowd" in l))
PY
)
check 'a scrape of 5000 endpoints' "${took% *} ms" [ "${took% *}" -lt 400 ]
check 'all of the crowd is counted' "$took" [ "$(printf '%.0f' "${took#* }")" -ge 5000 ]

# --- more endpoints end between two readings than are kept: what they did counts all the same ---
cat >"$WORK/short-lived.py" <<'PY'
import os, sys, time
while not os.path.exists(sys.argv[1]):
    time.sleep(0.02)
for _ in range(2000):
    r, w = os.pipe()
    os.write(w, b"x" * 100)
    os.read(r, 100)
    os.close(r)
    os.close(w)
time.sleep(600)
PY
python3 "$WORK/short-lived.py" "$WORK/traced" &
churn=$!
jobs_to_end+=($churn)
"$IPCSTALL" export --exact --once --interval 5s -p $churn --max-endpoints 64 >"$WORK/churned" 2>"$WORK/err" &
once=$!
until_true tracing $once
touch "$WORK/traced"
wait $once
kill $churn
says_true 'endpoints that are not kept are counted' "m = dict(line.rsplit(' ', 1) for line in open('$WORK/churned') if line[0] != '#')
n = lambda name, *labels: sum(float(v) for k, v in m.items() if k.startswith(name) and all(label in k for label in labels))" \
	"n('ipcstall_bytes_total', 'sent') == n('ipcstall_bytes_total', 'received') == 200000 and n('ipcstall_dropped_endpoints_total') > 1000 and
n('ipcstall_bytes_total', 'sent', 'other') == 100 * n('ipcstall_dropped_endpoints_total')" 'm'

# --- what promtool says of the text ---
if command -v promtool >/dev/null 2>&1; then
	python3 -c 'import sys, urllib.request; sys.stdout.buffer.write(urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/metrics").read())' "$port" >"$WORK/metrics"
	promtool check metrics <"$WORK/metrics" >"$WORK/promtool" 2>&1
	check 'promtool check metrics' "$(head -3 "$WORK/promtool")" [ $? -eq 0 ]
	check 'promtool has nothing to say' "$(head -3 "$WORK/promtool")" [ ! -s "$WORK/promtool" ]
else
	echo 'skip promtool: not installed; apt-get install prometheus'
fi
kill -TERM $exporter
wait $exporter
check 'TERM ends it well' "exit $?" [ $? -eq 0 ]
finish
