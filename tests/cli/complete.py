#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""complete.py SHELL SCRIPT TEXT WORD...: in that shell, with the completion script read, TEXT is completed to every WORD."""
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "bind 'set enable-bracketed-paste off'; bind 'set page-completions off';"
             " bind 'set completion-query-items 1000'; source {}"),
    "zsh": (["zsh", "-f", "-i"], "autoload -Uz compinit; compinit -D -u; source {}; LISTMAX=1000"),
}
PATIENCE_S = 40


def start(argv: list[str]) -> tuple[int, int]:
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="dumb", PS1="$ ", COLUMNS="150", LINES="200")
        os.execvp(argv[0], argv)
    return pid, fd


def read_until(fd: int, wanted: list[str], seen: str = "") -> str:
    """Everything that came, until each pattern did or patience is over."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and not all(re.search(w, seen) for w in wanted):
        if select.select([fd], [], [], 0.2)[0]:
            try:
                seen += os.read(fd, 65536).decode(errors="replace")
            except OSError:
                break
    return seen


def typed(shell: str, script: str, text: str, words: list[str]) -> str:
    argv, setup = SHELLS[shell]
    pid, fd = start(argv)
    os.write(fd, (setup.format(script) + "; echo READ''Y\n").encode())
    read_until(fd, ["READY"])
    os.write(fd, (text + "\t\t").encode())
    seen = read_until(fd, [alone(w) for w in words])
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return seen


def asked(script: str, text: str) -> str:
    """fish picks a candidate at a second tab; it has a builtin that lists them."""
    command = f"source {script}; complete -C {text!r}"
    done = subprocess.run(["fish", "--no-config", "-c", command], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    return done.stdout + done.stderr


def alone(word: str) -> str:
    return r"(?<![\w-])" + re.escape(word) + r"(?![\w-])"


def main() -> int:
    shell, script, text, *words = sys.argv[1:]
    seen = asked(script, text) if shell == "fish" else typed(shell, script, text, words)
    missing = [w for w in words if not re.search(alone(w), seen)]
    if missing:
        print(f"lacks {missing}: {seen[-400:]!r}")
    return bool(missing)


sys.exit(main())
