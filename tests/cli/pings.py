# SPDX-License-Identifier: GPL-2.0-only
"""
pings.py server ADDRESS: answers each question at once, of one client.
pings.py client ADDRESS [QUESTIONS]: asks 40, one after another, and prints how many segments TCP
sent again.
pings.py tail: a client and a server. Every other question is lost once, and a tail loss probe
repeats it; the client prints how long those took, in ms.
"""
import os
import signal
import socket
import struct
import sys
import time

PORT = 7007
QUESTION = b"q" * 12000
SO_ATTACH_FILTER, SO_DETACH_FILTER = 26, 27
DROP_ALL = struct.pack("HBBI", 6, 0, 0, 0)  # return 0
BYTES_AT = sys.getsizeof(b"") - 1  # where the bytes of an object begin: there may be no ctypes
TOTAL_RETRANS_AT = 100  # in struct tcp_info
signal.alarm(300)


def serve(address):
    with socket.create_server((address, PORT)) as s:
        print("listens", flush=True)
        c = s.accept()[0]
    while c.recv(len(QUESTION), socket.MSG_WAITALL):
        c.sendall(b"a")


def client(address, questions=40):
    c = socket.create_connection((address, PORT))
    for _ in range(int(questions)):
        c.sendall(QUESTION)
        c.recv(1)
    info = c.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TOTAL_RETRANS_AT + 4)
    print(*struct.unpack_from("I", info, TOTAL_RETRANS_AT))


def is_deaf_for_a_while(c, tell):
    time.sleep(0.1)  # the ACK of the last answer has come
    c.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HL", 1, id(DROP_ALL) + BYTES_AT))
    os.write(tell, b".")
    time.sleep(0.1)
    c.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)


def tail(questions=12):
    deaf, tell = os.pipe()
    with socket.create_server(("127.0.0.1", 0)) as s:
        c = socket.create_connection(s.getsockname())
        server = s.accept()[0]
    if os.fork() == 0:
        c.close()
        for i in range(questions):
            if i % 2:
                is_deaf_for_a_while(server, tell)
            server.recv(100)
            server.send(b"a")
        os._exit(0)
    server.close()
    lost = 0
    for i in range(questions):
        if i % 2:
            os.read(deaf, 1)
        began = time.monotonic()
        c.send(b"q" * 100)
        c.recv(1)
        lost += (time.monotonic() - began) * 1000 if i % 2 else 0
    print(lost)


{"server": serve, "client": client, "tail": tail}[sys.argv[1]](*sys.argv[2:])
