# SPDX-License-Identifier: GPL-2.0-only
"""The path of a message: layers whose lengths are known by construction, and what must not be told."""

import re

import numpy as np
import pytest
import synth
from analysis.errors import AnalysisError
from analysis.figures.request import Request
from analysis.figures.waterfall import draw
from analysis.load import load_timeline
from analysis.summary import summarise
from analysis.waterfall import AWAKE, STATIONS, ways

NAMES = [name for _, name in STATIONS]


@pytest.fixture
def found(save):
    return lambda text: ways(load_timeline(save(text)))


def test_every_layer_is_as_long_as_it_was_made(found):
    (way,) = found(synth.way(slow=20e3))
    assert (way.sender, way.reader, len(way.messages), way.remarks) == ("1", "2", 100, [])
    assert [np.unique(way.of(n)).tolist() for n in NAMES] == [[1e3], [2e3], [5e3, 25e3], [2e3]]
    assert np.count_nonzero(way.of(NAMES[2]) == 25e3) == 10
    assert way.totals().sum() == 100 * 10e3 + 10 * 20e3 and all(m.bytes == 100 for m in way.messages)


def test_layers_of_a_message_add_up_to_its_way(found):
    for m in found(synth.way())[0].messages:
        assert sum(x.ns for x in m.layers) == m.total
        assert all(a.end == b.start for a, b in zip(m.layers, m.layers[1:]))


def test_an_answer_is_the_readers_next_call_before_it_reads_on(found):
    (way,) = found(synth.way(slow=0))
    assert [m.answer is not None for m in way.messages[:4]] == [True, False, True, False]
    assert set(way.answers()) == {50e3}


def test_the_message_at_a_rank_is_one_that_was_sent(found):
    (way,) = found(synth.way(slow=20e3))
    assert (way.at(0.5).total, way.at(0.99).total, way.at(1.0).total) == (10e3, 30e3, 30e3)


def test_two_messages_in_one_segment_arrive_with_it(found):
    """Nagle: the second is held, and goes with the third."""
    head = synth.header("timeline", endpoints=[{"ep": a, "peer": b, "proto": "tcp"} for a, b in ("12", "21")])
    rows = [head, {"t": 1, "ep": "1", "ledger": "tx", "state": "work"}, {"t": 2, "ep": "1", "event": "message", "bytes": 10},
            {"t": 2, "ep": "1", "ledger": "tx", "state": "nagle"},
            {"t": 5, "ep": "1", "ledger": "tx", "state": "work"}, {"t": 6, "ep": "1", "event": "transmit", "bytes": 30},
            {"t": 7, "ep": "2", "event": "segment", "bytes": 30}, {"t": 8, "ep": "1", "event": "message", "bytes": 20},
            {"t": 9, "ep": "1", "ledger": "tx", "state": "idle"}, {"t": 9, "ep": "2", "event": "read", "bytes": 30},
            {"end": {"t": 9, "events": 9, "lost": 0, "complete": True}}]
    (way,) = found("".join(synth.json.dumps(r) + "\n" for r in rows))
    assert [[(x.name, x.ns) for x in m.layers] for m in way.messages] == [
        [(NAMES[0], 5), (NAMES[1], 1), (AWAKE, 2)], [(NAMES[0], 1), (NAMES[1], 1), (AWAKE, 2)]]


def test_a_reader_that_did_not_sleep_has_a_layer_of_its_own(found):
    text = "".join(line for line in synth.way(10).splitlines(True) if "wakeup" not in line)
    (way,) = found(text)
    assert way.layers() == [NAMES[0], NAMES[1], AWAKE]


def test_where_no_send_call_is_seen_the_way_begins_later_and_that_is_said(found):
    text = "".join(line for line in synth.way(10, slow=0, proto="udp").splitlines(True) if '"work"' not in line)
    (way,) = found(text)
    assert way.layers() == NAMES[1:] and set(way.totals()) == {9e3}
    assert "begins at the first station" in way.remarks[0]


def test_nothing_is_told_from_a_retransmission_on(found):
    (way,) = found(synth.way(10, extra=[{"t": 1e9 + 4.5e6, "ep": "1", "event": "retransmit", "bytes": 0}]))
    assert len(way.messages) == 5
    assert "5 of 10 messages" in way.remarks[0]


@pytest.mark.parametrize("text,said", [
    (synth.way(10, lost=3), "--timeline-max"),
    (synth.way(10, extra=[{"t": 9e8, "ep": "2", "event": "read", "bytes": 7}]), "in the middle"),
    (synth.way(10, proto="udp", extra=[{"t": 2e9, "ep": "1", "event": "message", "bytes": 7}]), "not every datagram"),
])
def test_what_cannot_be_matched_is_not_told_but_said(found, save, text, said):
    (way,) = found(text)
    assert not way.messages and said in way.remarks[0]
    with pytest.raises(AnalysisError, match="no message can be followed") as e:
        draw(Request(timeline=load_timeline(save(text))))
    assert said in str(e.value)


def test_a_pipe_is_its_own_peer_and_nobody_answers_in_it(found):
    text = synth.way(10, proto="pipe").replace('"peer": "2"', '"peer": null')
    text = "".join(line.replace('"ep": "2"', '"ep": "1"') for line in text.splitlines(True))
    way = found(text)[0]
    assert (way.sender, way.reader, len(way.messages), len(way.answers())) == ("1", "1", 10, 0)


def test_the_benchmarks_own_pipes_are_left_out(found):
    assert found(synth.way(10).replace('"role": "client"', '"role": "control"')) == []


def test_the_summary_has_the_table(save):
    text = summarise(load_timeline(save(synth.way(slow=20e3))))
    row = next(line for line in text.splitlines() if NAMES[2] in line)
    assert re.split(r"  +", row.split(NAMES[2])[1].strip()) == ["100", "5 µs", "5 µs", "25 µs", "25 µs", "25 µs", "58.3 %"]
    assert "the whole path" in text and "client x (101) [1] to server x (102) [2]" in text
