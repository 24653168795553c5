"""An operation is complete. A member of a client, lock, list or watch that takes options has
exactly one asynchronous form, a row in the table of all calls, a test of its own in the contract,
and its place in the changelog. A session has a test for each verb that it sends, a procedure has
one, and the program's tests run each command. Each rule takes the files and yields
"path:line: what is wrong" lines."""

import re

ASYNC = "include/sheaf/async.h"
TESTED = "tests/contract/every_call_test.cpp"
CHANGELOG = "CHANGELOG.md"

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


def contract_tests(files):
    """The table of all calls compares forms; what an operation does is for a test of its own."""
    tests = [f for f in files if f.path.startswith("tests/contract/") and f.path != TESTED]
    contract = "\n".join(f.code for f in tests if f.is_cpp)
    for file in (f for f in files if f.path == ASYNC):
        for owner, name, line in members(file, CALLS):
            if not re.search(r"\b%s\(" % name, contract):
                yield "%s:%d: tests/contract has no test of %s::%s" % (ASYNC, line, owner, name)


def in_changelog(files):
    log = "".join(f.text for f in files if f.path == CHANGELOG)
    for file in (f for f in files if f.path == ASYNC):
        for owner, name, line in members(file, CALLS):
            if not re.search(r"\b%s\b" % name, log):
                yield "%s:%d: %s does not name %s::%s" % (ASYNC, line, CHANGELOG, owner, name)


def verbs_of_sessions(files):
    """A verb that a session sends has a test with the bytes."""
    for file in files:
        folder = re.match(r"protocol/(\w+)/.*\.cpp$", file.path)
        if not folder:
            continue
        tests = "tests/protocol/%s/" % folder.group(1)
        tested = "".join(f.code for f in files if f.path.startswith(tests) and f.is_cpp)
        for verb in sorted(set(re.findall(r"\bcase Verb::(\w+):", file.code))):
            if not re.search(r"\bVerb::%s\b" % verb, tested):
                yield "%s:1: %s has no test of Verb::%s" % (file.path, tests, verb)


def procedures(files):
    """A test plays the other side of each procedure: it includes its header."""
    tests = [f for f in files if f.path.startswith("tests/client/")]
    included = {name for f in tests for _, name in f.includes()}
    for file in (f for f in files if f.path.startswith("client/") and f.path.endswith(".h")):
        found = re.search(r"^class (\w+)[^;{]*: public (?:calls::)?Procedure\b", file.code, re.M)
        if found and '"%s"' % file.path not in included:
            line = file.code.count("\n", 0, found.start()) + 1
            yield "%s:%d: tests/client has no test of %s" % (file.path, line, found.group(1))


def commands_of_the_program(files):
    """A test runs each command, by the last word of its name."""
    tests = "".join(f.text for f in files if re.match(r"tests/cli/.*\.py$", f.path))
    for file in (f for f in files if f.path.startswith("cli/") and f.path.endswith(".cpp")):
        for found in re.finditer(r'\{\.name = "([^"]+)"', file.text):
            if '"%s"' % found.group(1).split()[-1] not in tests:
                line = file.text.count("\n", 0, found.start()) + 1
                yield "%s:%d: tests/cli does not run %s" % (file.path, line, found.group(1))


FORM_RULES = [forms, contract_tests, in_changelog, verbs_of_sessions, procedures,
              commands_of_the_program]
