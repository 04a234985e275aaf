# SPDX-License-Identifier: GPL-2.0-only
"""The program's screens without what differs from run to run."""
import re

STATE = re.compile(r"^ *(\w+) +\*? +[\d.]+ \w+ +([\d.]+) % ")
TIME = r"[\d.]+ (?:ns|us|ms|s|min|h)"
WHERE = r"\S+\[\d+\](?: \S+)? of \S+ .*?"
VERDICTS = (
    rf"healthy: stalls add up to (?:0 ns|{TIME}), [\d.]+ % of the senders' time",
    rf"{WHERE}: [a-z-]+(?: <- (?:delayed ACK|reader|path|application|\S+).*?)?: \d+ times?, {TIME} in all \([\d.]+ % of its time\), longest {TIME}"
    rf"(?:, of which \d+ times?, {TIME}, for that reason)?(?:; .*)?",
)


def shares(screen):
    """(END, LEDGER, STATE): per cent, for the first ends of a screen of ledgers."""
    out, end, ledger = {}, -1, ""
    for line in screen.splitlines():
        if re.match(r" +(tcp|udp|unix|pipe)\S* .* (writer|reader) ", line):
            end += 1
        elif m := re.match(r" +(tx|rx)  lifetime", line):
            ledger = m[1]
        elif (m := STATE.match(line)) and ledger:
            out[end, ledger, m[1]] = float(m[2])
    return out


# Lines that a run may have or not: warnings, states, what else was found, fixes.
OPTIONAL = re.compile(r"^ *(also|fix|verdict):|^Mistrust|^  \w+ \S+: |^$|^ +\w+ \S* *[\d.]+ \S+ +[\d.]+ % |^ +[a-z]+ +\*? +[\d.]+ \w+ +[\d.]+ %|^ *! ")


def blank(line):
    """A line with its numbers, units and names of its run replaced."""
    line = re.sub(r", blind \d+$", "", line)  # said where there were any
    line = re.sub(r"(clock )\w+|(backend )\S+.*|  --duration \S+", r"\1\2", line)
    line = re.sub(r"\d+\.\d+\.\d+\.\d+:\d+", "ADDRESS", line)
    line = re.sub(r"\b[\d.]+(e[+-]?\d+)?( (ns|us|ms|s)\b)?", "#", line)
    return re.sub(r" +", " ", line).rstrip()


def skeleton(screen):
    return [blank(line) for line in screen.strip().splitlines() if not OPTIONAL.match(line)]


def bad_verdicts(text):
    said = [line.split(": ", 1)[1].strip() for line in text.splitlines() if re.match(r" *(verdict|also): ", line)]
    return [v for v in said if not any(re.fullmatch(p, v) for p in VERDICTS)]
