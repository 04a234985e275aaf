# SPDX-License-Identifier: GPL-2.0-only
"""Taking a field out of decoded JSON, checked: the error names the file, the place and what was found instead."""

from __future__ import annotations

import math
from typing import Any, Dict, List, Optional

from .errors import data

# Counters have 64 bits; a share of a time is the smallest thing there is.
LARGEST, SMALLEST = 2**64, 1e-15

Object = Dict[str, Any]


def _found(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def obj(value: Any, where: str) -> Object:
    if not isinstance(value, dict):
        raise data(where, f"an object was expected, found {_found(value)}")
    return value


def sub(parent: Object, key: str, where: str) -> Optional[Object]:
    """A nested object; absent and null both mean that nothing is known."""
    value = parent.get(key)
    return None if value is None else obj(value, f"{where}: {key}")


def array(parent: Object, key: str, where: str) -> List[Any]:
    value = parent.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise data(f"{where}: {key}", f"a list was expected, found {_found(value)}")
    return value


def text(parent: Object, key: str, where: str, default: str = "") -> str:
    value = parent.get(key)
    if value is None:
        return default
    if not isinstance(value, str):
        raise data(f"{where}: {key}", f"text was expected, found {_found(value)}")
    return value


def number(parent: Object, key: str, where: str) -> Optional[float]:
    """A finite number that is not negative: nothing this tool counts or times can be below zero."""
    value = parent.get(key)
    return None if value is None else positive(value, f"{where}: {key}")


def positive(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or (isinstance(value, float) and not math.isfinite(value)):
        raise data(where, f"a number was expected, found {_found(value)}")
    if value < 0:
        raise data(where, f"{_found(value)} is negative, which no count or time can be")
    if value > LARGEST or 0 < value < SMALLEST:
        raise data(where, f"{_found(value)} is no number that could have been measured")
    return float(value)


def whole(parent: Object, key: str, where: str) -> Optional[int]:
    value = number(parent, key, where)
    if value is not None and value != int(value):
        raise data(f"{where}: {key}", f"a whole number was expected, found {_found(parent[key])}")
    return None if value is None else int(value)


def texts(parent: Object, key: str, where: str) -> List[str]:
    """Warnings: plain strings, or objects with a text in them."""
    out = []
    for item in array(parent, key, where):
        found = item.get("text") if isinstance(item, dict) else item
        if not isinstance(found, str):
            raise data(f"{where}: {key}", f"a list of texts was expected, found {_found(item)}")
        out.append(found)
    return out
