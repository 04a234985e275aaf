# SPDX-License-Identifier: GPL-2.0-only
"""The runner of known workloads, with a stand-in for the tracer that is right, or wrong in one way."""
import os
import pathlib
import subprocess

import pytest
from conftest import thorough_but

TOP = pathlib.Path(__file__).resolve().parents[2]
RUN = TOP / "tests/kernel/run"
KNOWN = TOP / "build/O2/tests/kernel/known"


@pytest.fixture(scope="module", autouse=True)
def built():
    """Not `make known`: make may be what runs this."""
    if not KNOWN.exists():
        subprocess.run(["make", "-s", "OPT=-O2", "SAN=", "CC=cc", "known"], cwd=TOP, check=True, env={
            k: v for k, v in os.environ.items() if not k.startswith("MAKE")})


def run(*cases, spoil="", **env):
    env = {**os.environ, "IPCSTALL": str(TOP / "tests/kernel/oracle"), "KNOWN": str(KNOWN), "ORACLE_SPOIL": spoil, **env}
    done = subprocess.run([RUN, *cases], env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


def test_right_ledgers_pass():
    status, lines = run("pipe-slow-reader", "nodelay", "udp-drops", "unix-dgram-full")
    assert status == 0, lines
    assert [line.split()[1] for line in lines[:-1]] == ["nodelay", "pipe-slow-reader", "unix-dgram-full", "udp-drops"]
    assert lines[-1].endswith(" passed, 0 failed, 0 skipped")


CORE = [
    ("cause", "pipe-slow-reader/writer-tx-sndbuf"),
    ("close", "pipe-slow-reader/invariant"),
]


@pytest.mark.parametrize("spoil, seen", thorough_but(CORE, [
    *CORE,
    ("bytes", "pipe-slow-reader/writer-tx-bytes"),
    ("count", "pipe-slow-reader/writer-tx-sndbuf-count"),
]))
def test_a_wrong_ledger_fails(spoil, seen):
    status, lines = run("pipe-slow-reader", spoil=spoil)
    assert status == 1
    assert any(line.startswith(f"not ok {seen}:") for line in lines), lines


def test_what_the_machine_refuses_is_skipped_with_the_reason():
    status, lines = run("udp-tbf", PATH="/nonexistent:" + os.environ["PATH"], KNOWN="/bin/false")
    assert status == 1 and lines[-1] == "0 passed, 1 failed, 0 skipped"
    refusing = subprocess.run([KNOWN, "udp-tbf", "threads=1"], capture_output=True, text=True, check=False)
    assert refusing.returncode == 77 and "known: skipped: " in refusing.stderr


def test_unknown_case_is_bad_usage():
    assert run("no-such-case")[0] == 2


def test_known_says_what_is_wrong():
    for words in (["nagle", "bogus=1"], ["nagle", "n=x"], ["nagle", "n"], ["unix-slow-reader", "type=wrong"]):
        done = subprocess.run([KNOWN, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 1 and done.stderr.startswith("known: "), words
    assert subprocess.run([KNOWN, "nothing"], capture_output=True, check=False).returncode == 2
