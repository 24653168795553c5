#!/usr/bin/env python3
"""clang-tidy as a test over everything but tests and benchmarks.

tidy.py CLANG_TIDY ROOT BUILD [PATH...]: findings are errors. With PATHs (beginnings
of paths from the root) only those files are checked.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

LEFT_OUT = ("tests/", "bench/", "build")


def sources(root, build, wanted):
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as commands:
        paths = {os.path.relpath(entry["file"], root) for entry in json.load(commands)}
    chosen = sorted(p for p in paths if not p.startswith(LEFT_OUT + ("..",)))
    return [p for p in chosen if not wanted or p.startswith(tuple(wanted))]


def main():
    program, root, build, *wanted = sys.argv[1:]

    def check(path):
        command = [program, "--quiet", "-p", build, os.path.join(root, path)]
        done = subprocess.run(command, text=True, capture_output=True)
        return done.returncode, done.stdout + (done.stderr if not done.stdout else "")

    files = sources(root, build, wanted)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(check, files))
    failed = [output for status, output in results if status != 0]
    print("\n".join(failed))
    print("%d files checked, %d with findings" % (len(files), len(failed)))
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
