# SPDX-License-Identifier: GPL-2.0-only
"""Away from the current directory: it may be a stranger's, and a library may take a file there for its settings."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import Iterator


@contextmanager
def in_own_directory() -> Iterator[None]:
    """Matplotlib reads the matplotlibrc of the directory in which it is imported first."""
    here = os.open(".", os.O_PATH | os.O_DIRECTORY)
    try:
        os.chdir(os.path.dirname(os.path.abspath(__file__)))
        yield
    finally:
        os.fchdir(here)
        os.close(here)
