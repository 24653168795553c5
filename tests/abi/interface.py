"""Reads the public binary interface of a library with abidw (libabigail), as XML that depends on no
folder and is small enough to be read in a review."""

import os
import re
import subprocess
import xml.etree.ElementTree as ET

HERE = os.path.dirname(os.path.abspath(__file__))
ABIDW = ["abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-elf-needed",
         "--no-parameter-names", "--type-id-style", "hash",
         "--suppr", os.path.join(HERE, "ours.abignore")]
CLASSES = ("class-decl", "union-decl")
TYPES = CLASSES + ("enum-decl",)
CALLED = ("function-decl", "var-decl")
PLACE = ("filepath", "line", "column")


def read_corpus(library):
    done = subprocess.run([*ABIDW, library], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError("abidw %s: %d\n%s" % (library, done.returncode, done.stderr))
    return ET.fromstring(done.stdout)


class Interface:
    """That of the library `library`, built in `build` from headers of the tree `root`: functions
    that it exports, and types that they name and headers in include/sheaf define. Types of anybody
    else are a name and a size, types of the tree's other folders a name."""

    def __init__(self, root, build, library):
        self.build = build
        self.root = os.path.realpath(root) + os.sep
        self.headers = os.path.join(self.root, "include", "sheaf") + os.sep
        corpus = read_corpus(library)
        self.attributes = corpus.attrib
        self.elf_symbols = corpus.findall(".//elf-symbol")
        self.units = corpus.findall("abi-instr")
        self.symbols = set()  # names of exported functions, as the linker has them
        self.kept = set()     # ids of the types that the interface consists of
        self.by_id = {}
        for unit in self.units:
            self.simplify(unit)
            for element in unit.iter():
                if "id" in element.attrib:
                    self.by_id.setdefault(element.get("id"), []).append(element)
        for unit in self.units:
            self.find_roots(unit)

    def place(self, element):
        """The file that defines it. Compilers are run in the folder of the build."""
        return os.path.realpath(os.path.join(self.build, element.get("filepath", "")))

    def is_public(self, element):
        return self.place(element).startswith(self.headers)

    def is_exported(self, element, parent):
        """Whether a program can call it. What is left when this is asked is a member of a public
        class, or free. Without full debug information a free function has no parameters."""
        if parent.tag == "data-member" or parent.get("vtable-offset") is not None:
            return True
        if element.get("elf-symbol-id") is None:
            return False
        if element.get("elf-symbol-id").startswith("sheaf_shape"):
            return True
        if parent.tag != "namespace-decl":
            return parent.tag != "abi-instr"
        return (element.tag == "var-decl" or element.find("parameter") is not None or
                element.get("mangled-name").endswith("v"))

    def simplify(self, parent):
        """Takes out what no program can call, and the inside of types that are not public."""
        for child in list(parent):
            if child.tag in CALLED and not self.is_exported(child, parent):
                parent.remove(child)
                continue
            if child.tag in CLASSES and not self.is_public(child):
                self.hollow(child)
            self.simplify(child)
            if child.tag in ("member-function", "namespace-decl") and len(child) == 0:
                parent.remove(child)

    def hollow(self, element):
        for child in list(element):
            if child.tag != "member-type":
                element.remove(child)
        if self.place(element).startswith(self.root):
            element.attrib.pop("size-in-bits", None)
            element.set("is-declaration-only", "yes")

    def find_roots(self, parent):
        for child in parent:
            if child.tag in CALLED:
                self.keep(child)
            elif child.tag in ("namespace-decl", "member-function", "member-type") + CLASSES:
                self.find_roots(child)

    def keep(self, root):
        waiting = [root]
        while waiting:
            element = waiting.pop()
            name = element.get("id")
            if name in self.kept:
                continue
            if name is not None:
                self.kept.add(name)
            self.symbols.add(element.get("elf-symbol-id"))
            waiting.extend(self.needs(element))

    def needs(self, element):
        """What it consists of, and the types that it names."""
        for child in element:
            if child.tag != "member-type":
                yield child
            else:
                yield from (c for c in child if c.tag in TYPES and self.is_public(c))
        for key in ("type-id", "naming-typedef-id"):
            yield from self.by_id.get(element.get(key), [])

    def text(self):
        """As XML, in an order of its own. Called once."""
        out = ET.Element("abi-corpus", self.attributes)
        for group, kind in (("elf-function-symbols", "func-type"),
                            ("elf-variable-symbols", "object-type")):
            symbols = self.symbols_of(kind)
            if symbols:
                ET.SubElement(out, group).extend(symbols)
        unit = ET.SubElement(out, "abi-instr", {
            "address-size": "64", "path": "include/sheaf", "language": "LANG_C_plus_plus_14"})
        unit.extend(self.parts())
        ET.indent(out, " ")
        return ET.tostring(out, encoding="unicode") + "\n"

    def all_symbols(self):
        """Also what else the same function is called: constructors have two names."""
        names = set(self.symbols)
        for symbol in self.elf_symbols:
            if symbol.get("name") in names:
                names.update(symbol.get("alias", "").split(","))
        return names

    def symbols_of(self, kind):
        names = self.all_symbols()
        return sorted((s for s in self.elf_symbols
                       if s.get("name") in names and s.get("type") == kind),
                      key=lambda s: s.get("name"))

    def parts(self):
        """Namespaces are put together."""
        found = ET.Element("namespace-decl")
        for unit in self.units:
            self.merge(unit, found)
        self.sort(found)
        return list(found)

    def merge(self, source, target):
        for child in list(source):
            if child.tag == "namespace-decl":
                name = child.get("name")
                same = target.find("namespace-decl[@name='%s']" % name)
                if same is None:
                    same = ET.SubElement(target, "namespace-decl", {"name": name})
                self.merge(child, same)
                continue
            self.prune(child)
            if self.is_needed(child):
                target.append(child)

    def sort(self, namespace):
        for child in list(namespace):
            if child.tag == "namespace-decl":
                self.sort(child)
                if len(child) == 0:
                    namespace.remove(child)
        namespace[:] = sorted(namespace, key=lambda c: (c.tag, c.get("name", ""), ET.tostring(c)))

    def is_needed(self, element):
        if element.tag == "member-type":
            return len(element) > 0
        if "id" not in element.attrib or element.get("id") in self.kept:
            return True
        return any(child.tag == "member-type" for child in element)

    def prune(self, element):
        for key in PLACE:
            element.attrib.pop(key, None)
        around = "id" in element.attrib and element.get("id") not in self.kept
        for child in list(element):
            self.prune(child)
            if not self.is_needed(child) or (around and child.tag != "member-type"):
                element.remove(child)
