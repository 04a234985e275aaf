# SPDX-License-Identifier: GPL-2.0-only
"""Where results go: a file whole or not at all, anything else as it takes them. What cannot be written is one line."""

from __future__ import annotations

import contextlib
import errno
import os
import pwd
import secrets
import stat
import sys
from typing import Optional

from .errors import AnalysisError, IO, NO_PERM


def write(path: str, content: bytes) -> None:
    if path == "-":
        _stdout(content)
        return
    try:
        _file(path, content)
    except OSError as e:
        raise refused(path, e) from None


def make_directory(path: str) -> None:
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as e:
        raise refused(path, e) from None


def say(line: str) -> None:
    """To standard error. Where that cannot be written nobody is left to be told so: the exit code speaks."""
    with contextlib.suppress(OSError):
        if sys.stderr is not None:  # closed before the program began
            print(line, file=sys.stderr, flush=True)


def refused(path: str, e: OSError) -> AnalysisError:
    """The codes are those of err_sys() (user/base/err.h)."""
    if isinstance(e, PermissionError):
        return AnalysisError(NO_PERM, f"{path}: cannot be written: {e.strerror}; run as its owner or name another place")
    return AnalysisError(IO, f"{path}: cannot be written: {e.strerror}; free space or name another place")


def _file(path: str, content: bytes) -> None:
    if not os.path.basename(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    real = _behind_links(path)
    old = _stat(real)
    if old is None or stat.S_ISREG(old.st_mode) and os.access(os.path.dirname(real) or ".", os.W_OK, effective_ids=True):
        _replace(real, content, old)
    else:  # a device, a pipe; or a file whose directory takes no other beside it
        _in_place(real, content)


def _behind_links(path: str) -> str:
    """In a directory of others a link may wait under the name: followed are root's, ours and those of whoever called sudo
    (as in user/base/output_path.c). A descriptor's name (/dev/stdout) ends in /proc, whose links the kernel follows."""
    real = path
    for _ in range(40):
        try:
            fd = os.open(real, os.O_PATH | os.O_NOFOLLOW)
        except OSError:  # whoever opens it says why it cannot be had
            return real
        try:
            st = os.fstat(fd)
            if not stat.S_ISLNK(st.st_mode) or _is_in_proc(st):
                return real
            if not _is_ours(st.st_uid):
                raise AnalysisError(NO_PERM, f"{path}: {real} is another user's link, which would choose the file to write; name the file itself")
            real = os.path.join(os.path.dirname(real), os.readlink("", dir_fd=fd))
        finally:
            os.close(fd)
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _is_in_proc(st: os.stat_result) -> bool:
    return st.st_dev == os.stat("/proc/self/status").st_dev


def _is_ours(owner: int) -> bool:
    if owner in (0, os.geteuid()):
        return True
    try:
        caller = pwd.getpwuid(owner).pw_name
    except KeyError:
        return False
    return os.geteuid() == 0 and os.environ.get("SUDO_UID") == str(owner) and os.environ.get("SUDO_USER") == caller


def _stat(path: str) -> Optional[os.stat_result]:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _in_place(path: str, content: bytes) -> None:
    unless_proc = 0 if os.path.exists(path) and _is_in_proc(os.lstat(path)) else os.O_NOFOLLOW
    with open(path, "wb", opener=lambda name, flags: os.open(name, flags | unless_proc)) as f:
        f.write(content)


def _replace(path: str, content: bytes, old: Optional[os.stat_result]) -> None:
    """Whole or not at all: a full disk must not leave half a figure behind. `old`: the file there, if any."""
    if old is not None:  # its directory would let it be replaced, though it may not be written
        os.close(os.open(path, os.O_WRONLY | os.O_NOFOLLOW))
    # A name that nobody can foretell: in a directory of all users a link could wait under one that is known.
    part = os.path.join(os.path.dirname(path), f".ipcstall-{secrets.token_hex(8)}.part")
    try:
        with open(part, "xb", opener=lambda name, flags: os.open(name, flags, 0o666 if old is None else 0o600)) as f:
            if old is not None:
                _as_it_was(f.fileno(), old)
            f.write(content)
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


def _as_it_was(fd: int, old: os.stat_result) -> None:
    """Owner, group and mode of the file that is replaced; the owner only as far as root may."""
    with contextlib.suppress(PermissionError):
        os.fchown(fd, old.st_uid, old.st_gid)
    os.fchmod(fd, old.st_mode & 0o777)


def _stdout(content: bytes) -> None:
    if sys.stdout is None:  # closed before the program began
        raise AnalysisError(IO, "standard output: cannot be written: it is closed; name a file, or leave it open")
    try:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except OSError as e:
        _give_up_stdout()
        raise AnalysisError(IO, f"standard output: cannot be written: {e.strerror}; give it room, or keep its reader open") from None


def _give_up_stdout() -> None:
    """What the buffer still holds goes nowhere: Python would try it again at its end, and complain in its own words."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
