#!/usr/bin/env python3
"""clang-format as a test. format.py CLANG_FORMAT ROOT [--fix]"""

import os
import subprocess
import sys

sys.dont_write_bytecode = True

import source  # noqa: E402


def main():
    program, root, *fix = sys.argv[1:]
    files = [os.path.join(root, f.path) for f in source.load(root) if f.is_cpp]
    mode = ["-i"] if fix else ["--dry-run", "-Werror", "--ferror-limit=3"]
    return subprocess.run([program, "--style=file"] + mode + files).returncode


if __name__ == "__main__":
    sys.exit(main())
