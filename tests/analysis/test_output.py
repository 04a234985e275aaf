# SPDX-License-Identifier: GPL-2.0-only
"""Where results go: files stay what they are, and what cannot be written is one line with the tool's exit code."""

import contextlib
import os
import pwd
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from conftest import ROOT

from analysis import output
from analysis.cli import _room_for_matplotlib
from analysis.errors import AnalysisError, IO, NO_PERM


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.fixture
def export(corpus, run):
    """A quick command that writes what it is told to."""
    return lambda out: run("export", "chrome", corpus["line"], "-o", str(out))


@pytest.fixture
def full(tmp_path):
    """A full device of its own: the machine's would be missed."""
    node = tmp_path / "full"
    try:
        os.mknod(node, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
        os.close(os.open(node, os.O_WRONLY))
    except PermissionError:
        pytest.skip("needs root, to make a device")
    return node


def test_a_device_stays_one_and_a_full_one_is_told(full, export):
    code, _, err = export(full)
    assert code == 6 and err.count("\n") == 1 and "No space left" in err
    assert stat.S_ISCHR(os.stat(full).st_mode) and [p.name for p in full.parent.iterdir()] == ["full"]


def test_a_pipe_takes_what_is_written(tmp_path, export):
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    assert export(pipe)[0] == 0
    reader.join(10)
    assert stat.S_ISFIFO(os.stat(pipe).st_mode) and got[0].startswith(b"{")


@pytest.mark.parametrize("there", [True, False], ids=["to a file", "to nothing yet"])
def test_a_link_is_followed(tmp_path, export, there):
    link, target = tmp_path / "link", tmp_path / "dir" / "target"
    target.parent.mkdir()
    if there:
        target.write_text("old")
    link.symlink_to("dir/target")
    assert export(link)[0] == 0
    assert link.is_symlink() and not target.is_symlink() and target.read_text().startswith("{")
    assert [p.name for p in target.parent.iterdir()] == ["target"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to make another user's link")
@pytest.mark.parametrize("there", [True, False], ids=["to a file", "to nothing yet"])
def test_another_users_link_is_refused(tmp_path, export, monkeypatch, there):
    link, target = tmp_path / "link", tmp_path / "target"
    if there:
        target.write_text("old")
    link.symlink_to("target")
    os.chown(link, 65534, -1, follow_symlinks=False)
    code, _, err = export(link)
    assert code == NO_PERM and "another user's link" in err and err.count("\n") == 1
    assert target.read_text() == "old" if there else not target.exists()
    monkeypatch.setenv("SUDO_UID", "65534")
    monkeypatch.setenv("SUDO_USER", pwd.getpwuid(65534).pw_name)
    assert export(link)[0] == 0 and target.read_text().startswith("{")


def test_links_in_a_circle_are_refused(tmp_path, export):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    code, _, err = export(tmp_path / "a")
    assert code == 6 and err.count("\n") == 1 and (tmp_path / "a").is_symlink()


@pytest.mark.parametrize("bits", [0o600, 0o640, 0o666])
def test_a_file_keeps_its_mode(tmp_path, export, bits):
    out = tmp_path / "t.json"
    out.write_text("old")
    out.chmod(bits)
    assert export(out)[0] == 0
    assert mode(out) == bits and out.read_text().startswith("{")


def test_a_new_file_has_the_mode_the_umask_gives(tmp_path, export):
    before = os.umask(0o027)
    try:
        assert export(tmp_path / "t.json")[0] == 0
    finally:
        os.umask(before)
    assert mode(tmp_path / "t.json") == 0o640


def test_what_fails_half_way_leaves_the_old_file(tmp_path, monkeypatch):
    out = tmp_path / "t.json"
    out.write_text("old")

    def no_room(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", no_room)
    with pytest.raises(AnalysisError) as e:
        output.write(str(out), b"new")
    assert e.value.code == IO and out.read_text() == "old" and list(tmp_path.iterdir()) == [out]


def test_a_directory_is_no_file(tmp_path, export):
    for name in (tmp_path, f"{tmp_path}/", f"{tmp_path}/none/", ""):
        code, _, err = export(name)
        assert code == 6 and err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def as_nobody():
    """Permissions count only for whoever is not root."""
    @contextlib.contextmanager
    def _as_nobody():
        if os.geteuid():
            yield
            return
        os.seteuid(65534)
        try:
            yield
        finally:
            os.seteuid(0)

    return _as_nobody


@pytest.fixture
def closed():
    """A directory in which no file can be made, where other users reach it: a file that may be written, and one that may not."""
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        for name, bits in (("open", 0o666), ("mine", 0o444)):
            (where / name).write_text("old")
            (where / name).chmod(bits)
        where.chmod(0o555)
        yield where
        where.chmod(0o700)


@pytest.mark.parametrize("name", ["new", "mine"])
def test_no_permission_is_told_as_the_tool_tells_it(closed, as_nobody, name):
    with as_nobody(), pytest.raises(AnalysisError) as e:
        output.write(str(closed / name), b"new")
    assert e.value.code == NO_PERM and "Permission denied" in str(e.value)


def test_a_read_only_file_in_an_open_directory_is_not_replaced(closed, as_nobody):
    closed.chmod(0o777)
    with as_nobody(), pytest.raises(AnalysisError) as e:
        output.write(str(closed / "mine"), b"new")
    assert e.value.code == NO_PERM and (closed / "mine").read_text() == "old"


def test_a_file_that_may_be_written_is_wherever_it_lies(closed, as_nobody):
    with as_nobody():
        output.write(str(closed / "open"), b"new")
    assert (closed / "open").read_text() == "new"


def test_root_leaves_a_file_to_its_owner(tmp_path):
    if os.geteuid():
        pytest.skip("needs root, to give a file away")
    out = tmp_path / "t.json"
    out.write_text("old")
    os.chown(out, 65534, 65534)
    output.write(str(out), b"new")
    assert (out.stat().st_uid, out.stat().st_gid, out.read_text()) == (65534, 65534, "new")


SAID = [("--help",), ("--version",), ("summary", "--help"), ("summary", "TRACE"), ("experiments",), ("export", "folded", "LINE", "-o", "-")]
PROGRAMS = [("analysis", *argv) for argv in SAID] + [("analysis.bcc_probe", "--help")]


@pytest.mark.parametrize("to", [">&-", ">/dev/full", "</dev/null 1<&0"], ids=["closed", "full", "to be read only"])
@pytest.mark.parametrize("program", PROGRAMS, ids=" ".join)
def test_a_standard_output_that_takes_nothing_is_one_line(program, to, corpus):
    argv = [{"TRACE": corpus["trace"], "LINE": corpus["line"]}.get(a, a) for a in program]
    done = subprocess.run(["sh", "-c", f'exec "$@" {to}', "sh", sys.executable, "-m", *argv], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 6 and done.stderr.count("\n") == 1 and "standard output" in done.stderr, done.stderr


def test_with_no_error_output_the_code_still_tells(corpus):
    argv = [sys.executable, "-m", "analysis", "export", "chrome", "/nonexistent", "-o", "-"]
    for to in ("2>&-", "2>/dev/full"):
        done = subprocess.run(["sh", "-c", f'exec "$@" {to}', "sh", *argv], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 9 and done.stdout == ""


HOMELESS = [("figure", "throughput", "DATA", "-o", "OUT.svg"), ("report", "DATA", "-o", "OUT.html"), ("summary", "DATA")]


def run_without_a_home(argv, tmp_path, corpus, **more):
    """What the program said, and what is left in its temporary directory and its home."""
    scratch, home = tmp_path / "scratch", tmp_path / "home"
    scratch.mkdir()
    environ = {k: v for k, v in os.environ.items() if k != "MPLCONFIGDIR"} | {"HOME": str(home), "TMPDIR": str(scratch), **more}
    argv = [a.replace("DATA", corpus["comb-tiny"]).replace("OUT", str(tmp_path / "out")) for a in argv]
    done = subprocess.run([sys.executable, "-m", "analysis", *argv], cwd=ROOT, env=environ, capture_output=True, text=True)
    return done, [*scratch.iterdir(), *tmp_path.glob("home")]


THOROUGH = [pytest.param(argv, marks=pytest.mark.thorough) for argv in HOMELESS[1:]]


@pytest.mark.parametrize("argv", [HOMELESS[0], *THOROUGH], ids=lambda argv: argv[0])
def test_without_a_home_nothing_is_said_and_nothing_stays_behind(argv, corpus, tmp_path):
    done, left = run_without_a_home(argv, tmp_path, corpus)
    assert (done.returncode, done.stderr, left) == (0, "", [])


@pytest.mark.thorough
def test_a_cache_that_was_named_is_used(corpus, tmp_path):
    named = tmp_path / "named"
    named.mkdir()
    done, left = run_without_a_home(HOMELESS[0], tmp_path, corpus, MPLCONFIGDIR=str(named))
    assert (done.returncode, left) == (0, []) and list(named.iterdir())


def test_the_cache_is_private(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(os, "environ", {k: v for k, v in os.environ.items() if k != "MPLCONFIGDIR"} | {"HOME": "/nonexistent"})
    _room_for_matplotlib()
    made = os.environ["MPLCONFIGDIR"]
    assert mode(made) == 0o700 and Path(made).parent == tmp_path
