# SPDX-License-Identifier: GPL-2.0-only
"""Bytes to JSON: whole documents and lines, with no stack trace whatever the bytes are."""

from __future__ import annotations

import json
import os
import zlib
from typing import Any, List, NoReturn

from .errors import AnalysisError, DATA, IO, NO_PERM, data
from .text import clean_json

LARGEST_INSIDE = 1 << 30


def read_bytes(path: str) -> bytes:
    """The file's bytes; of a gzip file, what is inside."""
    raw = _file(path)
    return raw if raw[:2] != b"\x1f\x8b" else _inflate(raw, path)


def _inflate(raw: bytes, path: str) -> bytes:
    opener = zlib.decompressobj(31)
    try:
        out = opener.decompress(raw, LARGEST_INSIDE)
    except zlib.error:
        raise data(path, "the gzip file is damaged") from None
    if not opener.eof:
        raise data(path, "the gzip file is cut short, or holds more than 1 GiB", "unpack it by hand and look")
    return out


def _file(path: str) -> bytes:
    try:
        with open(path, "rb") as f:
            return f.read()
    except FileNotFoundError:
        raise AnalysisError(DATA, f"{path}: no such file; check the name") from None
    except PermissionError:
        raise AnalysisError(NO_PERM, f"{path}: permission denied; run as its owner or change its mode") from None
    except IsADirectoryError:
        raise AnalysisError(DATA, f"{path}: is a directory; name the files in it") from None
    except (OSError, ValueError) as e:
        raise AnalysisError(IO, f"{path}: cannot be read: {getattr(e, 'strerror', None) or e}; check the path") from None


def names_in(directory: str) -> List[str]:
    try:
        return sorted(os.listdir(directory))
    except FileNotFoundError:
        raise AnalysisError(DATA, f"{directory}: no such directory; check the name") from None
    except NotADirectoryError:
        raise AnalysisError(DATA, f"{directory}: is no directory; name the one that it is in") from None
    except PermissionError:
        raise AnalysisError(NO_PERM, f"{directory}: permission denied; run as its owner or change its mode") from None
    except OSError as e:
        raise AnalysisError(IO, f"{directory}: cannot be read: {e.strerror}; check the path") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def parse(raw: bytes, where: str) -> Any:
    """What it says, with no control characters in its texts: much of it will be shown."""
    try:
        text = raw.decode("utf-8")
        return clean_json(json.loads(text, parse_constant=_refuse_constant), text)
    except UnicodeDecodeError as e:
        raise data(where, f"byte {e.start} is not UTF-8 text", "name a JSON file written by ipcstall") from None
    except json.JSONDecodeError as e:
        raise data(where, f"not JSON at line {e.lineno} column {e.colno}: {e.msg}") from None
    except RecursionError:
        raise data(where, "nested too deeply", "name a JSON file written by ipcstall") from None
    except ValueError as e:
        raise data(where, str(e)) from None


def is_partial(raw: bytes) -> bool:
    """The writer ends every line; a file that does not end so was cut."""
    return not raw.endswith(b"\n")
