# SPDX-License-Identifier: GPL-2.0-only
"""Documents with values swapped for junk: whatever loads must also summarise, draw and report, or be refused in one line."""

import copy
import json
import os
import random

import pytest
import synth
from conftest import thorough_but

from analysis.errors import AnalysisError
from analysis.figures import KINDS
from analysis.figures.request import Request
from analysis.load import load
from analysis.model import Timeline
from analysis.summary import summarise

JUNK = [None, 0, 1, -1, 0.5, 1e300, 10**30, 1e-300, "", "x", "$\\frac{", "a" * 300, "\u202e\x00\n", True, [], {}, [[]], {"a": None}]
ROUNDS = int(os.environ.get("FUZZ_ROUNDS", "40"))
PARTS = thorough_but([0], list(range(4)))


def rounds_of(part):
    return range(part * ROUNDS // 4, (part + 1) * ROUNDS // 4)


def places(value, path=()):
    if isinstance(value, dict):
        for k, v in value.items():
            yield path + (k,)
            yield from places(v, path + (k,))
    elif isinstance(value, list):
        for i, v in enumerate(value[:6]):
            yield path + (i,)
            yield from places(v, path + (i,))


def mutate(document, rng):
    out = copy.deepcopy(document)
    for _ in range(rng.randint(1, 5)):
        path = rng.choice(list(places(out)))
        parent = out
        for step in path[:-1]:
            parent = parent[step]
        if rng.random() < 0.25 and isinstance(parent, dict):
            parent.pop(path[-1])
        else:
            parent[path[-1]] = rng.choice(JUNK)
        if not list(places(out)):
            break
    return out


def seeds():
    lat = synth.transports(("tcp", "udp"), (16, 64, 1024), n=50)
    comb = synth.comb(sizes=(1453, 3500, 5000, 6500, 8000, 9500), repeats=1)
    return [synth.header("result") | {"points": lat + comb}, synth.header("result") | {"points": synth.pipes()[:9]}]


def everything(path):
    loaded = load(path)
    summarise(loaded)
    request = Request(timeline=loaded) if isinstance(loaded, Timeline) else Request([loaded])
    for kind in KINDS.values():
        if kind.timeline == isinstance(loaded, Timeline):
            try:
                kind.draw(request).canvas.draw()
            except AnalysisError:
                pass


def check(save, text, seed):
    try:
        everything(save(text))
    except AnalysisError as e:
        assert "\n" not in str(e)
    except Exception as e:
        pytest.fail(f"seed {seed}: {type(e).__name__}: {e}\n{text[:2000]}")


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("part", PARTS)
def test_junk_in_results(part, save):
    base = seeds()
    for seed in rounds_of(part):
        rng = random.Random(seed)
        check(save, json.dumps(mutate(rng.choice(base), rng)), seed)
        _close()


@pytest.mark.parametrize("part", PARTS)
def test_junk_in_timelines(part, save):
    rows = [json.loads(r) for r in synth.timeline(6).splitlines()]
    for seed in rounds_of(part):
        rng = random.Random(seed)
        broken = mutate(rows, rng)
        check(save, "".join(json.dumps(r) + "\n" for r in broken), seed)
        _close()


def _close():
    from matplotlib import pyplot as plt

    plt.close("all")
