# SPDX-License-Identifier: GPL-2.0-only
"""PostgreSQL: COPY ... TO STDOUT to a client that is stopped."""
import glob
import os
import pwd
import shutil
import signal
import subprocess
import time

from harness import HUNG, SCALE, SLOW, Skip, Stall, Wrong, case, free_port, settled, sleeps, tail, until

READER = "peer application not reading"
ROWS = max(int(60000 * SCALE), 12000)  # of a kilobyte: more than the sockets' buffers hold


def binary(name):
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"))
    if not found:
        raise Skip(f"PostgreSQL's {name} is not installed")
    return found[-1]


class Cluster:
    """A server of our own in the case's folder, as user postgres (it refuses root)."""

    def __init__(self, box):
        self.box, self.port = box, free_port()
        self.psql = binary("psql")
        try:
            user = pwd.getpwnam("postgres")
        except KeyError as e:
            raise Skip("there is no user postgres") from e
        os.chown(box.dir, user.pw_uid, user.pw_gid)
        drop = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": [], "cwd": box.dir}
        self.data = box.path("data")
        self.make(user, drop)
        self.server = box.start([binary("postgres"), "-D", self.data, "-p", str(self.port), "-k", box.dir, "-F",
                                 "-c", "listen_addresses=127.0.0.1"], log="server.log", **drop)
        until("postgres", self.is_up)
        self.sql(f"create table t as select repeat('x', 1000) from generate_series(1, {ROWS})")

    def make(self, user, drop):
        """Its files; a guest brings them with it."""
        made = os.environ.get("POSTGRES_CLUSTER")
        if not made:
            subprocess.run([binary("initdb"), "-A", "trust", "-N", "-D", self.data], check=True, capture_output=True, **drop)
            return
        shutil.copytree(made, self.data)
        for folder, _, files in os.walk(self.data):
            for name in (folder, *(os.path.join(folder, f) for f in files)):
                os.chown(name, user.pw_uid, user.pw_gid)

    def is_up(self):
        if self.server.poll() is not None:
            raise Wrong("postgres ended: " + tail(self.box.path("server.log")))
        return self.sql("select 1", check=False).returncode == 0

    def argv(self, host, sql):
        return [self.psql, "-qXAt", "-h", host, "-p", str(self.port), "-U", "postgres", "-c", sql, "postgres"]

    def sql(self, text, check=True):
        return subprocess.run(self.argv(self.box.dir, text), check=check, capture_output=True)

    def stopped_copy(self, host):
        """psql that has been stopped in the midst of its COPY; its exit status tells whether all came over in the end."""
        out = open(self.box.path("copied"), "wb")
        psql = self.box.start(self.argv(host, "copy t to stdout"), log="psql.log", stdout=out)
        out.close()
        until("the copy", lambda: os.path.getsize(self.box.path("copied")) > 100000)
        psql.send_signal(signal.SIGSTOP)
        return psql


def goes_on(psql):
    psql.send_signal(signal.SIGCONT)
    if psql.wait(HUNG * SLOW):
        raise Wrong(f"psql: exit status {psql.returncode}")


def stalled(box, host, attach):
    """Stopped, then attached: the stall is under way when the tracer comes."""
    cluster = Cluster(box)
    psql = cluster.stopped_copy(host(cluster))

    def backends():
        with open(f"/proc/{cluster.server.pid}/task/{cluster.server.pid}/children", encoding="ascii") as f:
            return [int(p) for p in f.read().split()]

    settled("the backend to be held up", lambda: all(sleeps(p) for p in backends()) or time.monotonic())
    trace = box.attach(*attach(cluster, psql))
    time.sleep(1.2)
    ledger = trace.end()
    goes_on(psql)
    return ledger


@case("postgres-copy-tcp", Stall("rwnd", "postgres", blamed=READER, by="psql", surety="both ends seen", share=(0.9, 1.0)))
def tcp(box):
    """The backend has sent until EAGAIN (secure_write()) and waits in epoll; what its socket holds waits for psql's window."""
    return stalled(box, lambda c: "127.0.0.1", lambda c, psql: ("-a", "-P", str(c.port)))


@case("postgres-copy-unix", Stall("sndbuf", "postgres", proto="unix-stream", blamed=READER, surety="inferred from one end",
                                  share=(0.9, 1.0)))
def unix(box):
    """
    The same over the Unix socket: no window there, the backend was refused memory (EAGAIN) and has not come back. Only the server is
    traced, by the number of its first process: the backend is its child.
    """
    return stalled(box, lambda c: box.dir, lambda c, psql: ("-p", str(c.server.pid)))


@case("postgres-copy-stops", Stall("sndbuf", "postgres", proto="unix-stream", blamed=READER, by="psql", surety="both ends seen",
                                   share=(0.5, 1.0)))
def stops(box):
    """Attached to both before psql is stopped for a second; then it goes on and the copy ends well."""
    cluster = Cluster(box)
    psql = cluster.stopped_copy(box.dir)
    trace = box.attach("-p", str(cluster.server.pid), "-p", str(psql.pid))
    psql.send_signal(signal.SIGCONT)
    time.sleep(0.01)
    psql.send_signal(signal.SIGSTOP)
    time.sleep(1)
    goes_on(psql)
    return trace.end()
