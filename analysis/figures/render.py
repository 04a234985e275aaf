# SPDX-License-Identifier: GPL-2.0-only
"""A figure to bytes: SVG or PNG, the same bytes for the same data."""

from __future__ import annotations

import io
import os
from typing import Any, Dict

from analysis.errors import AnalysisError, IO, usage

# Dates and program versions would make equal figures unequal files.
BLANK: Dict[str, Dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "png": {"Software": None},
}


def form_of(path: str) -> str:
    form = os.path.splitext(path)[1][1:].lower()
    if form not in BLANK:
        raise usage(f"{path}: the name must end in .svg or .png; change it")
    return form


def to_bytes(figure: Any, form: str, dpi: float = 0.0, keep: bool = False) -> bytes:
    """`keep`: the figure will be written in another form too."""
    from matplotlib import pyplot as plt

    from analysis import style

    out = io.BytesIO()
    with style.use():
        figure.savefig(out, format=form, metadata=BLANK[form], dpi=dpi or style.DPI)
    if not keep:
        plt.close(figure)
    return out.getvalue()


def write(path: str, content: bytes) -> None:
    """Whole or not at all: a full disk must not leave half a figure behind."""
    if path == "-":
        _stdout(content)
        return
    part = f"{path}.part"
    try:
        with open(part, "wb") as f:
            f.write(content)
        os.replace(part, path)
    except OSError as e:
        if os.path.exists(part):
            os.unlink(part)
        raise AnalysisError(IO, f"{path}: cannot be written: {e.strerror}; free space or name another place") from None


def _stdout(content: bytes) -> None:
    import sys

    try:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except OSError as e:
        raise AnalysisError(IO, f"standard output: cannot be written: {e.strerror}; keep the reader open") from None
