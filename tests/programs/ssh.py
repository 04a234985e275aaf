# SPDX-License-Identifier: GPL-2.0-only
"""OpenSSH: keystrokes one by one and their echo."""
import os
import subprocess
import time

from harness import Wrong, case, free_port, messages, need, tail

CONF = """
Port {port}
ListenAddress 127.0.0.1
HostKey {dir}/host
AuthorizedKeysFile {dir}/user.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin yes
PrintLastLog no
"""


def keys(box):
    for name in ("host", "user"):
        subprocess.run([need("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", box.path(name)], check=True)


KEYS = 150
LEAST = 36  # bytes of a packet with one character: length, padding and type, the channel, its string, and a code (RFC 4253, 4254)


def all_echoed(endpoints, missed):
    over_tcp = [e for e in endpoints if e["proto"] == "tcp"]
    sent = messages(over_tcp, missed)
    if sent is not None and sent < 2 * KEYS:
        raise Wrong("fewer messages than keystrokes and echoes")
    if sum(e["beside"]["tx"]["bytes"] for e in over_tcp) < 2 * KEYS * LEAST:
        raise Wrong("fewer bytes than keystrokes and echoes have")


@case("ssh-keystrokes", also=all_echoed, guest=True)
def keystrokes(box):
    """
    ssh and sshd set TCP_NODELAY for interactive sessions (set_nodelay() in packet_set_interactive()): a keystroke and its echo
    go at once, whatever the peer's delayed ACK does. Healthy.
    """
    ssh, sshd, cat = need("ssh", "sshd", "cat")  # the session has a path of its own
    keys(box)
    os.makedirs("/run/sshd", exist_ok=True)
    port = free_port()
    box.serve([sshd, "-D", "-e", "-f", box.write("sshd_config", CONF.format(dir=box.dir, port=port))], port, log="sshd.log")
    session = box.start([ssh, "-tt", "-v", "-F", "none", "-i", box.path("user"), "-p", str(port), "-o", "StrictHostKeyChecking=no", "-o",
                         "UserKnownHostsFile=/dev/null", "root@127.0.0.1", cat], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    echo(box, session, b"x")
    trace = box.attach("-a", "-P", str(port))
    for _ in range(KEYS):
        echo(box, session, b"k")
        time.sleep(0.005)
    ledger = trace.end()
    session.stdin.close()
    return ledger


def echo(box, session, key):
    session.stdin.write(key)
    session.stdin.flush()
    came = session.stdout.read(1)
    if came != key:
        raise Wrong(f"no echo but {came + session.stdout.read1(200)}: " + tail(box.path("ssh.log")) + " | " + tail(box.path("sshd.log")))
