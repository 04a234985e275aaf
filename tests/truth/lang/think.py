# SPDX-License-Identifier: GPL-2.0-only
import os
import time


def app(_, start):
    time.sleep(int(os.environ.get("THINK_MS", 0)) / 1000)
    start("200 OK", [("Content-Length", "1000")])
    return [b"x" * 1000]
