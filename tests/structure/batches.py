"""Rules that exist because sources are compiled in batches (cmake/SheafUnity.cmake)."""

import re

import source

NOT_IN_BATCHES = ("bench/", "samples/", "tests/fuzz/", "tests/consumer/")
TYPE = re.compile(r"(?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+(?:SHEAF_\w+\s+)?(\w+)"
                  r"|using\s+(\w+)\s*=\s*(.*)", re.S)


def types(file):
    """(line, name, namespace, alias) of each type in a namespace; `alias` is an alias's meaning."""
    for item in source.declarations(file.code):
        found = TYPE.match(source.bare_head(item.head)) if item.kind == "type" else None
        if found and all(not name or name[0].islower() for name in item.scope):
            yield item.first, found.group(1) or found.group(2), item.scope, found.group(3)


def hidden_types(files):
    """No type in an unnamed namespace has the name of a type that a header declares in an enclosing
    namespace: later sources in a batch would get it instead of the header's."""
    declared = {}
    for file in (f for f in files if f.path.endswith(".h")):
        for _, name, scope, alias in types(file):
            declared.setdefault(name, []).append((scope, alias, file.path))
    for file in (f for f in files if f.path.endswith(".cpp")):
        if file.path.startswith(NOT_IN_BATCHES):
            continue
        for line, name, scope, alias in types(file):
            if "" not in scope:
                continue
            around = scope[:scope.index("")]
            for other, other_alias, path in declared.get(name, []):
                if other == around[:len(other)] and (alias is None or alias != other_alias):
                    yield "%s:%d: %s hides that of %s" % (file.path, line, name, path)


RULES = [hidden_types]
