#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""pylib.py OUT.zip SCRIPT: the part of this Python's library that SCRIPT needs, as one archive to run it elsewhere.

Run with -I -S; with OUT.zip as PYTHONPATH, nothing else of the library is needed.
"""
import pathlib
import py_compile
import runpy
import sys
import tempfile
import zipfile


def needed(script):
    """Every library module that is loaded once the script's own imports are done, with its place in the library."""
    sys.argv = [script, "--help"]
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit:
        pass
    library = pathlib.Path(zipfile.__file__).parent
    files = {pathlib.Path(m.__file__) for m in list(sys.modules.values()) if getattr(m, "__file__", None)}
    files |= {library / "encodings" / name for name in ("ascii.py", "latin_1.py", "utf_8.py")}
    return {f: f.relative_to(library) for f in files if f.suffix == ".py" and library in f.parents}


def main():
    out, script = sys.argv[1:3]
    stdout, sys.stdout = sys.stdout, open("/dev/null", "w", encoding="ascii")
    modules = needed(script)
    sys.stdout = stdout
    with zipfile.ZipFile(out, "w") as archive, tempfile.NamedTemporaryFile() as compiled:
        for path, name in sorted(modules.items()):  # compiled: an emulated machine takes seconds for that
            py_compile.compile(path, compiled.name, doraise=True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
            archive.write(compiled.name, f"{name}c")


if __name__ == "__main__":
    main()
