# SPDX-License-Identifier: GPL-2.0-only
import subprocess
import sys

import pytest
from conftest import ROOT


def test_the_package_is_typed(tmp_path):
    pytest.importorskip("mypy")
    out = subprocess.run([sys.executable, "-m", "mypy", "--config-file", "analysis/pyproject.toml", "--cache-dir", str(tmp_path), "-p", "analysis"],
                         cwd=ROOT, capture_output=True, text=True)
    assert out.returncode == 0, out.stdout[-3000:]
