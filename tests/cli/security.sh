# SPDX-License-Identifier: GPL-2.0-only
# stage: core
# What a stranger may send, write into a file or leave in a directory, and what must not come of it. A test is named after the row of
# docs/SECURITY.md that it holds.
. "$(dirname "$0")/lib.sh"
trap 'kill $server 2>/dev/null; end_test' EXIT
server=
export PYTHON=${PYTHON:-/usr/bin/python3}

# The server in the background, its port in $port.
serve() { # ARGUMENTS...
	rm -f "$WORK/server" # the one before said its port too
	"$IPCSTALL" server --listen 127.0.0.1:0 "$@" >"$WORK/server" 2>"$WORK/server.err" </dev/null &
	server=$!
	until_true grep -qs ' port [0-9]' "$WORK/server"
	port=$(sed -n 's/.* port \([0-9]*\).*/\1/p' "$WORK/server" | head -1)
}
end_server() {
	kill -INT "$server" 2>/dev/null
	wait "$server" 2>/dev/null
	server=
}

# --- row1: memory that two processes share, and the counts in it ---
serve
says_true 'row1: a client that sends more messages than it announced is refused, and nothing is written past the room' "
import socket, struct, subprocess
tool, port = '$IPCSTALL', $port
def send(s, o):
    b = json.dumps(o).encode()
    s.sendall(struct.pack('>I', len(b)) + b)
def take(s):
    n, body = struct.unpack('>I', s.recv(4, socket.MSG_WAITALL))[0], b''
    while len(body) < n: body += s.recv(n - len(body))
    return json.loads(body)
