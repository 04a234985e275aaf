#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Round trips of a string of 1024 bytes by a library's Python, both ends on one CPU: the middle one, and the CPU time a call takes in both.

    rpc_client.py grpc|thrift [ECHO.thrift]     one JSON object
    rpc_client.py grpc|thrift --check           can it be run here?
"""
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time

SIZE, WARM, CALLS = 1024, 200, 1500


def grpc_ends():
    from concurrent import futures

    import grpc

    def same(data):
        return data

    def serve(ready):
        handler = grpc.method_handlers_generic_handler("echo.Echo", {"EchoText": grpc.unary_unary_rpc_method_handler(lambda q, _: q)})
        server = grpc.server(futures.ThreadPoolExecutor(2))
        server.add_generic_rpc_handlers((handler,))
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        ready(port)
        server.wait_for_termination()

    def client(port):
        call = grpc.insecure_channel(f"127.0.0.1:{port}").unary_unary("/echo.Echo/EchoText", same, same)
        text = b"x" * SIZE
        return lambda: len(call(text)) == SIZE

    return serve, client


def thrift_ends(idl, folder):
    from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
    from thrift.transport import TSocket, TTransport

    subprocess.run(["thrift", "--gen", "py", "-out", folder, idl], check=True)
    sys.path.insert(0, folder)
    from echo import Echo

    class Handler:
        def echoText(self, v):
            return v

    def serve(ready):
        listener = socket.create_server(("127.0.0.1", 0))
        ready(listener.getsockname()[1])
        fd, _ = listener.accept()
        fd.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        transport = TSocket.TSocket()
        transport.setHandle(fd)
        protocol = TBinaryProtocolAccelerated(TTransport.TBufferedTransport(transport))
        processor = Echo.Processor(Handler())
        while True:
            processor.process(protocol, protocol)

    def client(port):
        transport = TSocket.TSocket("127.0.0.1", port)
        buffered = TTransport.TBufferedTransport(transport)
        buffered.open()
        transport.handle.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stub = Echo.Client(TBinaryProtocolAccelerated(buffered))
        text = "x" * SIZE
        return lambda: len(stub.echoText(text)) == SIZE

    return serve, client


def start(serve):
    """The server, in a process of its own: its pid and port."""
    back, out = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            serve(lambda port: os.write(out, str(port).encode()))
        finally:
            os._exit(0)
    return pid, int(os.read(back, 16))


def cpu_ns(pid):
    """In the program and in the kernel."""
    with open(f"/proc/{pid}/schedstat") as f:
        main = int(f.read().split()[0])
    threads = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/schedstat") as f:
                threads += int(f.read().split()[0])
        except FileNotFoundError:
            pass
    return max(main, threads)


def measure(call, server):
    times = []
    for _ in range(WARM):
        assert call()
    before = cpu_ns(server) + time.process_time_ns()
    for _ in range(CALLS):
        a = time.perf_counter_ns()
        assert call()
        times.append(time.perf_counter_ns() - a)
    cpu = cpu_ns(server) + time.process_time_ns() - before
    return {"round_trip_ns": statistics.median(times), "interpreter_ns": cpu / CALLS}


def main():
    name, rest = sys.argv[1], sys.argv[2:]
    if rest == ["--check"]:
        __import__(name)
        return
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        serve, client = grpc_ends() if name == "grpc" else thrift_ends(rest[0], folder)
        pid, port = start(serve)
        try:
            print(json.dumps(measure(client(port), pid)))
        finally:
            os.kill(pid, 9)
            os.waitpid(pid, 0)


main()
