#!/usr/bin/env python3
"""Compiles the product's files that include base/mutex.h with clang's -Wthread-safety: access to a
guarded member without its mutex is an error.

thread_safety.py ROOT BUILD CLANG: BUILD holds compile_commands.json.
"""

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True

import compiled  # noqa: E402
import source  # noqa: E402

FLAGS = ["-std=c++23", "-Wno-everything", "-Wthread-safety", "-Werror=thread-safety"]
MUTEX = "base/mutex.h"
NOT_PRODUCT = ("tests/", "bench/", "samples/")


def knows_mutex(files):
    """The paths of the product's files that include MUTEX, directly or through others."""
    includers = {}
    for file in filter(lambda f: f.is_cpp and not f.path.startswith(NOT_PRODUCT), files):
        for _, name in file.includes():
            includers.setdefault(name[1:-1], []).append(file.path)
    found, new = set(), [MUTEX]
    while new:
        for path in includers.get(new.pop(), []):
            if path not in found:
                found.add(path)
                new.append(path)
    return found


def includes_and_definitions(words):
    flags = [w for w in words if w.startswith(("-I", "-D"))]
    return flags + [f for at, w in enumerate(words) if w == "-isystem" for f in words[at:at + 2]]


def compile_headers(clang, headers, flags, folder):
    """All headers together, compiled once for all files, because they are most of each file.
    Returns the result as check() does, and the path of the compiled header."""
    every, made = os.path.join(folder, "headers.h"), os.path.join(folder, "headers.pch")
    with open(every, "w", encoding="utf-8") as text:
        text.write("#pragma once\n" + "".join('#include "%s"\n' % h for h in headers))
    command = [clang] + FLAGS + flags + ["-x", "c++-header", every, "-o", made]
    return check(("the headers", command)), made


def check(job):
    path, command = job
    done = subprocess.run(command, text=True, capture_output=True)
    return path, done.returncode, done.stderr


def run(root, build, clang):
    """The results of all files: path, return code, messages."""
    wanted = knows_mutex(source.load(root))
    files = [(path, includes_and_definitions(words))
             for path, words in compiled.commands(root, build) if path in wanted]
    shared = ["-I" + folder for folder in (root, build + "/include")]
    shared += ["-I" + os.path.join(root, folder) for folder in source.include_folders(root)]
    headers = sorted(p for p in wanted if p.endswith(".h") and not p.startswith("cli/"))
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        result, made = compile_headers(clang, headers, shared, folder)
        if result[1] != 0:
            return [result]
        command = [clang] + FLAGS + ["-fsyntax-only", "-include-pch", made]
        jobs = [(path, command + flags + [os.path.join(root, path)]) for path, flags in files]
        return list(pool.map(check, jobs))


def main():
    results = run(*sys.argv[1:])
    failed = [r for r in results if r[1] != 0]
    for path, _, errors in failed:
        print("%s:\n%s" % (path, errors))
    print("%d checked, %d failed" % (len(results), len(failed)))
    return 1 if failed or len(results) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
