#!/usr/bin/env python3
"""Compares the public binary interface of a library with the one that is kept in the tree.

abi.py check|update BASELINE ROOT BUILD LIBRARY COMPILER

BASELINE is a folder with two files: functions.abi has what the library exports, types.abi the types
of public headers, read from a small library with one function for each. `check` fails with
abidiff's report if a program that was compiled for the baseline would not run with LIBRARY. What
was added is printed and allowed. `update` writes both files anew.
"""

import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "structure")]

import interface  # noqa: E402
import reference  # noqa: E402
import source  # noqa: E402

# Headers that name a third party. All of them is compiled into the program that includes them.
NOT_IN_THE_LIBRARY = ("include/sheaf/asio.h", "include/sheaf/json.h")
CHANGED = 4  # abidiff(1): bits of its exit status, of which 1 and 2 are errors


def public_headers(root):
    return [file for file in source.load(root)
            if file.path.startswith("include/sheaf/") and file.path not in NOT_IN_THE_LIBRARY]


def public_types(file):
    for item in source.declarations(file.code):
        inside = item.public and item.scope[:1] == ("sheaf",)
        if item.kind == "type" and item.body and inside and not reference.is_internal(item.scope):
            if not item.head.startswith("template"):
                yield "::".join(item.scope + (reference.name_of(item),))


def shapes(root):
    """A program text with one function for each public type."""
    lines = []
    for file in public_headers(root):
        lines.append("#include <%s>" % file.path[len("include/"):])
        lines += ['extern "C" SHEAF_API void sheaf_shape_%s(const %s&) {}' % (
            name.replace("::", "_"), name) for name in public_types(file)]
    return "\n".join(lines) + "\n"


def read_types(root, build, compiler):
    with tempfile.TemporaryDirectory() as folder:
        built = os.path.join(folder, "libshapes.so")
        subprocess.run(
            [compiler, "-std=c++20", "-g2", "-shared", "-fPIC", "-x", "c++", "-", "-o", built,
             "-I", os.path.join(root, "include"), "-I", os.path.join(build, "include")],
            input=shapes(root), text=True, check=True)
        return interface.Interface(root, build, built).text()


def demangled(names):
    done = subprocess.run(["c++filt"], input="\n".join(names), text=True, capture_output=True,
                          check=True)
    return done.stdout.splitlines()


def unread(found, root, library):
    """Functions of public types, and free ones, that are exported and were not read."""
    done = subprocess.run(["nm", "-D", "--defined-only", library], text=True, capture_output=True,
                          check=True)
    names = {line.split()[-1] for line in done.stdout.splitlines() if line.split()[-2] == "T"}
    owners = {"sheaf"}.union(*(public_types(file) for file in public_headers(root)))
    for name in demangled(sorted(names - found.all_symbols())):
        owner = re.match(r"sheaf::v0((?:::\w+)*)::", name)
        if owner and "sheaf" + owner.group(1) in owners:
            yield name


def symbols(text):
    return set(re.findall(r'<elf-symbol name="([^"]*)"', text))


def compare(old, new):
    """What abidiff says of two files, and whether the second can stand for the first."""
    done = subprocess.run(
        ["abidiff", "--no-added-syms", "--no-show-locs", "--harmless", old, new],
        capture_output=True, text=True, check=False)
    if done.returncode < 0 or done.returncode % CHANGED != 0:
        raise RuntimeError("abidiff: %d\n%s%s" % (done.returncode, done.stdout, done.stderr))
    return done.stdout, done.returncode == 0


def check(baseline, texts):
    """Whether the interface `texts` can stand for the one in the folder `baseline`, with a
    report."""
    good = True
    for name, text in texts.items():
        old = os.path.join(baseline, name)
        with open(old, encoding="utf-8") as file:
            added = symbols(text) - symbols(file.read())
        for symbol in demangled(sorted(added)):
            print("added since the baseline: " + symbol)
        with tempfile.NamedTemporaryFile("w", suffix=".abi", encoding="utf-8") as now:
            now.write(text)
            now.flush()
            report, same = compare(old, now.name)
        if not same:
            print("%s:\n%s" % (name, report))
            good = False
    return good


def write(baseline, texts):
    for name, text in texts.items():
        with open(os.path.join(baseline, name), "w", encoding="utf-8") as file:
            file.write(text)


def read(root, build, library, compiler):
    """The files of a baseline, and the functions that could not be read."""
    found = interface.Interface(root, build, library)
    missing = list(unread(found, root, library))
    return {"functions.abi": found.text(), "types.abi": read_types(root, build, compiler)}, missing


def main():
    what, baseline, *paths, compiler = sys.argv[1:]
    root, build, library = map(os.path.abspath, paths)
    texts, missing = read(root, build, library, compiler)
    for name in missing:
        print("%s has no full debug information: add its source to tests/abi/CMakeLists.txt" % name)
    if missing:
        return 1
    if what == "update":
        write(baseline, texts)
        return 0
    if check(baseline, texts):
        return 0
    print("The binary interface is not that of the baseline. CONTRIBUTING.md says when it may "
          "change;\n`cmake --build build/dev --target sheaf_abi_update` writes it anew.")
    return 1


if __name__ == "__main__":
    sys.exit(main())
