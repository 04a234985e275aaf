# SPDX-License-Identifier: GPL-2.0-only
"""One error: what failed, why, what to do next, on one line, with the exit code the whole tool uses for it."""

from __future__ import annotations

from .text import clean

# The same numbers as user/base/err.h; a number is never reused.
BAD_USAGE = 2
NO_PERM = 3
NO_FEATURE = 4
NO_RESOURCE = 5
IO = 6
VERSION = 8
DATA = 9
NOISY = 10
BUG = 70
INTERRUPTED = 130


class AnalysisError(Exception):
    """Text reads "what: why; what to do next"."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(clean(" ".join(text.split())))
        self.code = code


def data(where: str, why: str, then: str = "record it again, or leave it out") -> AnalysisError:
    return AnalysisError(DATA, f"{where}: {why}; {then}")


def usage(text: str) -> AnalysisError:
    return AnalysisError(BAD_USAGE, text)
