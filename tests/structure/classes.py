"""Rules about classes and about the kinds of endpoint. Each takes the files and yields
"path:line: what is wrong" lines."""

import re

from source import PRODUCT, declarations

MAX_MEMBERS = 35

# The table of the kinds of endpoint: the only code that may ask which kind it has.
KIND_TABLE = re.compile(r"protocol/endpoint_kinds[^/]*")
KIND_COMPARED = re.compile(r"[=!]=\s*(?:\w+::)*EndpointKind::\w+"
                           r"|\bEndpointKind::\w+\s*[=!]="
                           r"|\bcase\s+(?:\w+::)*EndpointKind::\w+"
                           r"|\busing\s+enum\s+(?:\w+::)*EndpointKind\b")

# Rules that only tests switch off are fields of a struct XControls; other code stores one under the
# name `controls`.
CONTROL_SET = re.compile(r"\b\w*[cC]ontrols_?\s*(?:\.|->)\s*\w+\s*=(?!=)"
                         r"|\.controls\s*=|\b\w+Controls\s*\{\s*\.")

# Booleans that a class may have in addition to its state. More of them are a state machine that no
# switch and no table shows: most combinations cannot occur, and nothing says which.
MAX_BOOLEANS = 4

# A boolean that changes: a private member, so not an option, a packet or a result, whose members
# end without `_`.
BOOLEAN = re.compile(r"(?:mutable\s+)?(?:bool|std::(?:atomic|optional)<bool>|std::atomic_bool)"
                     r"\s+(\w+_\b(?!\s*\().*)", re.S)

MEMBER = re.compile(r"((?:\w+(?:<[^<>]*>)?::)+)(?:~?\w+|operator.*)\s*$", re.S)


def product(files):
    return [f for f in files if f.is_cpp and f.path.startswith(PRODUCT)]


def member_functions(files):
    """(class with its scope, file, declaration) of every member function, whether it is declared in
    its class or defined outside."""
    for file in product(files):
        try:
            found = declarations(file.code)
        except ValueError:
            continue  # the rule about sizes reports it
        for item in (d for d in found if d.kind == "function"):
            scope = "::".join(item.scope)
            outside = MEMBER.search(item.head.split("(")[0])
            if item.in_class:
                yield scope, file, item
            elif item.body and outside:
                name = re.sub(r"<[^<>]*>", "", outside.group(1))[:-len("::")]
                yield scope + "::" + name, file, item


def class_sizes(files):
    """A class has at most 35 member functions."""
    count, first = {}, {}
    for name, file, item in member_functions(files):
        if item.in_class:
            count[name] = count.get(name, 0) + 1
            first.setdefault(name, "%s:%d: " % (file.path, item.first))
    for name in (n for n in count if not n.endswith("::")):  # those of unnamed structs
        if count[name] > MAX_MEMBERS:
            yield first[name] + "%s has %d member functions; at most %d are allowed" % (
                name, count[name], MAX_MEMBERS)


def class_files(files):
    """The members of a class are defined in its header and in one .cpp."""
    paths = {}
    for name, file, _ in member_functions(files):
        if file.path.endswith(".cpp"):
            paths.setdefault(name, set()).add(file.path)
    for name, where in sorted(paths.items()):
        if len(where) > 1:
            yield "%s:1: %s is defined in %s" % (min(where), name, ", ".join(sorted(where)))


def booleans(files):
    """A class has one enum for its phase, and at most four more booleans."""
    count, first = {}, {}
    for file in product(files):
        try:
            found = declarations(file.code)
        except ValueError:
            continue  # the rule about sizes reports it
        for item in (d for d in found if d.in_class):
            member = BOOLEAN.match(item.head)
            if member:
                name = (file.path, "::".join(item.scope))
                names = re.findall(r"(?:^|,)\s*\w+_\b", member.group(1))
                count[name] = count.get(name, 0) + len(names)
                first.setdefault(name, item.first)
    for (path, name), number in count.items():
        if number > MAX_BOOLEANS:
            yield "%s:%d: %s has %d booleans; at most %d are allowed in addition to its state" % (
                path, first[path, name], name, number, MAX_BOOLEANS)


def kind_comparisons(files):
    """Only the table of the kinds compares an endpoint's kind."""
    for file in product(files):
        if KIND_TABLE.fullmatch(file.path):
            continue
        for match in KIND_COMPARED.finditer(file.code):
            line = file.code.count("\n", 0, match.start()) + 1
            yield "%s:%d: only the table of endpoint kinds compares them" % (file.path, line)


def kinds_of_tests(files):
    """tests/toy adds a kind of endpoint with a folder and a row; the product does not know it."""
    for file in product(files):
        for number, text in enumerate(file.lines, 1):
            if re.search(r"\btoys?\b", text, re.I):
                yield "%s:%d: only tests/toy knows this kind of endpoint" % (file.path, number)


def controls(files):
    """Only tests switch a rule off, to show what is lost without it."""
    for file in product(files):
        for match in CONTROL_SET.finditer(file.code):
            line = file.code.count("\n", 0, match.start()) + 1
            yield "%s:%d: only tests set a control" % (file.path, line)


RULES = [class_sizes, class_files, booleans, kind_comparisons, kinds_of_tests, controls]
