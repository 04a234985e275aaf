# SPDX-License-Identifier: GPL-2.0-only
"""A timeline in forms that other viewers open: one row each."""

from __future__ import annotations

from typing import Callable, Dict

from .chrome import to_chrome
from .folded import to_folded
from ..model import Timeline

FORMS: Dict[str, Callable[[Timeline], bytes]] = {"chrome": to_chrome, "folded": to_folded}
