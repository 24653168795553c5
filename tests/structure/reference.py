#!/usr/bin/env python3
"""Makes the API reference and checks that it is complete: Doxygen warns of nothing, and every type,
function and constant that a public header declares has an entry.

reference.py ROOT DOXYGEN DOXYFILE FOLDER: FOLDER is created again and gets the pages.
"""

import collections
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

sys.dont_write_bytecode = True

import rules  # noqa: E402
import source  # noqa: E402

TYPE = re.compile(r"(?:class|struct|union|enum(?: class)?)\s+"
                  r"(?:SHEAF_\w+\s+|\[\[\w+\]\]\s+)*([\w:]+)")
USING = re.compile(r"using\s+(\w+)\s*=")
FUNCTION = re.compile(r"[^(]*?(operator[^\w(]+|\w+)\s*\(")
FIELD = re.compile(r"(?!class\b|struct\b|enum\b|namespace\b)[^={]*?(\w+)(?:\[\])?\s*(?:=|\{|$)")


def is_internal(scope):
    return scope[:2] == ("sheaf", "client") or any(name.endswith("_detail") for name in scope)


def name_of(item):
    """The name that something declares; None for a forward declaration of a type."""
    head = source.bare_head(item.head)
    if item.kind == "type":
        found = TYPE.match(head) if item.body else USING.match(head)
    else:
        found = (FUNCTION if item.kind == "function" else FIELD).match(head)
    return found.group(1) if found else None


def declared(files):
    """How often each name is declared in the namespace sheaf, without deleted functions."""
    names = collections.Counter()
    for file in files:
        for item in source.declarations(file.code):
            inside = not item.in_class and item.scope[:1] == ("sheaf",)
            if inside and item.kind != "enumerator" and not is_internal(item.scope):
                if not re.search(r"=\s*delete$", item.head):
                    names[name_of(item)] += 1
    del names[None]
    return names


def listed(tags):
    """How often each name has an entry in the pages, by Doxygen's tag file."""
    names = collections.Counter()
    for compound in xml.etree.ElementTree.fromstring(tags).iter("compound"):
        name = compound.findtext("name")
        if compound.get("kind") in ("class", "struct", "concept"):
            names[name[len("sheaf::"):]] += 1
        elif compound.get("kind") == "namespace" and name == "sheaf":
            names.update(member.findtext("name") for member in compound.iter("member"))
    return names


def make(root, doxygen, doxyfile, folder):
    """Doxygen's output, and True if it succeeded."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with open(doxyfile, encoding="utf-8") as text:
        settings = text.read() + 'OUTPUT_DIRECTORY = "%s"\nGENERATE_TAGFILE = "%s/tags"\n' % (
            folder, folder)
    done = subprocess.run([doxygen, "-"], cwd=root, input=settings, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout, done.returncode == 0


def problems(root, doxygen, doxyfile, folder):
    said, content = make(root, doxygen, doxyfile, folder)
    yield from said.splitlines()
    if not content or said:
        yield "Doxygen is not content"
        return
    headers = [f for f in source.load(root) if rules.is_public(f.path)]
    with open(os.path.join(folder, "tags"), encoding="utf-8") as tags:
        entries = listed(tags.read())
    for name, times in sorted((declared(headers) - entries).items()):
        yield "%s: %d declarations without an entry" % (name, times)
    if not entries:
        yield "the reference is empty"


def main():
    found = list(problems(*sys.argv[1:]))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
