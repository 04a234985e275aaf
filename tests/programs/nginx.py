# SPDX-License-Identifier: GPL-2.0-only
"""nginx: sendfile() on non-blocking sockets, from epoll."""
import os

from harness import SCALE, Stall, case, free_port, need

CONF = """
worker_processes 1; daemon off; pid {dir}/nginx.pid; error_log {dir}/error.log; user root;
events {{ worker_connections 64; }}
http {{
	access_log off; sendfile on;
	client_body_temp_path {dir}/b; proxy_temp_path {dir}/p; fastcgi_temp_path {dir}/f; uwsgi_temp_path {dir}/u; scgi_temp_path {dir}/s;
	server {{ listen 127.0.0.1:{port}; location / {{ root {dir}; }} }}
}}
"""


def server(box, megabytes):
    port = free_port()
    with open(box.path("file"), "wb") as f:
        f.write(os.urandom(1 << 20) * megabytes)
    conf = box.write("nginx.conf", CONF.format(dir=box.dir, port=port))
    return box.serve([need("nginx"), "-p", box.dir, "-c", conf, "-e", box.path("error.log")], port, log="server.log"), port


@case("nginx-slow-reader", Stall("rwnd", "nginx", blamed="peer application not reading", by="curl", surety="both ends seen"), guest=True)
def slow_reader(box):
    """
    curl --limit-rate reads its share, then waits in poll() for the next (Curl_pgrsLimitWaitTime()) with data unread: the window
    closes, and what sendfile() has put in the socket's queue waits for it. A receive buffer grows to 32 MB (net.ipv4.tcp_rmem from 6.17
    on): what fits in there waits for nobody, so the file is several times as large.
    """
    program = need("curl")
    megabytes, seconds = (128, 4) if SCALE == 1 else (64, 8)
    _, port = server(box, megabytes)
    trace = box.attach("-a", "-P", str(port))
    box.do([program, "-sSf", "--limit-rate", f"{megabytes // seconds}M", "-o", "/dev/null", f"http://127.0.0.1:{port}/file"])
    return trace.end()
