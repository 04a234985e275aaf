# SPDX-License-Identifier: GPL-2.0-only
"""redis-server: one thread, non-blocking sockets with TCP_NODELAY (anetEnableTcpNoDelay() in networking.c), answers in one write."""
import socket
import time

from harness import SCALE, Stall, case, free_port, need


def server(box):
    port = free_port()
    argv = [need("redis-server"), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", box.dir,
            "--client-output-buffer-limit", "normal 0 0 0"]
    return box.serve(argv, port, log="server.log"), port


@case("redis-benchmark", guest=True)
def benchmark(box):
    """A request, an answer, in turn: each is one write on a TCP_NODELAY socket and the reader is always there. Healthy."""
    program = need("redis-benchmark")
    process, port = server(box)
    trace = box.attach("-p", str(process.pid))
    box.do([program, "-p", str(port), "-c", "10", "-n", str(int(20000 * SCALE)), "-t", "set,get", "-q"])
    return trace.end()


@case("redis-pipeline", guest=True)
def pipeline(box):
    """Sixteen requests under way at a time: their answers go out in one write per turn of the loop. Healthy."""
    program = need("redis-benchmark")
    process, port = server(box)
    trace = box.attach("-p", str(process.pid))
    box.do([program, "-p", str(port), "-c", "4", "-n", str(int(100000 * SCALE)), "-P", "16", "-t", "set,get", "-q"])
    return trace.end()


@case("redis-slow-client", Stall("rwnd", "redis-server", blamed="peer application not reading", by="python3",
                                 surety="both ends seen", share=(0.5, 1.0)), guest=True)
def slow_client(box):
    """
    The client asks for 40 MB and does not read for a second and a half. Its receive buffer fills, its window closes; redis
    (writeToClient(), until EAGAIN) keeps the rest in the client's output buffer and its socket's queue waits for the window.
    """
    _, port = server(box)
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
    client.connect(("127.0.0.1", port))
    client.sendall(b"SETRANGE key 399999 x\r\n")
    client.recv(64)
    trace = box.attach("-a", "-P", str(port))
    answers = max(int(100 * SCALE), 20)
    client.sendall(b"GET key\r\n" * answers)
    time.sleep(1.5)
    left = answers * (400000 + len(b"$400000\r\n\r\n"))
    while left > 0:
        left -= len(client.recv(1 << 20))
    ledger = trace.end()
    client.close()
    return ledger
