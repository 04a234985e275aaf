# SPDX-License-Identifier: GPL-2.0-only
# What strangers send to a server: garbage, giant and cut lengths, nonsense in good form, drops of bytes, and none of it may
# hold up or bring down the server. And what strangers answer to a client.
. "$(dirname "$0")/lib.sh"
CLOCK=no # read by fail()
trap 'kill $server 2>/dev/null; rm -rf "$WORK"' EXIT

"$IPCSTALL" server --listen 127.0.0.1:0 >"$WORK/server" 2>"$WORK/server.err" </dev/null &
server=$!
until_true grep -q ' port [0-9]*;' "$WORK/server"
port=$(sed -n 's/.* port \([0-9]*\);.*/\1/p' "$WORK/server")
run=(--mode tcp --size 64 --duration 60ms --connect "127.0.0.1:$port")
works 'before' "${run[@]}"

# The lines "ok ..." and "not ok ..." are its verdicts.
python3 - "$port" "$IPCSTALL" <<'PY' || failures=1
import json, os, random, socket, struct, subprocess, sys, threading, time
port, tool = int(sys.argv[1]), sys.argv[2]
rng = random.Random(20)
bad = 0

def verdict(name, problem):
    global bad
    bad += bool(problem)
    print(f'not ok {name}: {problem}' if problem else f'ok {name}', flush=True)

def frame(o):
    b = o if isinstance(o, bytes) else json.dumps(o).encode()
    return struct.pack('>I', len(b)) + b

def recv_frame(s):
    head = b''
    while len(head) < 4:
        part = s.recv(4 - len(head))
        if not part:
            return None
        head += part
    n, body = struct.unpack('>I', head)[0], b''
    while len(body) < n:
        part = s.recv(n - len(body))
        if not part:
            return None
        body += part
    return json.loads(body)

def talk(*parts, wait=6, half=False):
    """Send, and take what is answered until the server closes: the last frame, or None. Raises when it never closes."""
    s = socket.create_connection(('127.0.0.1', port), timeout=wait)
    last = None
    try:
        for p in parts:
            s.sendall(p)
        if half:
            s.shutdown(socket.SHUT_WR)
        while True:
            f = recv_frame(s)
            if f is None:
                break
            last = f
    except TimeoutError: # the one thing that must not be
        raise
    except OSError: # reset, or closed before we did
        pass
    finally:
        s.close()
    return last

