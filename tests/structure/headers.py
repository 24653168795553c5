#!/usr/bin/env python3
"""Compiles headers alone: public ones as C++20 and C++23, internal ones as C++23 unless a source
file includes them first and so proves it.

headers.py ROOT BUILD COMPILER... [--skip FOLDER...]: public headers are tried with every compiler
that exists, internal ones with the first. Where there is ccache a header that is as it was costs
nothing; it wants a file to compile and an object to keep.
"""

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True

import source  # noqa: E402

FLAGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]


def jobs(root, build, compilers, skipped):
    paths = [f.path for f in source.load(root) if f.path.endswith(".h")]
    public = [p for p in paths if p.startswith("include/sheaf/")]
    names = [p[len("include/"):] for p in public] + ["sheaf/version.h"]
    for compiler in compilers:
        for standard in ("20", "23"):
            for name in names:
                yield compiler, standard, "<%s>" % name, [root + "/include", build + "/include"]
    for path in paths:
        if path in public or is_first_of_its_source(root, path):
            continue
        if not path.startswith(tuple(skipped)):
            folders = [root, root + "/include", build + "/include"]
            yield compilers[0], "23", '"%s"' % path, folders


def is_first_of_its_source(root, path):
    """Whether NAME.cpp beside NAME.h begins with including it."""
    try:
        with open(os.path.join(root, path[:-2] + ".cpp"), encoding="utf-8") as text:
            first = next((line for line in text if line.startswith("#include")), "")
    except FileNotFoundError:
        return False
    return first.strip() == '#include "%s"' % path


def compile_alone(job, root, folder):
    compiler, standard, name, folders = job
    title = "%s as C++%s with %s" % (name, standard, os.path.basename(compiler))
    source_file = os.path.join(folder, re.sub("[^A-Za-z0-9]+", "_", title) + ".cpp")
    with open(source_file, "w", encoding="utf-8") as text:
        text.write("#include %s\n" % name)
    command = [compiler, "-std=c++" + standard] + FLAGS + ["-I" + f for f in folders]
    environment = dict(os.environ, CCACHE_BASEDIR=os.path.abspath(root), CCACHE_NOHASHDIR="1")
    if shutil.which("ccache"):
        command = ["ccache"] + command + ["-c", "-O0", source_file, "-o", source_file + ".o"]
    else:
        command += ["-fsyntax-only", source_file]
    done = subprocess.run(command, text=True, capture_output=True, env=environment)
    return title, done.returncode, done.stderr


def main():
    arguments = sys.argv[1:]
    at = arguments.index("--skip") if "--skip" in arguments else len(arguments)
    root, build, *compilers = arguments[:at]
    compilers = [c for c in compilers if shutil.which(c)]
    if not compilers:
        print("none of the compilers exists")
        return 1
    folder = os.path.join(build, "headers")
    os.makedirs(folder, exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda job: compile_alone(job, root, folder),
                                jobs(root, build, compilers, arguments[at + 1:])))
    failed = [r for r in results if r[1] != 0]
    for title, _, errors in failed:
        print("%s does not compile alone:\n%s" % (title, errors))
    print("%d compiled, %d failed" % (len(results), len(failed)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
