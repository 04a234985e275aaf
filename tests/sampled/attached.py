# SPDX-License-Identifier: GPL-2.0-only
"""What a session of looks alone, or of the ledger, says of some processes, and their end."""
import json
import os
import signal
import subprocess


LOOKS = ("--zoom-budget", "0")
EXACT = ("--exact",)


def document(pids, tier=LOOKS, lasts="3s"):
    words = [word for pid in pids for word in ("-p", str(pid))]
    command = [os.environ["IPCSTALL"], "attach", *words, *tier, "-d", lasts, "-q"]
    subprocess.run([*command, "--json", "attached.json"], check=True, timeout=60,
                   stderr=subprocess.DEVNULL)
    with open("attached.json", encoding="utf-8") as f:
        return json.load(f)


def ledger(pids, tier=LOOKS):
    return document(pids, tier)["ledger"]


def shown(said):
    """What stands on the screen: a proof's ledger, where one is the answer."""
    answer = said.get("answer")  # of the ledger's own sessions there is no proof
    return said["ledger"] if answer is None else said["proofs"][answer]["ledger"]


def end(pids):
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def ledger_until_end(pids, tier=LOOKS):
    """The session's; the processes are ended after it."""
    try:
        return ledger(pids, tier)
    finally:
        end(pids)


def waits(said, who, whom):
    """This is what the card says, which is printed."""
    card = said["card"]
    print(json.dumps(card)[:900])
    return (said["outcome"] == "waiting" and card["who"].startswith(who)
            and card["for_whom"].startswith(whom))
