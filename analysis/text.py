# SPDX-License-Identifier: GPL-2.0-only
"""What others wrote, made safe to show: a terminal obeys control characters, and a page or a line of stacks breaks at them."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from typing import Any, List

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


# --- for a screen ----------------------------------------------------------------------------------------------------------

NARROWEST, ELSEWHERE, WIDEST = 40, 110, 200


def columns() -> int:
    """The width of a screen of text: COLUMNS, the terminal's, or what a page has."""
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size((ELSEWHERE, 24)).columns))


def row_columns() -> float:
    """What a row of a table may take: in a file or a pipe of no stated width it stays on one line, for grep and sort."""
    return columns() if "COLUMNS" in os.environ or (sys.stdout and sys.stdout.isatty()) else float("inf")


def wrapped(text: str, first: str = "  ", further: str = "    ") -> List[str]:
    return textwrap.wrap(readable(text), columns(), initial_indent=first, subsequent_indent=further, break_on_hyphens=False)


_IN_ASCII = str.maketrans({"µ": "u", "ρ": "rho", "←": "<-", "→": "->", "×": "x", "–": "-", "—": "-", "…": "...", "±": "+-", "≥": ">=", "≤": "<=",
                           "√": "sqrt ", "·": "*", "−": "-", "“": '"', "”": '"'})


def readable(text: str) -> str:
    """In ASCII where the locale is not UTF-8, as the tool itself does: before lines are broken, for it takes more room."""
    return text if _is_utf8() else text.translate(_IN_ASCII)


def _is_utf8() -> bool:
    named = next((v for v in map(os.environ.get, ("LC_ALL", "LC_CTYPE", "LANG")) if v), "")
    return re.search(r"utf-?8", named, re.IGNORECASE) is not None


def for_screen(text: str) -> bytes:
    return text.encode() if _is_utf8() else readable(text).encode("ascii", "replace")
