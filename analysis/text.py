# SPDX-License-Identifier: GPL-2.0-only
"""What others wrote, made safe to show: a terminal obeys control characters, and a page or a line of stacks breaks at them."""

from __future__ import annotations

import os
import re
from typing import Any

# What text_clean() of user/base/text.c replaces: the two sets of control characters (escape sequences begin in both), the ends of
# lines and paragraphs, the marks of direction; and halves of characters, which cannot be written.
_ABOVE = r"\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_CONTROL = re.compile(rf"[\x00-\x1f{_ABOVE}]")
_IN_JSON = re.compile(rf"[{_ABOVE}]|\\[bfnrtu]")  # where it may hold any: of most files nothing need be looked at piece by piece


def clean(text: str) -> str:
    return _CONTROL.sub("?", text)


def clean_lines(text: str) -> str:
    """The same of a text of several lines."""
    return "\n".join(clean(line) for line in text.split("\n"))


def clean_json(value: Any, source: str) -> Any:
    """The same of every text in JSON, names too; `source`: what it was decoded from."""
    return _walk(value) if _IN_JSON.search(source) else value


def _walk(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(k): _walk(v) for k, v in value.items()}
    return [_walk(v) for v in value] if isinstance(value, list) else value


def file_name(path: str) -> str:
    """For a person; the file is opened by its path."""
    return clean(os.path.basename(path))
