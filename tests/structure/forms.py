"""A member of a client, lock, list or watch that takes options has exactly one asynchronous form,
and that form has a test. Takes the files and yields "path:line: what is wrong" lines."""

import re

ASYNC = "include/sheaf/async.h"
TESTED = "tests/contract/every_call_test.cpp"

# Members that have no asynchronous form, or a different one.
BLOCKING = {"Client": {"cluster_servers", "watch"}, "ListPages": {"next"}}

CLASS = re.compile(r"^class (?:\[\[nodiscard\]\] )?(?:SHEAF_API )?(\w+)(?: final)? \{$")
# A member that takes options.
BLOCKS = re.compile(r"\b(\w+)\((?:[^;{}()]|\{\})*\bconst \w+Options& \w+", re.S)
CALLS = re.compile(r"\bCall<[^;{}()]*>\s+(\w+)\(", re.S)


def members(file, pattern):
    """(class, name, line) of each declaration in a public header that matches the pattern."""
    name, start, body = None, 0, []
    for number, line in enumerate(file.lines, 1):
        opened = CLASS.match(line)
        if opened:
            name, start, body = opened.group(1), number, []
        elif line.startswith("};") and name:
            text = "\n".join(re.sub(r"///?.*", "", each) for each in body)
            for found in pattern.finditer(text):
                yield name, found.group(1), start + 1 + text.count("\n", 0, found.start(1))
            name = None
        elif name:
            body.append(line)


def forms(files):
    by_path = {f.path: f for f in files}
    if ASYNC not in by_path:
        return
    calls = {(owner, name): line for owner, name, line in members(by_path[ASYNC], CALLS)}
    tested = "\n".join(by_path[TESTED].lines) if TESTED in by_path else ""
    for (owner, name), line in calls.items():
        if not re.search(r"\.%s\(" % name, tested):
            yield "%s:%d: %s has no row of %s::%s" % (ASYNC, line, TESTED, owner, name)
    for header in ("client", "list", "locker", "watch"):
        path = "include/sheaf/%s.h" % header
        if path not in by_path:
            continue
        for owner, name, line in members(by_path[path], BLOCKS):
            if name in BLOCKING.get(owner, ()) or ("Async" + owner, name) in calls:
                continue
            yield "%s:%d: %s::%s has no asynchronous form" % (path, line, owner, name)


FORM_RULES = [forms]
