"""The rules of docs/security.md: its table names every rule with tests that exist, and what the
code and the documentation can show is true."""

import re

PAGE = "docs/security.md"
RULES = ["S%d" % number for number in range(1, 31)]
ROW = re.compile(r"^\| (S\d+) \| ([^|]+) \| ([^|]+) \|$", re.M)
NAME = re.compile(r"`([A-Za-z_]\w*)\.(\w+)`")
TEST_MACRO = re.compile(r"^\s*(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)", re.M)

# Tests that CMake names, and the place that shows it: the folder's file, and the call.
NAMED_BY_CMAKE = {
    "structure": ("tests/structure/CMakeLists.txt", r"structure_test\(%s\b"),
    "consumer": ("tests/CMakeLists.txt", r"foreach\(mode IN ITEMS[^)]*\b%s\b"),
    "cli": ("tests/cli/cli_tests.cmake", r"\b%s\b"),
    "samples": ("tests/cli/cli_tests.cmake", r"\b%s\b"),
}

# Rule S24. The program may read its environment, the library only where its user asks for that.
FORBIDDEN_CALLS = re.compile(
    r"(?<![\w.>])(?:(?:::|std::)?(getenv|secure_getenv|dlopen|system|popen)"
    r"|(::listen|::bind|uv_listen|uv_\w+_bind))\s*\(")
MAY_READ_THE_ENVIRONMENT = "cluster/config/cluster_config.cpp"  # from_environment()
LIBRARY = ("base/", "protocol/", "socket/", "node/", "cluster/", "client/", "store/", "extras/",
           "include/")

# Rule S28: the places where users read about tokens.
TOKEN_WORDS = {"include/sheaf/value.h": "Not a secret and no proof of identity",
               "docs/locks.md": "no secret and no proof of identity"}


def tests_of(files):
    found = set()
    for file in files:
        if file.path.startswith("tests/") and file.path.endswith((".cpp", ".h")):
            found.update("%s.%s" % match for match in TEST_MACRO.findall(file.text))
    return found


def exists(suite, name, tests, texts):
    if suite == "fuzz":
        return "tests/fuzz/targets/%s.cpp" % name in texts or (
            name == "planted" and "tests/fuzz/planted.sh" in texts)
    if suite in NAMED_BY_CMAKE:
        path, call = NAMED_BY_CMAKE[suite]
        return re.search(call % name, texts.get(path, "")) is not None
    return "%s.%s" % (suite, name) in tests


def table(files):
    """Every rule has its row, once and in order, and every test in the row exists."""
    texts = {file.path: file.text for file in files}
    if PAGE not in texts:
        yield "%s:1: there is no such page" % PAGE
        return
    tests = tests_of(files)
    rows = ROW.findall(texts[PAGE])
    names = [name for name, _, _ in rows]
    if names != RULES:
        wrong = [rule for rule in RULES if names.count(rule) != 1] or ["the order"]
        yield "%s:1: the table is to have S1 to S30, each once: see %s" % (PAGE, ", ".join(wrong))
    for rule, words, proofs in rows:
        if not words.strip():
            yield "%s:1: %s says nothing" % (PAGE, rule)
        named = NAME.findall(proofs)
        if not named:
            yield "%s:1: %s names no test" % (PAGE, rule)
        for suite, name in named:
            if not exists(suite, name, tests, texts):
                yield "%s:1: %s names %s.%s, and there is no such test" % (PAGE, rule, suite, name)


def calls(files):
    """S24: nothing listens, loads code or reads the environment, except for one function."""
    for file in files:
        if not file.is_cpp or not file.path.startswith(LIBRARY):
            continue
        for match in FORBIDDEN_CALLS.finditer(file.code):
            if match.group(1) == "getenv" and file.path == MAY_READ_THE_ENVIRONMENT:
                continue
            line = file.code.count("\n", 0, match.start()) + 1
            yield "%s:%d: S24: the library calls %s()" % (file.path, line,
                                                           match.group(1) or match.group(2))


def tokens(files):
    """S28: a token is not a secret, and users are told so."""
    texts = {file.path: " ".join(file.text.split()) for file in files}
    for path, words in TOKEN_WORDS.items():
        if words not in texts.get(path, ""):
            yield "%s:1: S28: the words \"%s\" are missing" % (path, words)


RULES_OF_SECURITY = [table, calls, tokens]
