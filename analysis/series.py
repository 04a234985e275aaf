# SPDX-License-Identifier: GPL-2.0-only
"""Points into curves: what varies besides the x axis names a curve; repeats of one cell stay together."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Callable, Dict, Iterable, List, Optional, Sequence, Tuple, TypeVar

import numpy as np

from .errors import usage
from .fields import LARGEST
from .model import Document, Floats, Point, Value
from .text import file_name
from .units import value_text

Key = Tuple[Tuple[str, Value], ...]
Measure = Callable[[Point], Optional[float]]
FACTORS = ("source", "mode", "placement")


@dataclass
class Series:
    """One curve: cells by x, each with its repeats."""

    key: Key
    x: str
    cells: Dict[float, List[Point]] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return ", ".join(_word(name, value) for name, value in self.key) or "all"

    @property
    def first(self) -> Point:
        return next(iter(self.cells.values()))[0]

    def xs(self) -> List[float]:
        return sorted(self.cells)

    def repeats(self, x: float, measure: Measure) -> Floats:
        found = [v for p in self.cells.get(x, []) if (v := measure(p)) is not None]
        return np.asarray(found, dtype=np.float64)

    def curve(self, measure: Measure) -> Tuple[Floats, Floats, Floats, Floats]:
        """x, median, lowest and highest of the repeats; cells where it is unknown are left out."""
        rows = [(x, v) for x in self.xs() if len(v := self.repeats(x, measure))]
        return (np.asarray([x for x, _ in rows], dtype=np.float64), np.asarray([np.median(v) for _, v in rows]),
                np.asarray([v.min() for _, v in rows]), np.asarray([v.max() for _, v in rows]))


def _word(name: str, value: Value) -> str:
    if name == "source":
        return os.path.splitext(file_name(str(value)))[0]
    if name in FACTORS or isinstance(value, str):
        return str(value)
    return said(name, value)


def said(name: str, value: Value) -> str:
    """A variable and its value, for people: nodelay=1, rto=20 ms, cc=reno."""
    return f"{name}={readable(name, value)}"


def readable(name: str, value: Value) -> str:
    return value_text(name, float(value)) if isinstance(value, (int, float)) and as_number(value) is not None else plain(value)


def all_points(docs: Iterable[Document]) -> List[Point]:
    return [p for d in docs for p in d.points]


def variables(points: Sequence[Point]) -> List[str]:
    names: Dict[str, None] = {}
    for p in points:
        names.update(dict.fromkeys(p.vars))
    return list(names)


def varying(points: Sequence[Point], names: Iterable[str]) -> List[str]:
    return [n for n in names if len({repr(p.value(n)) for p in points}) > 1]


def as_number(value: Value) -> Optional[float]:
    """None where there is no place for it on an axis."""
    try:
        number = float(value if isinstance(value, (int, float)) else str(value))
    except (ValueError, OverflowError):
        return None
    return number if abs(number) <= LARGEST else None


def group(points: Sequence[Point], x: str = "size") -> List[Series]:
    """One series per combination of what varies besides x; numbers ascend, words keep the order they first appear in."""
    names = _telling([n for n in varying(points, dict.fromkeys([*FACTORS, *variables(points)])) if n != x], points)
    out: Dict[Key, Series] = {}
    for p in points:
        at = as_number(p.value(x))
        if at is None:
            continue
        key: Key = tuple((n, p.value(n)) for n in names)
        out.setdefault(key, Series(key, x)).cells.setdefault(at, []).append(p)
    seen = {n: list(dict.fromkeys(p.value(n) for p in points)) for n in names}
    return sorted(out.values(), key=lambda s: [_order(seen[n], v) for n, v in s.key])


def left_out(points: Sequence[Point], x: str = "size") -> List[str]:
    """What is in no curve over x, and why: a sentence, or none."""
    lost = [p.value(x) for p in points if as_number(p.value(x)) is None]
    if not lost:
        return []
    words = list(dict.fromkeys(str(v) for v in lost if v is not None))
    why = [f"is no number ({', '.join(spread(words, 3))}{', ...' if len(words) > 3 else ''})"] if words else []
    return [f"{len(lost)} of {len(points)} points are in no curve: their {x} {' or '.join(why + ['is unknown'] * (None in lost))}"]


def _telling(names: List[str], points: Sequence[Point]) -> List[str]:
    """The name of a file tells nothing where the other variables tell the files apart already."""
    rest = [n for n in names if n != "source"]
    cells = {(tuple(repr(p.value(n)) for n in rest), p.source) for p in points}
    return rest if len(cells) == len({k for k, _ in cells}) else names


def _order(seen: List[Value], value: Value) -> float:
    if all(as_number(v) is not None for v in seen):
        return as_number(value) or 0.0
    return float(seen.index(value))


def of_test(points: Sequence[Point], *tests: str) -> List[Point]:
    """The points of the first of these tests that has any, else of the first that there is: what is measured by two tests is not the same."""
    for test in dict.fromkeys([*tests, *(p.test for p in points)]):
        found = [p for p in points if p.test == test]
        if found:
            return found
    return []


Item = TypeVar("Item")


def spread(items: Sequence[Item], most: int) -> List[Item]:
    """At most so many, evenly taken, ends included."""
    if len(items) <= most:
        return list(items)
    return [items[round(i * (len(items) - 1) / (most - 1))] for i in range(most)]


def of_all(shown: int, there_are: int) -> str:
    """For a title: that there is more than is drawn."""
    return f" ({shown} of {there_are} curves)" if shown < there_are else ""


@dataclass
class Pair:
    """The same curve without and with the fix."""

    base: Series
    fixed: Optional[Series]
    fix: str = ""

    @property
    def label(self) -> str:
        return self.base.label


# Which value of a variable is the cure, where the variable is known to be one; else the larger or later value is.
OFF_IS_CURE = frozenset(("cork",))


def parse_fix(text: Optional[str]) -> Optional[Tuple[str, str]]:
    if text is None:
        return None
    name, sep, value = text.partition("=")
    if not sep or not name or not value:
        raise usage(f"--fix {text}: NAME=VALUE is expected, such as nodelay=1; name a variable of the sweep")
    return name, value


def pair_up(series: Sequence[Series], fix: Optional[Tuple[str, str]] = None) -> List[Pair]:
    """Match each curve without the fix with the curve that differs from it in the fix alone."""
    if fix is None:
        fix = guess_fix(series)
    if fix is None:
        return [Pair(s, None) for s in series]
    name, value = fix
    held = [v for s in series for n, v in s.key if n == name and same(name, v, value)]
    if not held:
        raise usage(f"--fix {name}={value}: no curve has it; the variables here are "
                    + (", ".join(sorted({n for s in series for n, _ in s.key})) or "none"))
    pairs = []
    for s in series:
        if same(name, dict(s.key).get(name), value):
            continue
        rest = _without(s.key, name)
        cure = [f for f in series if _without(f.key, name) == rest and same(name, dict(f.key).get(name), value)]
        pairs.append(Pair(s, cure[0] if cure else None, _word(name, held[0]) if name == "source" else said(name, held[0])))
    return pairs


def guess_fix(series: Sequence[Series]) -> Optional[Tuple[str, str]]:
    """The first variable that takes exactly two values."""
    for name in dict.fromkeys(n for s in series for n, _ in s.key if n not in FACTORS):
        values = list(dict.fromkeys(dict(s.key)[name] for s in series))
        if len(values) == 2:
            numbers = [as_number(v) for v in values]
            if None not in numbers:
                values.sort(key=lambda v: as_number(v) or 0.0, reverse=name in OFF_IS_CURE)
            return name, plain(values[1])
    return _second_file(series)


def _second_file(series: Sequence[Series]) -> Optional[Tuple[str, str]]:
    """Of two files that hold the same curves, the second is the run with the fix."""
    files = list(dict.fromkeys(dict(s.key).get("source") for s in series))
    if len(files) != 2 or None in files:
        return None
    first, second = ({_without(s.key, "source") for s in series if dict(s.key).get("source") == f} for f in files)
    return ("source", str(files[1])) if first & second else None


def _without(key: Key, name: str) -> Key:
    return tuple((n, v) for n, v in key if n != name)


def plain(value: Value) -> str:
    if value is None:
        return "default"  # an option that was not given
    return str(int(value)) if isinstance(value, bool) else str(value)


def same(name: str, value: Value, text: str) -> bool:
    """Whether a person meant this value: as the file has it, or as it is shown (20000000, 20ms)."""
    return _bare(text) in (_bare(plain(value)), _bare(readable(name, value)))


def _bare(text: str) -> str:
    return text.replace(" ", "").replace("µ", "u").lower()
