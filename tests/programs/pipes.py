# SPDX-License-Identifier: GPL-2.0-only
"""Pipes of the shell. A pipe has one endpoint: its writer's ledger is tx, its reader's rx."""
from harness import Stall, case, need

READER = "peer application not reading"


@case("dd-gzip", Stall("sndbuf", "dd", proto="pipe", blamed=READER, by="gzip", share=(0.8, 1.0)), guest=True)
def dd_gzip(box):
    """dd copies zeros far faster than gzip -9 can deflate random text: the pipe is full while gzip computes, off its pipe."""
    need("dd", "gzip")
    return box.run("sh", "-c", "dd if=/dev/urandom bs=64k count=200 2>/dev/null | gzip -9 >/dev/null")


@case("cat-slow-reader", Stall("sndbuf", "cat", proto="pipe", blamed=READER, by="dd", share=(0.8, 1.0)), guest=True)
def slow_reader(box):
    """A reader that takes 64 KB and then sleeps 0.1 s, eight times: cat fills the 64 KB of the pipe and waits."""
    need("dd", "cat")
    with open(box.path("file"), "wb") as f:
        f.write(bytes(1 << 20))
    return box.run("sh", "-c", f"cat {box.path('file')} | sh -c "
                   "'for i in 1 2 3 4 5 6 7 8; do dd bs=64k count=1 iflag=fullblock of=/dev/null 2>/dev/null; sleep 0.1; done'")


@case("yes-head", guest=True)
def yes_head(box):
    """
    head takes what it needs and goes: yes dies of SIGPIPE after a few milliseconds. Both work, and where one waits it is for
    less than what counts as a stall.
    """
    need("yes", "head")
    return box.run("sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do yes | head -n 1000 >/dev/null; done")


@case("slow-writer", guest=True)
def slow_writer(box):
    """The reader waits for a writer that has nothing to say: that is no stall of the writer's."""
    return box.run("sh", "-c", "for i in 1 2 3 4 5; do echo line; sleep 0.1; done | cat >/dev/null")
