# SPDX-License-Identifier: GPL-2.0-only
"""What a figure is asked to show."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import List, Optional, Sequence

from ..errors import usage
from ..model import Document, Point, Timeline
from ..series import Series, group, left_out, of_test
from ..text import file_name


@dataclass
class Request:
    documents: List[Document] = field(default_factory=list)
    timeline: Optional[Timeline] = None
    fix: Optional[str] = None
    title: Optional[str] = None
    x: Optional[str] = None
    y: Optional[str] = None
    test: Optional[str] = None
    marks: Optional[float] = None  # curve: a fine line at each multiple
    over: Optional[str] = None  # curve: this variable only tells repeats apart
    start_ns: Optional[float] = None
    end_ns: Optional[float] = None
    remarks: List[str] = field(default_factory=list)  # what the drawing had to leave out

    def curves(self, points: Sequence[Point], x: str = "size") -> List[Series]:
        """group(), with a remark on the points that are in none of them."""
        self.remarks += left_out(points, x)
        return group(points, x)

    def tested(self, points: Sequence[Point], *tests: str) -> List[Point]:
        """The points of the test that was asked for, else of the first of these; with a remark on those of others."""
        found = of_test(points, *([self.test] if self.test else tests))
        there = list(dict.fromkeys(p.test for p in points))
        if self.test and points and self.test not in there:
            raise usage(f"{self.names()}: no point of test {self.test} has what this figure shows; give --test {' or '.join(there)}")
        if not self.test and len(there) > 1:
            others = [t for t in there if t != found[0].test]
            self.remarks.append(f"this is of test {found[0].test}; for {' or '.join(others)} give --test")
        return found

    def cut_short(self) -> List[str]:
        """Of the files that end too soon: a picture goes from hand to hand without what was said when it was drawn."""
        said = [(d.path, r) for d in self.documents for r in d.remarks]
        if self.timeline is not None:
            said += [(self.timeline.path, r) for r in self.timeline.remarks]
        return [f"{file_name(path)}: {r}" for path, r in said if r.startswith(("interrupted:", "truncated:"))]

    def names(self) -> str:
        return ", ".join(file_name(d.path) for d in self.documents)