l = socket.create_server(('127.0.0.1', 0))
p = subprocess.Popen([tool, '--mode', 'tcp', '--test', 'oneway', '--size', '1', '--duration', '60ms', '--connect', '127.0.0.1:%d' % l.getsockname()[1]],
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
c, _ = l.accept()
hello = take(c)
c.close(); l.close(); p.wait()
s = socket.create_connection(('127.0.0.1', port), timeout=20)
send(s, hello); take(s)
send(s, {'do': 'open', 'test': 'oneway', 'size': 1})
data = socket.create_connection(('127.0.0.1', take(s)['port']), timeout=20)
send(s, {'do': 'accept', 'port': data.getsockname()[1]}); take(s)
send(s, {'do': 'phase', 'record': True, 'min': 1, 'max': 1, 'ns': 1000, 'slice': 1000, 'budget': 10000000000}); take(s)
sent = 0
try:
    while sent < 1000000:
        sent += data.send(b'x' * min(10000, 1000000 - sent))
        data.setblocking(False)
        try:
            while data.recv(65536): pass
        except BlockingIOError: pass
        data.setblocking(True); data.settimeout(5)
except OSError: pass
s.settimeout(10)
last = take(s)" "last.get('ok') is False and 'more messages than' in last.get('why', '')" '(sent, last)'
check 'row1: and the server goes on' "$(tail -2 "$WORK/server")" "$IPCSTALL" --mode tcp --size 64 --duration 60ms -q --no-trace --connect "127.0.0.1:$port"
end_server

serve
check 'row6: a filter refuses the server what serving never needs' "$(grep Seccomp: /proc/$server/status)" grep -q '^Seccomp:.*2' /proc/$server/status
end_server

# --- row2, row3: what an input file may say ---
"$IPCSTALL" --mode rudp --size 64 --duration 20ms -q --no-trace --json "$WORK/good.json" 2>"$WORK/err" || fail 'a file to repeat' "$(tail -1 "$WORK/err")"
with_option() { # FILE NAME VALUE...: the good file with these values of options
	python3 -c "import json, sys
d = json.load(open('$WORK/good.json'))
d['options'].update(zip(sys.argv[2::2], map(json.loads, sys.argv[3::2])))
json.dump(d, open(sys.argv[1], 'w'))" "$@"
}
most=9223372036854775807
n=0 bad=
for pair in trials=-1 trials=2305843009213693951 trials=$most trials=0 trials=2.5 trials=true outstanding=-1 outstanding=$most window=$most window=-4096 \
	    window=0 sndbuf=$most rcvbuf=-1 pipe-size=$most duration=$most duration=-1 count=-1 count=$most bytes=$most warmup=$most warmup=-1 timeout=$most rto=$most \
	    rto=0 port=70000 port=-1 mss=$most delack-max=$most pacing=$most reader-pause=$most seed=-1 rate=-1 drop=1e300 drop=-1 'size=[9223372036854775807]' \
	    'size=[0]' 'size=[1.5]' 'size="4:1G:*9000000000000000000"' 'cpus="-1,-1"' 'mode=3'; do
	with_option "$WORK/bad.json" "${pair%%=*}" "${pair#*=}"
	timeout $HUNG "$IPCSTALL" -q --repeat "$WORK/bad.json" >"$WORK/out" 2>"$WORK/err" </dev/null
	rc=$?
	n=$((n + 1))
	case $pair in size=\"*) want=0 ;; *) want=9 ;; esac
	[ "$want" = 0 ] && [ $rc -ne 139 ] && [ $rc -ne 134 ] && [ $rc -ne 124 ] && continue
	{ [ $rc -eq 9 ] || [ $rc -eq 2 ]; } && [ "$(wc -l <"$WORK/err")" -eq 1 ] || bad="$bad
$pair: exit code $rc, $(tail -1 "$WORK/err")"
done
check "row2: $n options out of range in a file are refused" "$bad" [ -z "$bad" ]
bad=
for pair in trials=2305843009213693951 window=$most duration=-1; do
	with_option "$WORK/bad.json" "${pair%%=*}" "${pair#*=}"
	"$IPCSTALL" -q --repeat "$WORK/bad.json" >"$WORK/out" 2>"$WORK/err" </dev/null
	grep -q "option '${pair%%=*}' in the file.*out of range; give .* to " "$WORK/err" || bad="$bad $pair: $(tail -1 "$WORK/err")"
done
check 'row2: the refusal says which option, and its range' "$bad" [ -z "$bad" ]
check 'row2: an unaltered file is repeated' "$(cat "$WORK/err")" "$IPCSTALL" -q --repeat "$WORK/good.json"

bad=
for name in raw json csv timeline perfetto repeat; do
	echo keep >"$WORK/victim"
	with_option "$WORK/bad.json" "$name" "\"$WORK/victim\"" trace true
	timeout $HUNG "$IPCSTALL" -q --repeat "$WORK/bad.json" >"$WORK/out" 2>"$WORK/err" </dev/null
	rc=$?
	[ "$(cat "$WORK/victim")" = keep ] && [ $rc -eq 9 ] && grep -q "option '$name' in the file: " "$WORK/err" || bad="$bad
$name: exit code $rc, $(tail -1 "$WORK/err"); $(head -c 60 "$WORK/victim")"
done
check 'row3: no output is taken from a file to repeat' "$bad" [ -z "$bad" ]

plan() { # FILE JSON-BLOCK
	printf '# A title\n\n## Hypothesis\n\nh\n\n## Variables\n\nv\n\n## Apparatus\n\na\n\n```json\n%s\n```\n' "$2" >"$WORK/$1.md"
}
experiment() { # WORDS: a block whose sweep has these words too
	printf '{"schema":"ipcstall.experiment","version":1,"seed":"0","runs":[{"name":"r","command":"sweep -m pipe -t latency --no-trace -V size=4,64 -d 10ms --placement same %s","full":"--repeats 2","quick":"--repeats 2"}],"claims":[{"says":"s","kind":"trend","metric":"latency","expect":"rises"}],"figures":[]}' "$1"
}
bad=
for words in "--out $WORK/victim" "-o $WORK/victim" "--out=$WORK/victim" "-qo$WORK/victim" "--json $WORK/victim" "--raw=$WORK/victim" "--csv $WORK/victim"; do
	echo keep >"$WORK/victim"
	plan outputs "$(experiment "$words")"
	PYTHON=/bin/true timeout $HUNG "$IPCSTALL" experiment "$WORK/outputs.md" --quick -o "$WORK/results" >"$WORK/out" 2>"$WORK/err" </dev/null
	rc=$?
	[ "$(cat "$WORK/victim")" = keep ] && [ $rc -eq 9 ] && [ ! -e "$WORK/results" ] || bad="$bad
$words: exit code $rc, $(tail -1 "$WORK/err"); $(head -c 60 "$WORK/victim")"
	rm -rf "$WORK/results"
done
check 'row3: nor from an experiment' "$bad" [ -z "$bad" ]
bad=
benches() { # WORDS: a block whose benchmark has these words too
	local head='{"schema":"ipcstall.experiment","version":1,"seed":"0","runs":[{"name":"r",'
	printf '%s"command":"bench -m pipe -d 10ms %s",' "$head" "$1"
	printf '"full":"--size 64","quick":"--size 64"}],"claims":[],"figures":[]}'
}
named=$WORK/named
for words in "--csv $named" "--csv=$named" "--raw $named" "--perfetto $named" "--json $named" \
	"-qj $named" "--key $named --connect 127.0.0.1" "--connect 127.0.0.1"; do
	plan benches "$(benches "$words")"
	PYTHON=/bin/true timeout $HUNG "$IPCSTALL" experiment "$WORK/benches.md" --quick \
		-o "$WORK/benched" >"$WORK/out" 2>"$WORK/err" </dev/null
	[ $? -eq 9 ] && grep -q 'may name no files and no hosts' "$WORK/err" ||
		bad="$bad '$words': $(tail -n 1 "$WORK/err")"
	[ ! -e "$named" ] && [ ! -e "$WORK/benched" ] || bad="$bad '$words' wrote a file"
done
check 'row3: nor from a benchmark of an experiment' "$bad" [ -z "$bad" ]

# --- row3: where another user's link leads ---
if [ "$(id -u)" -eq 0 ]; then
	mkdir -m 755 "$WORK/theirs" && chown 65534 "$WORK/theirs"
	quick=(--mode pipe --size 64 --test latency --count 100 -q --no-trace)
	"$IPCSTALL" "${quick[@]}" --json "$WORK/point.json"
	led_astray() { # NAME ARGUMENTS...: the last is an option that names an output
		local name=$1 there rc bad=
		shift
		for there in yes no; do
			rm -f "$WORK/victim" "$WORK/theirs/out.svg"
			[ $there = no ] || echo keep >"$WORK/victim"
			ln -s ../victim "$WORK/theirs/out.svg" && chown -h 65534 "$WORK/theirs/out.svg"
			timeout $HUNG "$IPCSTALL" "$@" "$WORK/theirs/out.svg" >"$WORK/out" 2>"$WORK/err" </dev/null
			rc=$?
			[ $rc -eq 3 ] && grep -q "another user's link" "$WORK/err" && [ "$(cat "$WORK/victim" 2>/dev/null)" = "$([ $there = no ] || echo keep)" ] ||
				bad="$bad target there: $there: exit code $rc, $(tail -1 "$WORK/err"), $(head -c 60 "$WORK/victim" 2>&1);"
		done
		check "row3: $name writes nothing where another user's link leads" "$bad" [ -z "$bad" ]
	}
	for out in json csv raw; do led_astray "--$out" "${quick[@]}" --$out; done
	led_astray sweep sweep -m pipe -t latency --no-trace -V size=4 --count 100 -q -o
	led_astray report report "$WORK/point.json" -o
	led_astray figure figure cdf "$WORK/point.json" -o
	if "$IPCSTALL" check >/dev/null 2>&1; then
		led_astray record record -q -o "$WORK/theirs/out.svg" -- true
		led_astray --ndjson run -q --ndjson "$WORK/theirs/out.svg" -- true
		led_astray 'run --html' run -q --html "$WORK/theirs/out.svg" -- true
		led_astray 'top --json' top -n 1 -i 0.1 --iterations 1 --json
	fi
	own_link() { # OWNER OPTION FILE ENVIRONMENT...: a link of OWNER to a file that is there or is not yet
		local owner=$1 there said
		shift
		for there in yes no; do
			rm -f "$WORK/victim" "$WORK/theirs/out"
			[ $there = no ] || echo old >"$WORK/victim"
			ln -s "$WORK/theirs/../victim" "$WORK/theirs/out" && chown -h "$owner" "$WORK/theirs/out"
			said=$(env "$@" "$IPCSTALL" "${quick[@]}" --csv "$WORK/theirs/out" 2>&1) && [ -L "$WORK/theirs/out" ] && [ "$(wc -l <"$WORK/victim")" -eq 2 ] ||
				{ echo "target there: $there: $said"; return 1; }
		done
	}
	check "row3: a link of one's own is followed" "$(own_link 0 2>&1)" own_link 0
	nobody=$(id -un 65534) group=$(id -g 65534)
	check 'row3: so is one of whoever called sudo' "$(own_link 65534 SUDO_USER="$nobody" SUDO_UID=65534 SUDO_GID="$group" 2>&1)" \
		own_link 65534 SUDO_USER="$nobody" SUDO_UID=65534 SUDO_GID="$group"
	rm -f "$WORK/theirs/out" && ln -s /dev/stdout "$WORK/theirs/out"
	check "row3: and one to a descriptor" "$(ls -la "$WORK/theirs")" eval '[ "$("$IPCSTALL" "${quick[@]}" --csv "$WORK/theirs/out" | wc -l)" -eq 2 ]'
else
	echo "skip row3 others' links: not root"
fi

# --- row4: the interpreter, started in a stranger's directory ---
mkdir -p "$WORK/stranger/analysis"
for f in analysis/__init__.py analysis/__main__.py numpy.py json.py sitecustomize.py usercustomize.py matplotlib.py runpy.py evil.py; do
	echo "open('$WORK/ran', 'a').write('$f\n')" >"$WORK/stranger/$f"
done
printf 'backend: module://evil\nthis.is.no.key: 1\n' >"$WORK/stranger/matplotlibrc"
plan good "$(experiment '')"
own() { (cd "$WORK/stranger" && rm -f "$WORK/ran" && "$@" timeout $HUNG "$IPCSTALL" experiment "$WORK/good.md" --quick -o "$WORK/here" >"$WORK/out" 2>"$WORK/err" </dev/null); }
own env
check "row4: nothing of the current directory is run" "$(cat "$WORK/ran" 2>/dev/null)" [ ! -e "$WORK/ran" ]
own env PYTHONPATH="$WORK/stranger" PYTHONSTARTUP="$WORK/stranger/evil.py" PYTHONHOME=
check "row4: nothing that PYTHONPATH names is run" "$(cat "$WORK/ran" 2>/dev/null)" [ ! -e "$WORK/ran" ]
if "$PYTHON" -c 'import matplotlib, scipy, jinja2' 2>/dev/null; then
	check "row4: and the answer is there" "$(tail -1 "$WORK/err")" [ -s "$WORK/here/answer.json" ]
	plan drawn "$(experiment '' | sed 's|"figures":\[\]|"figures":[{"kind":"curve","run":"r","y":"latency"}]|')"
	(cd "$WORK/stranger" && timeout $HUNG "$IPCSTALL" experiment "$WORK/drawn.md" --quick -o "$WORK/drawn" >"$WORK/out" 2>"$WORK/err" </dev/null)
	check "row4: nor is a setting taken from there for the figures" "$(cat "$WORK/err")" eval '[ -n "$(ls "$WORK"/drawn/figure*)" ] && ! grep -q matplotlibrc "$WORK/err"'
fi
# A copy of the program in a directory where anybody may write takes no analysis from there.
mkdir -m 1777 "$WORK/public" && mkdir "$WORK/public/bin" && cp -L "$IPCSTALL" "$WORK/public/bin/ipcstall" && cp -r "$WORK/stranger/analysis" "$WORK/public/analysis"
if [ "$(id -u)" -eq 0 ]; then
	chown -R 65534:65534 "$WORK/public/analysis"
	(cd / && rm -f "$WORK/ran" && timeout $HUNG "$WORK/public/bin/ipcstall" experiment "$WORK/good.md" --quick -o "$WORK/public/results" >"$WORK/out" 2>"$WORK/err" </dev/null)
	check "row4: nor what a stranger laid beside the program" "$(cat "$WORK/ran" 2>/dev/null)" [ ! -e "$WORK/ran" ]
else
	echo 'skip row4 beside the program: not root'
fi

# --- row8: what others wrote, on a terminal ---
unfit() { LC_ALL=C grep -cP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]' "$@"; } # FILE...: lines that hold it
evil=$'\x1b]0;owned\a\xc2\x9b2J\xe2\x80\xaegpj\xff'
plan evil "$(experiment '--pattern=\\u001b[2J\\u009b\\u202e')"
sed -i "1s/.*/# A title $evil/" "$WORK/evil.md"
timeout $HUNG "$IPCSTALL" experiment "$WORK/evil.md" --quick -o "$WORK/evil" >"$WORK/out" 2>"$WORK/err" </dev/null
check "row8: an experiment's title and command are shown clean" "$(cat -v "$WORK/err")" eval 'grep -q "A title" "$WORK/err" && [ "$(cat "$WORK/out" "$WORK/err" | unfit)" = 0 ]'
timeout $HUNG "$IPCSTALL" sweep -m tcp --size 64 -t throughput -V nodelay=0,1 -d 20ms --no-trace >"$WORK/s.ndjson" 2>"$WORK/err" </dev/null
python3 - "$WORK/s.ndjson" "$WORK/evil.ndjson" <<'PY'
import json, sys
lines = [json.loads(l) for l in open(sys.argv[1])]
evil = '\x1b]0;owned\a\x9b2J\u202egpj'
for l in lines:
    if 'vars' in l and 'test' in l:
        l['vars'][evil] = evil
open(sys.argv[2], 'w').writelines(json.dumps(l, ensure_ascii=i % 2 > 0) + '\n' for i, l in enumerate(lines))
PY
timeout $HUNG "$IPCSTALL" diagnose --from "$WORK/evil.ndjson" >"$WORK/out" 2>"$WORK/err" </dev/null
check "row8: the labels of a sweep are shown clean" "$(cat -v "$WORK/out" "$WORK/err")" eval 'grep -q "^Series 1" "$WORK/out" && [ "$(cat "$WORK/out" "$WORK/err" | unfit)" = 0 ]'

# --- row6: the server ---
refuses 'row6: for other hosts it asks for --key or --insecure' 2 'give --key FILE, or --insecure' server --listen 0.0.0.0:0
refuses 'row6: also over IPv6' 2 'give --key FILE, or --insecure' server --listen '[::]:0'
refuses 'row6: a user there is none of' 2 'no such user' server --listen 127.0.0.1:0 --user nobody-has-this-name
head -c 32 /dev/urandom | base64 >"$WORK/key"
cp "$WORK/key" "$WORK/open"
chmod 600 "$WORK/key"
chmod 644 "$WORK/open"
head -c 32 /dev/urandom | base64 >"$WORK/other"
echo short >"$WORK/short"
chmod 600 "$WORK/other" "$WORK/short"
refuses 'row6: a secret that others may read' 3 'others may read' server --key "$WORK/open"
refuses 'row6: a secret that is too short' 9 'a secret has 16' server --key "$WORK/short"
refuses 'row6: no such secret' 9 'No such file' server --key "$WORK/none"
refuses 'row6: a secret for no server' 2 '--key without --connect' --mode tcp --key "$WORK/key"
short=(--mode tcp --size 64 --duration 60ms -q --no-trace)

serve --key "$WORK/key"
check 'row6: with the secret a client is served' "$(tail -1 "$WORK/server")" "$IPCSTALL" "${short[@]}" --connect "127.0.0.1:$port" --key "$WORK/key"
refuses 'row6: without it, it is refused' 3 'requires a secret; give --key' "${short[@]}" --connect "127.0.0.1:$port"
refuses 'row6: with another one too' 3 "client's secret differs" "${short[@]}" --connect "127.0.0.1:$port" --key "$WORK/other"
if [ "$(id -u)" -eq 0 ]; then
	check 'row6: started by root it runs as nobody, without capabilities' "$(grep -E 'Uid|Gid|Groups|Cap' "/proc/$server/status")" \
		eval 'grep -qP "^Uid:\t65534\t65534\t65534\t65534" /proc/$server/status && grep -q "^CapPrm:.0*$" /proc/$server/status && grep -qE "^Groups:\s*$" /proc/$server/status && grep -q "NoNewPrivs:.1" /proc/$server/status'
else
	echo 'skip row6 privileges: not root'
fi
end_server
serve
refuses 'row6: a client that has the secret believes no server without it' 3 'started without a secret' "${short[@]}" --connect "127.0.0.1:$port" --key "$WORK/key"
refuses 'row6: a port below 1024' 2 'ports from 1024 on' "${short[@]}" --port 80 --connect "127.0.0.1:$port"
refuses 'row6: a congestion control that not every user may choose' 3 'not one that any user' "${short[@]}" --cc nosuchcc --connect "127.0.0.1:$port"
refuses 'row6: more memory than a client may have' 5 'a client may have 256' --mode tcp --size 1G --duration 60ms -q --no-trace --connect "127.0.0.1:$port"
end_server
serve --user root
"$IPCSTALL" "${short[@]}" --rcvbuf 64M --json "$WORK/buffer.json" --connect "127.0.0.1:$port" 2>"$WORK/err"
says_true "row6: a client's buffers at the server are those that any user may have, also where it stayed root" \
	"got = json.load(open('$WORK/buffer.json'))['points'][0]['socket']['server']['rcvbuf']" "0 < got <= 2 * $(cat /proc/sys/net/core/rmem_max)" got
end_server
serve
says_true 'row6: proofs, places and data of strangers' "
import socket, struct, subprocess
tool, port, key, serving = '$IPCSTALL', $port, '$WORK/key', '$server'
def send(s, o):
    b = json.dumps(o).encode()
    s.sendall(struct.pack('>I', len(b)) + b)
def take(s):
    head = b''
    while len(head) < 4:
        part = s.recv(4 - len(head))
        if not part: return None
        head += part
    n, body = struct.unpack('>I', head)[0], b''
    while len(body) < n: body += s.recv(n - len(body))
    return json.loads(body)
def hello_of(*args):
    l = socket.create_server(('127.0.0.1', 0))
    p = subprocess.Popen([tool, '--mode', 'tcp', '--test', 'latency', '--size', '1', '--duration', '60ms', '--connect', '127.0.0.1:%d' % l.getsockname()[1], *args],
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    c, _ = l.accept()
    h = take(c)
    c.close(); l.close(); p.wait()
    return h
def connect(a='127.0.0.1'):
    s = socket.socket(); s.settimeout(20); s.bind((a, 0)); s.connect(('127.0.0.1', port))
    return s
hello = hello_of()
bad = []
# silent after it was let in: the desk is free again within seconds
s = connect(); send(s, hello); take(s)
t0 = time.monotonic(); a = take(s); took = time.monotonic() - t0
if not a or a.get('ok') is not False or took > 9: bad.append(('silent', took, a))
# a hundred silent ones, and an honest client beside them
crowd = []
for _ in range(100):
    try: crowd.append(connect())
    except OSError: break
t0 = time.monotonic(); rc = None
while rc != 0 and time.monotonic() - t0 < 15:
    rc = subprocess.run([tool, '--mode', 'tcp', '--size', '64', '--duration', '60ms', '-q', '--no-trace', '--connect', '127.0.0.1:%d' % port], capture_output=True, text=True).returncode
took = time.monotonic() - t0
if rc or took > 4: bad.append(('crowd', rc, took))
said = 0
for c in crowd:
    try:
        a = take(c)
        said += bool(a) and a.get('ok') is False
    except OSError: pass
    c.close()
if said < 30: bad.append(('told', said))
# data from another address than the client's is not taken
s = connect(); send(s, hello); take(s)
send(s, {'do': 'open', 'test': 'latency', 'size': 1})
where = take(s)['port']
d = socket.socket(); d.bind(('127.0.0.2', 0)); d.settimeout(10); d.connect(('127.0.0.1', where))
mine = socket.create_connection(('127.0.0.1', where), timeout=10)
send(s, {'do': 'accept', 'port': mine.getsockname()[1]})
a = take(s)
try: ended = d.recv(1) == b''
except OSError as e: ended = isinstance(e, ConnectionResetError)
if not a.get('ok') or not ended: bad.append(('data', a, ended))
s.close(); mine.close(); d.close()
" 'not bad' bad
end_server
says_true 'row6: a proof serves no other introduction, nor twice' "
import hmac, hashlib, socket, struct, subprocess
tool, key = '$IPCSTALL', open('$WORK/key', 'rb').read().rstrip(b'\n')
server = subprocess.Popen([tool, 'server', '--listen', '127.0.0.1:0', '--key', '$WORK/key'], stdout=subprocess.PIPE, text=True)
port = int(server.stdout.readline().split(' port ')[1].split(';')[0])
def send(s, o):
    b = json.dumps(o).encode()
    s.sendall(struct.pack('>I', len(b)) + b)
def take(s):
    head = s.recv(4, socket.MSG_WAITALL)
    return json.loads(s.recv(struct.unpack('>I', head)[0], socket.MSG_WAITALL)) if len(head) == 4 else None
l = socket.create_server(('127.0.0.1', 0))
p = subprocess.Popen([tool, '--mode', 'tcp', '--size', '1', '--duration', '60ms', '--key', '$WORK/key', '--connect', '127.0.0.1:%d' % l.getsockname()[1]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
c, _ = l.accept()
hello = take(c)
c.close(); l.close(); p.wait()
def proof(who, h, challenge):
    text = json.dumps(h, separators=(',', ':'), sort_keys=True, ensure_ascii=False)
    return hmac.new(key, who + b'\0' + challenge.encode() + b'\0' + text.encode(), hashlib.sha256).hexdigest()
def visit(h, make):
    s = socket.create_connection(('127.0.0.1', port), timeout=10)
    send(s, h); asked = take(s)
    send(s, {'proof': make(asked['challenge'])}); a = take(s)
    s.close()
    return asked['challenge'], a
first, good = visit(hello, lambda c: proof(b'client', hello, c))
tests = {'good': good.get('ok') is True and good.get('proof') == proof(b'server', hello, first)}
until = time.monotonic() + 10
other = json.loads(json.dumps(hello)); other['options']['seed'] = 77
for name, h, make in (('of another introduction', other, lambda c: proof(b'client', hello, c)), ('repeated', hello, lambda c: proof(b'client', hello, first)),
                      ('the server\'s own', hello, lambda c: proof(b'server', hello, c)), ('none', hello, lambda c: ''), ('short', hello, lambda c: 'ab'), ('zeros', hello, lambda c: '0' * 64)):
    a = visit(h, make)[1]
    tests[name] = a.get('ok') is False and a.get('code') == 3
server.terminate(); server.wait()" 'all(tests.values())' tests

# --- row9: files ---
mkdir "$WORK/parts"
touch "$WORK/parts/.ipcstall-0123456789abcdef.part" "$WORK/parts/.ipcstall-other.part"
timeout 30 "$IPCSTALL" -m pipe --size 64 -t throughput -d 3s -q --no-trace --json "$WORK/parts/a.json" >/dev/null 2>&1 &
bench=$!
sleep 0.3
kill -9 $bench
wait $bench 2>/dev/null
check 'row9: a killed program leaves no part of a result' "$(ls -A "$WORK/parts")" [ "$(ls -A "$WORK/parts" | grep -c ipcstall)" -le 2 ]
"$IPCSTALL" -m pipe --size 64 -t throughput -d 20ms -q --no-trace --json "$WORK/parts/b.json" 2>"$WORK/err"
check 'row9: a result is whole, and beside it is no part of it' "$(ls -A "$WORK/parts")" eval 'python3 -m json.tool "$WORK/parts/b.json" >/dev/null && [ "$(ls -A "$WORK/parts" | grep -c ipcstall)" -le 2 ]'
if "$IPCSTALL" check >/dev/null 2>&1; then
	# a program whose name begins like a formula, and one pair of its ends
	mkfifo "$WORK/go"
	record() { # FILE OPTIONS...: a recording of it under way
		rm -f "$1"
		"$IPCSTALL" record -q -o "$1" --interval 200ms "${@:2}" -- "$PYTHON" -c "
import socket, time, sys
open('/proc/self/comm', 'w').write('=1+cmd')
a, b = socket.socketpair()
while True: a.send(b'x'); b.recv(1); time.sleep(0.01)" >"$WORK/out" 2>"$WORK/err" &
		recorder=$!
		jobs_to_end+=($recorder)
		until_true test -s "$1"
	}
	ended_with() { # CODE PATTERN: the recorder, and what it says
		local rc
		kill -INT $recorder 2>/dev/null
		wait $recorder
		rc=$?
		[ $rc -eq "$1" ] && grep -q "$2" "$WORK/err"
	}
	record "$WORK/parts/c.rec"
	check 'row9: a recording is for its owner alone' "$(stat -c %a "$WORK/parts/c.rec")" [ "$(stat -c %a "$WORK/parts/c.rec")" = 600 ]
	check 'row9: what a killed recorder left is taken away' "$(ls -A "$WORK/parts")" [ ! -e "$WORK/parts/.ipcstall-0123456789abcdef.part" ]
	check 'row9: but nothing else' "$(ls -A "$WORK/parts")" [ -e "$WORK/parts/.ipcstall-other.part" ]
	rm "$WORK/parts/c.rec"
	check 'row9: a recording that was deleted ends with an error' "$(cat "$WORK/err")" ended_with 6 'the file was deleted'
	record "$WORK/parts/d.rec"
	: >"$WORK/parts/d.rec"
	check 'row9: one that was cut short too' "$(cat "$WORK/err")" ended_with 6 'the file was cut short'
	record "$WORK/parts/e.rec" -d 3s
	wait $recorder
	"$IPCSTALL" replay "$WORK/parts/e.rec" -q --csv "$WORK/e.csv" 2>"$WORK/err"
	check 'row9: no cell of a table begins like a formula' "$(cut -c1-200 "$WORK/e.csv")" eval "grep -q \"\\\"'=1+cmd\\\"\" \"\$WORK/e.csv\" && ! grep -qE '(^|,)\"?[=+@]' \"\$WORK/e.csv\""
else
	echo 'skip row9 recordings: the ledger cannot be kept here'
fi
finish
