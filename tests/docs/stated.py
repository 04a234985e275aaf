# SPDX-License-Identifier: GPL-2.0-only
"""The rows of docs/figures: a figure as a document states it, against the same one measured."""
import re
from dataclasses import dataclass

import measure


@dataclass(frozen=True)
class Row:
    document: str
    words: str
    figure: str
    tolerance: str

    @property
    def name(self):
        return f"{self.document}: {self.figure}"


def rows(text):
    cells = [[c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", line)] for line in text.splitlines() if line.strip() and line[0] != "#"]
    return [Row(*c) for c in cells]


def pattern(words):
    """{} is a number, * is anything of one sentence; any white space is one space."""
    parts = re.split(r"(\{\}|\*)", " ".join(words.split()))
    return re.compile("".join({"{}": r"([\d.]+(?:e[+-]?\d+)?)", "*": r".{0,400}?"}.get(p) or re.escape(p) for p in parts))


def flat(text):
    return " ".join(text.split())


def within(tolerance, stated, got):
    if tolerance.startswith("+-"):
        return abs(got - stated) <= float(tolerance[2:])
    if tolerance.startswith("x"):
        return stated > 0 and 1 / float(tolerance[1:]) <= got / stated <= float(tolerance[1:])
    if tolerance.startswith(">="):
        return min(got, stated) >= float(tolerance[2:])
    raise ValueError(f"docs/figures: '{tolerance}' is no tolerance")


def problems(row, docs, facts):
    found = pattern(row.words).findall(flat(docs.get(row.document, "")))
    if len(found) != 1:
        return [f"'{row.words}' stands {len(found)} times in {row.document}, not once"]
    got = measure.figure(facts, row.figure)
    if within(row.tolerance, float(found[0]), got):
        return []
    return [f"{row.document} states {found[0]}, measured {got:.4g}; allowed: {row.tolerance}"]


def off(row, got):
    """What a document would have to state to be just too far off."""
    if row.tolerance.startswith("+-"):
        return got + 1.01 * float(row.tolerance[2:]) + 0.01
    return got * 1.01 * float(row.tolerance[1:]) if row.tolerance[0] == "x" else 0.99 * float(row.tolerance[2:])


def blind(row, docs, facts):
    """Problems of the check itself: a document with the figure off has to be seen."""
    text = flat(docs.get(row.document, ""))
    m = pattern(row.words).search(text)
    if not m:
        return ["the words are not in the document"]
    wrong = f"{off(row, measure.figure(facts, row.figure)):.6f}"
    broken = {**docs, row.document: text[:m.start(1)] + wrong + text[m.end(1):]}
    return [] if problems(row, broken, facts) else [f"{wrong} instead of {m[1]} was not seen"]
