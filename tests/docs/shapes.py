# SPDX-License-Identifier: GPL-2.0-only
"""The program's screens without what differs from run to run."""
import re

STATE = re.compile(r"^ {4}(\w+) +\*? +[^\w.]* *([\d.]+) %")
HEADS = "STALLED|WAITING|HEALTHY|UNKNOWN"
WHO = r"\S+\[\d+\](?: and others)?"
VERDICTS = (
    rf"(?:STALLED|WAITING) [\d.]+ %  {WHO} (?:waits for .*|and {WHO} wait for each other.*)",
    rf"(?:STALLED|WAITING) +(?:[\d.]+ %)? *(?:datagrams (?:to|of) {WHO} are lost|many small stalls, .*|\S+ waits for .*)",
    rf"HEALTHY  (?:\d+ connections?, nothing waits needlessly|{WHO} to {WHO}, limited by: .*)",
    r"UNKNOWN  .*",
)


def shares(screen):
    """(END, LEDGER, STATE): per cent, for the ends whose states a screen shows as bars."""
    out, end, ledger = {}, -1, ""
    for line in screen.splitlines():
        if m := re.match(rf"  {WHO} (writes|reads), ", line):
            end, ledger = end + 1, {"writes": "tx", "reads": "rx"}[m[1]]
        elif (m := STATE.match(line)) and ledger:
            out[end, ledger, m[1]] = float(m[2])
    return out


# What a run may say or not: warnings, and all that a card holds. What stands at the margin is the order of the screen.
OPTIONAL = re.compile(rf"^Caveats|^$|^\s|^(?:{HEADS})[ \d]")


def blank(line):
    """A line with its numbers, units and names of its run replaced."""
    line = re.sub(r", blind \d+$", "", line)  # said where there were any
    line = re.sub(r"(clock )\w+|(backend )\S+.*|  --duration \S+", r"\1\2", line)
    line = re.sub(r"\d+\.\d+\.\d+\.\d+:\d+", "ADDRESS", line)
    line = re.sub(r"\b[\d.]+(e[+-]?\d+)?( (ns|us|ms|s)\b)?", "#", line)
    return re.sub(r" +", " ", line).rstrip()


def skeleton(screen):
    return [blank(line) for line in screen.strip().splitlines() if not OPTIONAL.match(line)]


def heads(text):
    """First lines of cards, those that were broken put together again."""
    joined = re.sub(r"\n {9,}(?=\S)", " ", text)
    return [line.strip() for line in joined.splitlines() if re.match(rf" *({HEADS})[ \d]", line)]


def bad_verdicts(text):
    return [v for v in heads(text) if not any(re.fullmatch(p, v) for p in VERDICTS)]
