#!/usr/bin/env python3
"""Compares the functions that a shared library exports with the list in the tree.

symbols.py check|update LIST LIBRARY

LIST has a line for each exported function of namespace sheaf, as `nm --demangle` writes it.
"""

import subprocess
import sys

NAMES = [("std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
          "std::string"),
         ("std::basic_string_view<char, std::char_traits<char> >", "std::string_view")]


def exported(library):
    done = subprocess.run(["nm", "--dynamic", "--demangle", "--defined-only", library], text=True,
                          capture_output=True, check=True)
    return functions(done.stdout)


def functions(text):
    """The sorted lines of what `nm` has found: our functions, each once."""
    found = set()
    for line in text.splitlines():
        _, kind, name = line.split(" ", 2)
        if kind == "T" and name.startswith("sheaf::"):
            for long, short in NAMES:
                name = name.replace(long, short)
            found.add(name)
    return sorted(found)


def differences(known, found):
    """Lines "- gone" and "+ new"."""
    yield from ("- " + name for name in known if name not in found)
    yield from ("+ " + name for name in found if name not in known)


def main(action, path, library):
    found = exported(library)
    if action == "update":
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(found) + "\n")
        return 0
    with open(path, encoding="utf-8") as file:
        differing = list(differences(file.read().splitlines(), found))
    print("\n".join(differing))
    if differing:
        print("The target sheaf_abi_update writes the list; CHANGELOG.md says what changes.")
    return 1 if differing or not found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
