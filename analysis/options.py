# SPDX-License-Identifier: GPL-2.0-only
"""Reading of a command line as the whole tool does it: bad usage is one line, and so is help that cannot be shown."""

from __future__ import annotations

import argparse
import os
from typing import Any, NoReturn

from .errors import usage
from .output import write


# how the command that was typed is called
PROGRAM = os.environ.get("IPCSTALL_PROGRAM") or f"python3 -m {__package__}"


class Parser(argparse.ArgumentParser):
    program = PROGRAM

    def error(self, message: str) -> NoReturn:
        raise usage(f"{message}; see {self.program} --help")

    def _print_message(self, message: str, file: Any = None) -> None:
        """All that argparse prints itself is what was asked for, --help and --version: errors do not come by here."""
        write("-", message.encode())