# A good introduction: taken from the tool itself by a listener of ours.
def capture():
    l = socket.create_server(('127.0.0.1', 0))
    p = subprocess.Popen([tool, '--mode', 'tcp', '--size', '64', '--duration', '60ms', '--connect', '127.0.0.1:%d' % l.getsockname()[1]],
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    c, _ = l.accept()
    hello = recv_frame(c)
    c.close(); l.close(); p.wait()
    return hello
hello = capture()

# 1. Before an introduction: random bytes, lengths, cut frames, odd JSON. Each connection must end by itself.
odd = [b'', b'\0', b'\0\0\0\0', b'\xff\xff\xff\xff', b'\x7f\xff\xff\xff{}', b'GET / HTTP/1.1\r\n\r\n', b'SSH-2.0-x\r\n', frame(b'{'), frame(b'[]'),
       frame(b'null'), frame(b'{}'), frame(b'"x"'), frame(b'[' * 60000), frame(b'{"a":' * 9000), frame(b'{"hello":1,"hello":2}'), frame(b'\0' * 100),
       frame(b'\xff\xfe{"hello":"ipcstall"}'), frame({'hello': 'ipcstall'}), frame({'hello': 'ipcstall', 'protocol': 'x'}), struct.pack('>I', 65537) + b'{' * 65537]
odd += [os.urandom(rng.randrange(1, 300)) for _ in range(150)]
good = frame(hello)
odd += [good[:rng.randrange(len(good))] for _ in range(60)]
for _ in range(150):  # the introduction with some bytes turned
    b = bytearray(good)
    for _ in range(rng.randrange(1, 6)):
        b[rng.randrange(len(b))] = rng.randrange(256)
    odd.append(bytes(b))
stuck = 0
for data in odd:
    try:
        talk(data, half=True)
    except Exception as e:
        stuck += 1
        print('#', repr(data[:60]), repr(e))
verdict(f'{len(odd)} malformed introductions', f'{stuck} were not ended' if stuck else '')

# 2. Refusals say why, and with which exit code.
def refusal(name, change, code, word):
    h = json.loads(json.dumps(hello)); change(h)
    a = talk(frame(h), half=True)
    problem = '' if a and a.get('ok') is False and a.get('code') == code and word in a.get('why', '') else f'answer {a}'
    verdict(name, problem)
def option(name, value):
    return lambda h: h['options'].__setitem__(name, value)
refusal('another protocol', lambda h: h.__setitem__('protocol', 4), 8, 'protocol')
refusal('no protocol', lambda h: h.pop('protocol'), 8, 'protocol')
refusal('another tool', lambda h: h.__setitem__('hello', 'iperf'), 8, 'not a greeting')
refusal('an option unknown here', option('frobnicate', 1), 8, 'frobnicate')
refusal('an option unknown there', lambda h: h['options'].pop('nodelay'), 8, 'nodelay')
refusal('no options', lambda h: h.pop('options'), 8, 'options')
refusal('options of a wrong kind', lambda h: h.__setitem__('options', [1]), 8, 'options')
refusal('a window beyond the limit', option('window', 1 << 40), 8, 'window')
refusal('a negative duration', option('duration', -5), 8, 'duration')
refusal('a size beyond the limit', option('size', [1 << 50]), 8, '')
refusal('a mode unknown here', option('mode', 'carrier-pigeon'), 8, 'carrier-pigeon')
refusal('a mode with no other host', option('mode', 'pipe'), 2, '')
refusal('a CPU that is not here', lambda h: h['options'].update(cpus='0,4000'), 5, 'CPU')
refusal('a link of ours', option('link', 'veth'), 2, 'client')

# 3. After a good introduction: requests out of turn, wrong, absurd. The session ends, and is not the server.
udp = json.loads(json.dumps(hello))
udp['options'].update(mode='udp', timeout=300000000)
patient, answered = frame(udp), [0]
def after(*requests):
    s = socket.create_connection(('127.0.0.1', port), timeout=8)
    s.sendall(patient)
    a = recv_frame(s)
    last = a
    try:
        if a and a.get('ok'):
            for r in requests:
                s.sendall(r if isinstance(r, bytes) else frame(r))
                if r is requests[-1] or isinstance(r, bytes):
                    continue
                f = recv_frame(s)
                answered[0] += f is not None
                if f is None or not f.get('ok'):
                    break
            s.shutdown(socket.SHUT_WR)
            while True:
                f = recv_frame(s)
                if f is None:
                    break
                last = f
    except TimeoutError:
        raise
    except OSError:
        pass
    finally:
        s.close()
    return last
opening = {'do': 'open', 'test': 'latency', 'size': 64}
absurd = [[{'do': v}] for v in ('accept', 'phase', 'facts', 'close', 'done', 'dance', '', 'open')]
absurd += [[{}], [b'\xff' * 9], [frame(b'{}')[:5]], [{'do': 5}], [{'do': None}], [{'do': 'open', 'test': 'latency', 'size': s} for s in (0,)],
           [{'do': 'open', 'test': 'latency', 'size': -1}], [{'do': 'open', 'test': 'latency', 'size': 1 << 62}], [{'do': 'open', 'test': 'x', 'size': 4}],
           [{'do': 'open', 'size': 4}], [opening, opening], [opening, {'do': 'accept', 'port': -1}], [opening, {'do': 'accept', 'port': 70000}],
           [opening, {'do': 'accept', 'port': 'x'}], [opening, {'do': 'phase', 'min': -1, 'max': 1, 'ns': 1}], [opening, {'do': 'phase', 'min': 1, 'max': 1, 'ns': 1 << 62, 'slice': 1, 'budget': 1}], [opening, {'do': 'phase', 'min': 1, 'max': 1, 'ns': 1, 'slice': -1, 'budget': 1}], [opening, {'do': 'phase', 'min': 1, 'max': 1, 'ns': 1, 'slice': 1}],
           [opening, {'do': 'close'}, {'do': 'close'}], [opening, {'do': 'facts'}, {'do': 'dance'}], [opening, b'\0\0\0\1x'], [opening, os.urandom(500)],
           [opening, {'do': 'accept', 'port': 9}, {'do': 'phase', 'min': 1, 'max': 9, 'ns': 1000, 'slice': 100, 'budget': 2000000000}, {'do': 'done', 'last': 1 << 62, 'total': -9}],
           [opening, {'do': 'accept', 'port': 9}, {'do': 'phase', 'min': 1, 'max': 9, 'ns': 1000, 'slice': 100, 'budget': 2000000000}, {'do': 'done', 'last': 5, 'total': 5}, {'do': 'facts'}, {'do': 'phase'}],
           [opening, {'do': 'phase', 'record': True, 'min': 1, 'max': 9, 'ns': 1000, 'slice': 100, 'budget': 2000000000}, {'do': 'dance'}]]
for _ in range(60):
    absurd.append([opening, {rng.choice(['do', 'ok', 'x']): rng.choice(['accept', 'phase', 'done', 'facts', 1, None, [], {}]), 'port': rng.choice([0, 1, 1 << 70, 'a']), 'min': rng.choice([0, -1, 5]),
                             'max': rng.choice([0, 1, 1 << 63]), 'ns': rng.choice([0, 10, -1, 1e9])}, {'do': 'dance'}])
stuck = tried = 0
for requests in absurd:
    try:
        a, t0 = after(*requests), time.time()
        while a and a.get('ok') is False and 'busy' in a.get('why', '') and time.time() - t0 < 60:
            time.sleep(0.02)
            a = after(*requests)
        tried += bool(a) and not (a.get('ok') is False and 'busy' in a.get('why', ''))
    except Exception as e:
        stuck += 1
        print('#', repr(requests)[:200], repr(e))
verdict(f'{len(absurd)} absurd sessions', f'{stuck} did not end, {tried} were tried, {answered[0]} requests answered' if stuck or tried < len(absurd) or answered[0] < 60 else '')

# 4. Slow: forty connections that dribble or stay silent must not keep a run from being served, and are cut off.
stop, cut, connected = threading.Event(), [], threading.Semaphore(0)
def dribble(i):
    s = socket.create_connection(('127.0.0.1', port), timeout=60)
    connected.release()
    t0 = time.time()
    try:
        for b in good:
            if stop.is_set() or time.time() - t0 > 60:
                return
            if i % 2:
                s.sendall(bytes([b]))
            s.settimeout(0.2)
            try:
                data = s.recv(4096)
                if not data:
                    cut.append(time.time() - t0)
                    return
            except socket.timeout:
                pass
    except OSError:
        cut.append(time.time() - t0)
threads = [threading.Thread(target=dribble, args=(i,)) for i in range(40)]
[t.start() for t in threads]
[connected.acquire() for _ in threads]
r = subprocess.run([tool, '--mode', 'tcp', '--size', '64', '--duration', '60ms', '--connect', f'127.0.0.1:{port}'], capture_output=True, text=True, timeout=300)
verdict('served beside forty slow ones', '' if r.returncode == 0 else f'exit code {r.returncode}: {r.stderr}')
[t.join() for t in threads]
verdict('slow ones are cut off', '' if len(cut) == 40 and max(cut) < 30 else f'{len(cut)} of 40, the last after {max(cut, default=0):.1f} s')

# 5. To a client: what is no server, a server of another version, one that dies or lies.
def answer(name, code, word, *frames, limit=60):
    l = socket.create_server(('127.0.0.1', 0))
    l.settimeout(120)
    def serve():
        try:
            c, _ = l.accept()
            c.settimeout(120)
            for f in frames:
                recv_frame(c)
                c.sendall(f)
            time.sleep(0.3)
            c.close()
        except OSError:
            pass
    t = threading.Thread(target=serve)
    t.start()
    t0 = time.time()
    r = subprocess.run([tool, '--mode', 'tcp', '--size', '64', '--duration', '60ms', '--timeout', '2s', '--connect', '127.0.0.1:%d' % l.getsockname()[1]],
                       capture_output=True, text=True, timeout=300)
    t.join(); l.close()
    took = time.time() - t0
    ok = r.returncode == code and word in r.stderr and r.stderr.count('\n') == 1 and took < limit and not r.stdout
    verdict(f'client: {name}', '' if ok else f'exit code {r.returncode} after {took:.1f} s: {r.stderr!r} {r.stdout[:80]!r}')
welcome = frame({'ok': True, 'hello': 'ipcstall', 'protocol': 3, 'host': {'name': 'x\n\x1b[31m', 'kernel': 'k', 'boot_id': 'b', 'time_ns': 't', 'clock': 'tsc'}})
answer('closes at once', 7, 'other host')
answer('an SSH server', 8, '', b'SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n')
answer('a giant length', 8, '', b'\xff\xff\xff\xff')
answer('another service', 8, 'not \'ipcstall server\'', frame({'a': 1}))
answer('another protocol', 8, 'protocol', frame({'ok': True, 'hello': 'ipcstall', 'protocol': 4}))
answer('a refusal with control characters', 5, 'a?b', frame({'ok': False, 'hello': 'ipcstall', 'code': 5, 'why': 'a\nb'}))
answer('a refusal with an absurd code', 7, 'x', frame({'ok': False, 'hello': 'ipcstall', 'code': 1 << 40, 'why': 'x'}))
answer('dies after the welcome', 7, '', welcome)
answer('no port', 8, 'port', welcome, frame({'ok': True}))
answer('a port out of range', 8, 'port', welcome, frame({'ok': True, 'port': 70000}))
answer('a port where nobody is', 7, '', welcome, frame({'ok': True, 'port': 1}))
sys.exit(bad > 0)
PY

works 'after' "${run[@]}"
[ -s "$WORK/server.err" ] && fail 'the server is quiet on stderr' "$(head -3 "$WORK/server.err")" || pass 'the server is quiet on stderr'
until_true has_below $server 0
left=$(below $server)
[ -z "$left" ] && pass 'no session is left' || fail 'no session is left' "$(ps -o pid=,etime=,args= -p "${left// /,}")"
kill -INT $server && wait $server && pass 'and it ends in peace' || fail 'and it ends in peace' "exit code $?"
finish
