#!/usr/bin/env python3
"""clang-tidy as a test over everything but tests and benchmarks.

tidy.py CLANG_TIDY ROOT BUILD [PATH...]: findings are errors. With PATHs (beginnings
of paths from the root) only those files are checked.
"""

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True

import compiled  # noqa: E402

# asio of Debian 12 has no coroutines with this clang.
LEFT_OUT = ("tests/", "bench/", "build", "samples/asio_all.cpp")

# libstdc++ uses what it declares as deprecated.
COMPILER_ARGUMENTS = ("--extra-arg=-Wno-deprecated-declarations",)


def chosen(root, build, wanted):
    """The files to check, each with its compile command."""
    found = dict(compiled.commands(root, build))
    return {path: words for path, words in sorted(found.items())
            if not path.startswith(LEFT_OUT + ("..",))
            and (not wanted or path.startswith(tuple(wanted)))}


def main():
    program, root, build, *wanted = sys.argv[1:]
    files = chosen(root, build, wanted)

    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "compile_commands.json"), "w", encoding="utf-8") as out:
            json.dump([{"directory": build, "file": os.path.join(root, path), "arguments": words}
                       for path, words in files.items()], out)

        def check(path):
            command = [program, "--quiet", *COMPILER_ARGUMENTS, "-p", folder,
                       os.path.join(root, path)]
            done = subprocess.run(command, text=True, capture_output=True)
            return done.returncode, done.stdout + (done.stderr if not done.stdout else "")

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(check, files))
    failed = [output for status, output in results if status != 0]
    print("\n".join(failed))
    print("%d files checked, %d with findings" % (len(files), len(failed)))
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
