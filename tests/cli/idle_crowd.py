# SPDX-License-Identifier: GPL-2.0-only
"""idle_crowd.py crowd: more idle sockets than there is room for; honest: a program that talks."""
import os
import resource
import socket
import sys
import time

if sys.argv[1] == "crowd":
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    idle = [socket.socketpair() for _ in range(600)]
    print("there", flush=True)
    time.sleep(600)
else:
    with open("/proc/self/comm", "w") as f:
        f.write("honest")
    a, b = socket.socketpair()
    for i in range(60000):
        a.send(b"x")
        b.recv(1)
        time.sleep(0.01)
        if i == 300:
            print("done", flush=True)
