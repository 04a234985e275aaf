# SPDX-License-Identifier: GPL-2.0-only
import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
