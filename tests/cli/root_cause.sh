# SPDX-License-Identifier: GPL-2.0-only
# Three processes in a row, A > B > C, over pipes and over TCP: A waits for B, B for C, and the verdict names C.
. "$(dirname "$0")/lib.sh"
needs_ledger
cd "$WORK" || exit 70

cat >row.py <<'PY'
"""row.py pipe|tcp: A writes at once, B passes on, C reads a little at a time."""
import os, socket, sys, time

SIZE, PIECE, NAP, TURNS = 1 << 20, 1 << 14, 0.004, 64


def pair(kind):
    if kind == "pipe":
        r, w = os.pipe()
        return r, w
    server = socket.create_server(("127.0.0.1", 0))
    for option in socket.SO_RCVBUF, socket.SO_SNDBUF:
        server.setsockopt(socket.SOL_SOCKET, option, 16384)
    a = socket.socket()
    a.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")  # which does not pace
    a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16384)
    a.connect(server.getsockname())
    b = server.accept()[0]
    return b.detach(), a.detach()


def keep(only):
    for fd in {ab[0], ab[1], bc[0], bc[1]} - set(only):
        os.close(fd)


def name(word):
    with open("/proc/self/comm", "w") as f:
        f.write(word)


def write(fd, data):
    while data:
        data = data[os.write(fd, data):]


ab, bc = pair(sys.argv[1]), pair(sys.argv[1])
if os.fork() == 0:
    name("rowA")
    keep([ab[1]])
    write(ab[1], bytes(SIZE))
    os._exit(0)
if os.fork() == 0:
    name("rowB")
    keep([ab[0], bc[1]])
    while data := os.read(ab[0], PIECE):
        write(bc[1], data)
    os._exit(0)
name("rowC")
keep([bc[0]])
while os.read(bc[0], PIECE):
    time.sleep(NAP)
os.wait(); os.wait()
PY
for kind in pipe tcp; do
	"$IPCSTALL" run -n 1 --json "$kind.json" --folded "$kind.folded" -- python3 row.py $kind 2>"$kind.err"
	says_true "$kind: the chain and its root" "l = json.load(open('$WORK/$kind.json'))['ledger']; f = l['findings']
who = lambda x: l['endpoints'][x['endpoint']]['beside']['tx']['comm']
a = next((x for x in f if who(x) == 'rowA'), None)" \
		"a and a['blamed'] == 'peer application not reading' and a['root'] is not None and who(f[a['root']]) == 'rowB' and 'rowC' in f[a['root']]['text'] and f[a['root']]['root'] is None" \
		"[(who(x), x['text'], x['root']) for x in f]"
	check "$kind: folded stacks go on to the root" "$(head -c 400 "$kind.folded")" \
		grep -qE '^rowA\[.*;by:rowB\[[0-9]*\];not_reading;.*stall:[a-z]*;by:rowC\[[0-9]*\];not_reading' "$kind.folded"
done
check 'the card says it first' "$(head -3 pipe.err)" grep -qE '^STALLED [0-9.]+ %  row(A\[[0-9]+\] waits for rowC\[[0-9]+\], through rowB|B\[[0-9]+\] waits for rowC)\[[0-9]+\]' pipe.err

cat >stuck.py <<'PY'
"""stuck.py subprocess|pair: two that wait for each other, until after a second somebody ends them."""
import os, signal, socket, subprocess, sys, time


def errors_first():  # its output is read to the end, and nobody reads its errors meanwhile
    child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stderr.write('e' * 1000000); print('done')"], stdout=-1, stderr=-1)
    signal.signal(signal.SIGALRM, lambda *_: (child.kill(), os._exit(0)))
    signal.alarm(1)
    child.stdout.read()


def both_write():
    ends = socket.socketpair()
    children = []
    for mine in 0, 1:
        children.append(os.fork())
        if not children[-1]:
            ends[1 - mine].close()
            ends[mine].sendall(bytes(1 << 22))
            ends[mine].recv(1)
            os._exit(0)
    for end in ends:
        end.close()
    time.sleep(1)
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.wait()


{"subprocess": errors_first, "pair": both_write}[sys.argv[1]]()
PY
for kind in subprocess pair; do
	"$IPCSTALL" run -n 1 --json "$kind.json" -- python3 stuck.py $kind 2>"$kind.err"
	says_true "$kind: each waits for the other" "l = json.load(open('$WORK/$kind.json'))['ledger']; f = l['findings'][0]; turn = l['endpoints'][f['ring']] if f['ring'] is not None else None" \
		"turn and f['surety'] == 'both ends seen' and f['blamed_pid'] and f['blamed_pid'] != f['pid'] and f['ring_for'] == ('write' if '$kind' == 'subprocess' else 'read') and turn is not l['endpoints'][f['endpoint']]" \
		"(f, open('$kind.err').read()[-600:])"
	check "$kind: the card says so first" "$(head -3 "$kind.err")" grep -qE '^STALLED [0-9]+ %  .* waited for each other' "$kind.err"
done
finish
