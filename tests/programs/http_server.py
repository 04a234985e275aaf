# SPDX-License-Identifier: GPL-2.0-only
"""python3's http.server: headers and body leave in two writes on a socket without TCP_NODELAY."""
import http.client
import http.server  # noqa: F401 the server is this one; a guest's library must have it
import os
import sys

from harness import HUNG, Stall, case, free_port, need

DELACK = {"blamed": "peer delayed ACK", "share": (0.8, 1.0)}


def server(box, protocol, size=1000):
    """BaseHTTPRequestHandler's wfile is unbuffered: end_headers() is one send(), copyfile() another; nothing sets TCP_NODELAY."""
    os.mkdir(box.path("www"))
    box.write("www/file", "x" * size)
    port = free_port()
    argv = [sys.executable, "-m", "http.server", "--protocol", protocol, "--bind", "127.0.0.1", "-d", box.path("www"), str(port)]
    return box.serve(argv, port, log="server.log"), port


def fetch(port, times):
    """http.client reads the whole answer before it asks again, and asks on the same connection."""
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=HUNG)
    for _ in range(times):
        client.request("GET", "/file")
        client.getresponse().read()
    client.close()


@case("http-keepalive", Stall("nagle", "python3", by="python3", surety="both ends seen", **DELACK), guest=True)
def keepalive(box):
    """
    The body is a small segment behind the unacknowledged small segment of the headers: Nagle holds it. The client has nothing to
    say until the body is there, and its socket is in interactive mode since its request (tcp_event_data_sent()), so that its ACK
    waits for the timer, 40 ms: from the second request on each costs that.
    """
    _, port = server(box, "HTTP/1.1")
    trace = box.attach("-a", "-P", str(port))
    fetch(port, 25)
    return trace.end()


@case("http-curl", Stall("nagle", "python3", surety="inferred from one end", **DELACK))
def curl(box):
    """
    The same with curl, which asks for all its addresses on one connection; it sets TCP_NODELAY on its own socket, which does not
    help: the server's is the one that holds. Only the server is traced, so the other end's part is inferred.
    """
    program = need("curl")
    process, port = server(box, "HTTP/1.1")
    trace = box.attach("-p", str(process.pid))
    box.start([program, "-s", *[f"http://127.0.0.1:{port}/file"] * 25]).wait(20)
    return trace.end()


@case("http-close")
def close(box):
    """HTTP/1.0: the server closes after each answer, and a FIN takes the held segment with it (tcp_send_fin()): no stall."""
    _, port = server(box, "HTTP/1.0")
    trace = box.attach("-a", "-P", str(port))
    for _ in range(100):
        fetch(port, 1)
    return trace.end()
