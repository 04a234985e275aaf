# SPDX-License-Identifier: GPL-2.0-only
"""What a figure is asked to show."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import List, Optional

from analysis.model import Document, Timeline
from analysis.text import file_name


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

    def names(self) -> str:
        return ", ".join(file_name(d.path) for d in self.documents)
