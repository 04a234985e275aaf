# SPDX-License-Identifier: GPL-2.0-only
import os
import sys
from pathlib import Path
from typing import Callable

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(HERE))
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as analysis/__init__.py, before numpy

import synth  # noqa: E402

from analysis.cli import main  # noqa: E402
from analysis.figures import KINDS  # noqa: E402
from analysis.figures.request import Request  # noqa: E402
from analysis.load import load_documents, load_timeline  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "thorough: more of what other tests check, for `make test-all` only")


def thorough_but(core: list, cases: list):
    """The cases of a test: those that are not in CORE belong to `make test-all` only."""
    def thorough(case):
        values = case if isinstance(case, tuple) else (case,)
        return pytest.param(*values, marks=pytest.mark.thorough)

    return [case if case in core else thorough(case) for case in cases]


@pytest.fixture
def save(tmp_path: Path) -> Callable[..., str]:
    def _save(text, name: str = "data.json") -> str:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return _save


@pytest.fixture
def run(capsys):
    """The command line in this process: (exit code, standard output, standard error)."""

    def _run(*argv: str):
        code = main(list(argv))
        out = capsys.readouterr()
        return code, out.out, out.err

    return _run


@pytest.fixture(scope="session")
def corpus(tmp_path_factory) -> "dict[str, str]":
    """Files the figure tests share."""
    root = tmp_path_factory.mktemp("corpus")
    texts = {
        "comb": synth.sweep(synth.comb()),
        "comb-bare": synth.sweep(synth.comb(nodelays=(0,))),
        "comb-dense": synth.sweep(synth.comb(sizes=range(1453, 21000, 120), repeats=1)),
        "comb-tiny": synth.sweep(synth.comb(sizes=(1453, 3500, 5000), repeats=1)),
        "two-ccs": synth.sweep([{**p, "vars": {**p["vars"], "cc": cc}} for cc in ("cubic", "reno", "bbr") for p in synth.comb(repeats=1)]),
        "transports": synth.result(synth.transports(n=400)),
        "one-size": synth.result(synth.transports(sizes=(64,), n=400)),
        "long-names": synth.result([{**p, "mode": m} for m in ("a-transport-with-a-very-long-name", "another-transport-with-a-long-name")
                                    for p in synth.transports(("tcp",), n=100)]),
        "trace": synth.trace(), "stalls": synth.stalls(), "stalls-deep": synth.stalls(40),
        "pipes": synth.sweep(synth.pipes()),
        "line": synth.timeline(),
        "comb-cut": synth.sweep(synth.comb(sizes=(1453, 3500, 5000), repeats=1), complete=False),
        "line-long": synth.timeline(400),
        "line-cut": synth.timeline(complete=False),
        "way": synth.way(), "way-dgram": synth.way(proto="udp"), "way-slow": synth.way(20, slow=3e9),
        "line-smooth": synth.timeline(50, stall_every=10**9),
    }
    out = {}
    for name, text in texts.items():
        path = root / f"{name}.json"
        path.write_text(text)
        out[name] = str(path)
    return out


@pytest.fixture
def draw(corpus):
    def _draw(kind: str, *names: str, **more):
        request = Request(**more)
        if KINDS[kind].timeline:
            request.timeline = load_timeline(corpus[names[0]])
        else:
            request.documents = load_documents([corpus[n] for n in names])
        return KINDS[kind].draw(request)

    return _draw


@pytest.fixture(autouse=True)
def close_figures():
    yield
    from matplotlib import pyplot as plt

    plt.close("all")
