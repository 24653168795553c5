#!/usr/bin/env python3
"""Compiles headers alone.

public: the public headers, and the program of the README, with every compiler that is installed:
each as the oldest C++ from 20 on that it knows, and all together as the newest, in which a header
of libstdc++ includes no less.

internal: the others, with the build's compiler, as C++23, unless a source file includes them first
and so proves that they compile. Those of tests are not compiled.

headers.py public|internal ROOT BUILD COMPILER [--skip FOLDER...]: COMPILER is the build's; others
are those in PATH that docs/compatibility.md supports. With ccache an unchanged header costs
nothing; ccache needs a file to compile and an object to keep.
"""

import glob

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True

import rules  # noqa: E402
import source  # noqa: E402

FLAGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
OLDEST = {"g++": 12, "clang++": 19}
STANDARDS = ("20", "23", "26")


def compilers_beside(first):
    """The compiler itself, and those in PATH that are not too old, each once under any name."""
    found = {os.path.realpath(shutil.which(first)): first}
    for folder in os.get_exec_path():
        for path in sorted(glob.glob(os.path.join(folder, "*++-[0-9]*"))):
            name, _, version = os.path.basename(path).rpartition("-")
            if version.isdigit() and int(version) >= OLDEST.get(name, sys.maxsize):
                found.setdefault(os.path.realpath(path), path)
    return list(found.values())


def standards_of(compiler):
    def knows(standard):
        done = subprocess.run([compiler, "-std=c++" + standard, "-x", "c++", "-fsyntax-only", "-"],
                              stdin=subprocess.DEVNULL, capture_output=True)
        return done.returncode == 0

    known = [standard for standard in STANDARDS if knows(standard)]
    return known[:1] + known[1:][-1:]


def readme_program(root):
    with open(os.path.join(root, "README.md"), encoding="utf-8") as readme:
        return re.search(r"```cpp\n(.*?)```", readme.read(), re.DOTALL).group(1)


def headers_of(root):
    return [f.path for f in source.load(root) if f.path.endswith(".h")]


def folders_of(root, build):
    return [os.path.join(root, f) for f in source.include_folders(root)] + [build + "/include"]


# The jobs: the compiler, the standard, a name, the text and the header folders.

def public_jobs(root, build, compilers, _):
    public = [p for p in headers_of(root) if rules.is_public(p)]
    names = [p[p.index("include/") + len("include/"):] for p in public] + ["sheaf/version.h"]
    folders = folders_of(root, build)
    texts = {"<%s>" % name: "#include <%s>\n" % name for name in names}
    texts["README.md"] = readme_program(root)
    for compiler in compilers:
        oldest, *newest = standards_of(compiler)
        for name, text in texts.items():
            yield compiler, oldest, name, text, folders
        for standard in newest:
            yield compiler, standard, "all public headers", "".join(texts.values()), folders


def internal_jobs(root, build, compilers, skipped):
    folders = [root] + folders_of(root, build)
    for path in headers_of(root):
        if rules.is_public(path) or is_first_of_its_source(root, path):
            continue
        if not path.startswith(("tests/", *skipped)):
            yield compilers[0], "23", path, '#include "%s"\n' % path, folders


def is_first_of_its_source(root, path):
    """True if NAME.cpp next to NAME.h begins by including it."""
    try:
        with open(os.path.join(root, path[:-2] + ".cpp"), encoding="utf-8") as text:
            first = next((line for line in text if line.startswith("#include")), "")
    except FileNotFoundError:
        return False
    return first.strip() == '#include "%s"' % path


def compile_alone(job, root, folder):
    compiler, standard, name, text, folders = job
    title = "%s as C++%s with %s" % (name, standard, os.path.basename(compiler))
    source_file = os.path.join(folder, re.sub("[^A-Za-z0-9]+", "_", title) + ".cpp")
    with open(source_file, "w", encoding="utf-8") as file:
        file.write(text)
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
    which, root, build, compiler = arguments[:at]
    jobs = {"public": public_jobs, "internal": internal_jobs}[which]
    compilers = compilers_beside(compiler)
    folder = os.path.join(build, "headers")
    os.makedirs(folder, exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda job: compile_alone(job, root, folder),
                                jobs(root, build, compilers, arguments[at + 1:])))
    failed = [r for r in results if r[1] != 0]
    for title, _, errors in failed:
        print("%s does not compile alone:\n%s" % (title, errors))
    print("%s: %d compiled, %d failed" % (", ".join(map(os.path.basename, compilers)),
                                          len(results), len(failed)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
