# SPDX-License-Identifier: GPL-2.0-only
"""A figure to bytes: SVG or PNG, the same bytes for the same data."""

from __future__ import annotations

import io
import os
from typing import Any, Dict

from ..errors import usage

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
    from .. import style

    out = io.BytesIO()
    with style.use():
        figure.savefig(out, format=form, metadata=BLANK[form], dpi=dpi or style.DPI)
    if not keep:
        style.close(figure)
    return out.getvalue()
