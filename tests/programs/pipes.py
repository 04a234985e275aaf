# SPDX-License-Identifier: GPL-2.0-only
"""Pipes of the shell. A pipe has one endpoint: its writer's ledger is tx, its reader's rx."""
import os

from harness import SCALE, SLOW, Stall, Wrong, case, need

READER = "peer application not reading"


@case("dd-gzip", Stall("sndbuf", "dd", proto="pipe", blamed=READER, by="gzip", share=(0.8, 1.0)), guest=True)
def dd_gzip(box):
    """
    dd copies random bytes from a file far faster than gzip -9 can search them: the pipe is full while gzip computes, off its pipe.
    The pipe is older than both programs, whose starting is idle time: there must be enough to do beside it.
    """
    need("dd", "gzip")
    with open(box.path("random"), "wb") as f:
        f.write(os.urandom(int(13e6 * max(SCALE, 0.4))))
    return box.run("bash", "-c", f"dd if={box.path('random')} bs=64k 2>/dev/null | gzip -9 >/dev/null")


@case("cat-slow-reader", Stall("sndbuf", "cat", proto="pipe", blamed=READER, by="head", share=(0.8, 1.0)), guest=True)
def slow_reader(box):
    """A reader that takes 64 KB and then sleeps 0.1 s, eight times: cat fills the 64 KB of the pipe and waits."""
    need("head", "cat")
    with open(box.path("file"), "wb") as f:
        f.write(bytes(1 << 20))
    return box.run("bash", "-c", f"cat {box.path('file')} | bash -c "
                   "'for i in 1 2 3 4 5 6 7 8; do head -c 65536 >/dev/null; sleep 0.1; done'")


def always_busy(endpoints, _):
    yes = max((e for e in endpoints if e["proto"] == "pipe"), key=lambda e: e["beside"]["tx"]["bytes"])
    states = yes["tx"]["states"]
    busy = (states["work"]["ns"] + states["sndbuf"]["ns"]) / yes["tx"]["lifetime_ns"]
    if yes["beside"]["tx"]["comm"] != "yes" or busy < (0.25 if SLOW == 1 else 0.15):
        raise Wrong(f"{yes['beside']['tx']['comm']}: at work or out of room {100 * busy:.1f} % of the time, too little")


@case("yes-head", allowed=("sndbuf",), also=always_busy, guest=True)
def yes_head(box):
    """
    yes writes without pause until head goes: its end of the pipe is at work, or waits for room where head is slower, and idle
    only between two calls. Which of the first two depends on how they take turns; nothing else can be. Between two calls (4 us apart) the
    system calls' own hooks run, and head where it is woken on yes's processor: 40 to 55 % of the time on quick machines.
    """
    need("yes", "head")
    return box.run("bash", "-c", f"yes | head -c {int(200e6 * SCALE)} >/dev/null")


@case("slow-writer", guest=True)
def slow_writer(box):
    """The reader waits for a writer that has nothing to say: that is no stall of the writer's."""
    return box.run("bash", "-c", "for i in 1 2 3 4 5; do echo line; sleep 0.1; done | cat >/dev/null")
