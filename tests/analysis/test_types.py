# SPDX-License-Identifier: GPL-2.0-only
"""The sources themselves: types, imports, and the README's list of commands."""

import ast
import os
import re
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT


def test_the_package_is_typed(tmp_path):
    pytest.importorskip("mypy")
    out = subprocess.run([sys.executable, "-m", "mypy", "--config-file", "analysis/pyproject.toml", "--cache-dir", str(tmp_path), "-p", "analysis"],
                         cwd=ROOT, capture_output=True, text=True)
    assert out.returncode == 0, out.stdout[-3000:]


def test_ruff_finds_nothing():
    ruff = shutil.which("ruff", path=f"{os.environ['PATH']}:{ROOT / 'build/tools/bin'}")
    if not ruff:
        pytest.skip("no ruff: make deps installs it where pip reaches an index")
    out = subprocess.run([ruff, "check", "--no-cache", "--config", "analysis/pyproject.toml", *map(str, programs("analysis", "tests"))], cwd=ROOT, capture_output=True, text=True)
    assert out.returncode == 0, out.stdout[-3000:]


def programs(*folders):
    """The Python files in these folders, those without an ending too."""
    for path in (p for folder in folders for p in sorted((ROOT / folder).rglob("*")) if p.is_file()):
        if path.suffix == ".py" or (not path.suffix and path.read_bytes()[:2] == b"#!" and b"python" in path.read_bytes().split(b"\n", 1)[0]):
            yield path


def unused(text):
    """Names that are imported in vain, or twice; not where the line says that importing alone does something."""
    tree, lines = ast.parse(text), text.splitlines()
    imports = [n for n in ast.walk(tree) if isinstance(n, (ast.Import, ast.ImportFrom)) and "noqa: F401" not in lines[n.lineno - 1]
               and getattr(n, "module", "") != "__future__"]
    names = [(a.asname or a.name).split(".")[0] for n in imports for a in n.names]
    at_the_top = [a.asname or a.name for n in imports if n in tree.body for a in n.names]
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    return sorted({n for n in names if n not in used} | {n for n in at_the_top if at_the_top.count(n) > 1})


def test_what_is_imported_is_used_and_once():
    found = {str(p.relative_to(ROOT)): names for p in programs("analysis", "tests") if (names := unused(p.read_text(encoding="utf-8")))}
    assert found == {}
    assert unused("import os\nimport re\nimport re\nre.sub") == ["os", "re"]


def test_the_readme_names_every_command():
    help_text = subprocess.run([sys.executable, "-m", "analysis", "--help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    commands = set(re.findall(r"^    (\w+)", help_text, re.M))
    assert set(re.findall(r"^    (?:python3 -m analysis|ipcstall) (\w+)", (ROOT / "analysis/README.md").read_text(), re.M)) == commands
