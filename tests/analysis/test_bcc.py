# SPDX-License-Identifier: GPL-2.0-only
"""bcc_probe: the document it writes, how it reads its maps, and its refusals. `make test-bcc` runs it whole, in a guest."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from types import SimpleNamespace

import pytest
from conftest import ROOT

from analysis import bcc_document, bcc_probe
from analysis.bcc_document import Counters, End, Session, Side, Span
from analysis.load import load_documents

CLIENT = End(1, "127.0.0.1:4000", "127.0.0.1:80", 7, 99, 1_000, 1_001_000_000, True, False, 600_000_000, 2,
             Side(Span(5_000, 4, 2_000), Span(700_000_000, 3, 400_000_000), 4_096, 4, 11, "writer", 1), Side())
SERVER = replace(CLIENT, serial=2, local="127.0.0.1:80", remote="127.0.0.1:4000", rwnd_ns=0, closed=False, joined_late=True,
                 tx=Side(), rx=Side(Span(9_000, 8, 3_000), Span(400_000, 7, 90_000), None, None, 12, "reader", 1))


def document(*ends):
    hooks = [{"point": "tcp_sendmsg", "kind": "kprobe", "feeds": "bytes", "attached": True, "why_not": None, "program": "send_begins", "runs": None}]
    return bcc_document.document(Session(ends, Counters(20, 1, 0), hooks, {"pids": [], "comm": None, "cgroup": None, "all": True}))


def test_what_was_seen_is_there_and_what_was_not_is_null():
    client, server = document(CLIENT, SERVER)["ledger"]["endpoints"]
    seen = {name for name, s in client["tx"]["states"].items() if s["ns"] is not None}
    assert seen == {"work", "rwnd"} and client["tx"]["states"]["rwnd"]["ns"] == 600_000_000
    assert client["tx"]["states"]["rwnd"]["count"] is None and client["tx"]["states"]["nagle"]["resolution"] == "unknown"
    assert {name for name, s in server["rx"]["states"].items() if s["ns"] is not None} == {"work", "wait"}
    assert (client["beside"]["tx"]["bytes"], server["beside"]["rx"]["bytes"]) == (4_096, None)
    assert client["beside"]["tx"]["blocked_ns"] == 700_000_000 and client["beside"]["tcp"]["retransmits"] == 2
    assert client["tx"]["unaccounted_ns"] is None and client["beside"]["tcp"]["delack_ns"] is None


def test_the_states_are_those_of_the_ledger():
    text = (ROOT / "bpf/causes.h").read_text()
    for names, word in ((bcc_document.TX_STATES, "TX"), (bcc_document.RX_STATES, "RX")):
        rows = re.findall(rf'X\({word}_\w+, (\d+), "(\w+)"', text)
        assert names == tuple(name for _, name in sorted(rows, key=lambda row: -int(row[0])))


def test_the_largest_full_window_is_the_verdict():
    ledger = document(SERVER, CLIENT)["ledger"]
    assert [f["endpoint"] for f in ledger["findings"]] == [1]
    assert "writer[11]" in ledger["verdict"] and "600 ms" in ledger["verdict"]
    assert document(SERVER)["ledger"]["findings"] == []
    assert document(replace(CLIENT, rwnd_ns=999_999))["ledger"]["findings"] == []


def test_ends_are_joined_by_name_and_time():
    earlier = replace(CLIENT, serial=3, born_ns=0, ended_ns=900)
    assert bcc_document.peers([CLIENT, SERVER, earlier]) == [1, 0, None]
    assert document(CLIENT, SERVER)["ledger"]["endpoints"][0]["peer_serial"] == 2


def test_the_rest_of_the_package_reads_it(save):
    [doc] = load_documents([save(json.dumps(document(CLIENT, SERVER)) + "\n")])
    first, second = doc.points[0].ledger.endpoints
    assert first.tx.states["rwnd"].ns == 6e8 and first.tx.states["nagle"].ns is None and second.comm == "reader"


def test_summary_of_it(run, save):
    code, out, _ = run("summary", save(json.dumps(document(CLIENT, SERVER)) + "\n"))
    assert code == 0 and "rwnd" in out and "600 ms" in out


def raw_end(**changed):
    span = SimpleNamespace(ns=10, count=1, max=10)
    side = SimpleNamespace(work=span, asleep=span, bytes=5, messages=1, unseen=0, tgid=11, comm=b"caf\xe9", cgroup=1)
    silent = SimpleNamespace(work=span, asleep=span, bytes=0, messages=0, unseen=0, tgid=0, comm=b"", cgroup=0)
    return SimpleNamespace(**{**dict(seen=500, inode=0, retransmits=0, netns=7, rwnd_ns=40, rwnd_runs=0, closed=0, late=1, family=2,
                                     local_port=80, remote_port=4000, local=bytes([127, 0, 0, 1] + [0] * 12),
                                     remote=bytes([10, 0, 0, 1] + [0] * 12), side=[side, silent]), **changed})


class Table(list):
    def items(self):
        return self

    def values(self):
        return [v for _, v in self]


def collected(calls=(), **changed):
    key = SimpleNamespace(sk=0xFF, born=100)
    counters = [SimpleNamespace(value=v) for v in (3, 2, 1)]
    maps = {"ends": Table([(key, raw_end(**changed))]), "calls": Table(enumerate(calls)), "counters": counters}
    [end], counted = bcc_probe.collect(maps, 1_000)
    assert counted == Counters(observed=3, unpaired=2, overflow=1)
    return end


def test_maps_become_ends():
    end = collected()
    assert (end.local, end.remote, end.lifetime_ns, end.rwnd_ns) == ("127.0.0.1:80", "10.0.0.1:4000", 900, 40)
    assert end.inode is None and end.tx.comm == "caf\ufffd" and end.rx.pid is None
    v6 = collected(family=10, local=bytes(15) + b"\1")
    assert v6.local == "[::1]:80"


def test_what_still_lasts_lasts_until_the_end():
    assert collected(rwnd_runs=1).rwnd_ns == 40 + 500
    assert collected(rwnd_runs=1, closed=1).rwnd_ns == 40
    assert collected(closed=1).lifetime_ns == 400
    asleep = SimpleNamespace(key=SimpleNamespace(sk=0xFF, born=100), since=400, side=0, asleep=1)
    assert collected([asleep]).tx.asleep == Span(610, 2, 600)
    stranger = SimpleNamespace(key=SimpleNamespace(sk=0, born=0), since=400, side=0, asleep=1)
    assert collected([stranger]).tx.asleep == Span(10, 1, 10)


def test_spliced_bytes_are_unknown():
    side = raw_end().side[0]
    side.unseen = 1
    assert collected(side=[side, side]).rx.bytes is None


@pytest.mark.parametrize("words, code, said", [
    (["-d", "soon"], 2, "no time"),
    (["-p", "0"], 2, "not a whole number"),
    (["-P", "70000"], 2, "not a whole number"),
    (["--nothing"], 2, "--nothing"),
    (["--json", "/nonexistent/x"], 6, "/nonexistent/x"),
])
def test_bad_usage_is_one_line(words, code, said, capsys):
    assert bcc_probe.main(words) == code
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and said in err and "; " in err


def refused(monkeypatch, capsys, there):
    real = os.path.exists
    monkeypatch.setattr(os.path, "exists", lambda p: there if "event_source" in str(p) else real(p))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    code = bcc_probe.main(["-d", "1ms", "--json", os.devnull, "-q"])
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and err.startswith("bcc_probe: ") and "ipcstall attach" in err
    return code, err


def test_a_kernel_without_kprobes(monkeypatch, capsys):
    code, err = refused(monkeypatch, capsys, there=False)
    assert code == 4 and "kprobes: this kernel" in err


def test_a_python_without_bcc(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "bcc", None)
    code, err = refused(monkeypatch, capsys, there=True)
    assert code == 4 and "python3-bpfcc" in err


class Refusing:
    """A bcc whose kernel takes the program and then one kind of hook not."""

    def __init__(self, **_):
        pass

    def attach_kprobe(self, event, fn_name):
        os.write(2, b"cannot attach kprobe, Operation not permitted\n")
        raise Exception("Failed to attach BPF program")


class Failing:
    def __init__(self, **_):
        os.write(2, b"modprobe: not found\nUnable to find kernel headers. Try a package.\n")
        raise Exception("Failed to compile BPF module <text>")


@pytest.mark.parametrize("bpf, said", [(Refusing, "kprobe tcp_sendmsg: refused: cannot attach kprobe, Operation not permitted"),
                                       (Failing, "Unable to find kernel headers")])
def test_what_bcc_says_becomes_one_line(bpf, said, monkeypatch, capfd):
    monkeypatch.setitem(sys.modules, "bcc", SimpleNamespace(BPF=bpf))
    code, err = refused(monkeypatch, capfd, there=True)
    assert code == 4 and said in err


def test_it_starts_as_a_file_and_explains_itself(tmp_path):
    done = subprocess.run([sys.executable, str(ROOT / "analysis/bcc_probe.py"), "--help"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "examples:" in done.stdout and not done.stderr


@pytest.fixture
def readable():
    """The tree where anyone may read it: a clone in root's home is closed to others."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        shutil.copytree(ROOT / "analysis", f"{folder}/analysis")
        subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
        yield folder


def test_without_root_it_says_so(readable):
    if os.geteuid():
        pytest.skip("needs root, to be someone else")
    done = subprocess.run(["setpriv", "--reuid", "65534", "--clear-groups", sys.executable, "-c",
                           "import sys; from analysis.bcc_probe import main; sys.exit(main(['-d', '1s', '--json', '/dev/null']))"],
                          cwd=readable, capture_output=True, text=True)
    assert done.returncode == 3 and done.stderr.count("\n") == 1 and "sudo" in done.stderr


def test_it_fits_the_schema_of_attach():
    jsonschema = pytest.importorskip("jsonschema")
    tool = ROOT / "ipcstall"
    if not tool.exists():
        pytest.skip("ipcstall is not built")
    schema = json.loads(subprocess.run([tool, "attach", "--json-schema"], check=True, capture_output=True).stdout)
    check = jsonschema.Draft202012Validator(schema)
    doc = document(CLIENT, SERVER)
    assert [f"{e.json_path}: {e.message}" for e in check.iter_errors(doc)] == []
    doc["ledger"]["endpoints"][0]["tx"]["states"]["nagle"]["ns"] = "none"
    assert not check.is_valid(doc)
