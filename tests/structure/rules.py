"""The rules of the tree. Each takes the files and yields "path:line: what is wrong" lines."""

import itertools
import re

from source import declarations

MAX_COLUMNS = 100
MAX_FILE = 600
MAX_FUNCTION = 70
SYMBOLS = re.compile(r"tests/abi/symbols\w*\.txt")  # written by a program

# What a folder may include besides itself: the arrows of ARCHITECTURE.md, in full.
BELOW_CLUSTER = ["node", "socket", "protocol", "base"]
ARROWS = {
    "base": [],
    "protocol": ["base"],
    "socket": ["protocol", "base"],
    "node": ["socket", "protocol", "base"],
    "cluster": BELOW_CLUSTER,
    "store/engine": ["protocol", "base"],
    "store/server": ["store/engine", "protocol", "base"],
    "store/durable": ["store/engine", "protocol", "base"],
    "store/rights": ["store/engine", "protocol", "base"],
    "store/pipe": ["store/durable", "store/server", "store/engine", "socket", "protocol", "base"],
    "store/plugin": ["store/durable", "store/rights", "store/engine", "store/server", "protocol",
                     "base"],
    "client": ["cluster"] + BELOW_CLUSTER,
    # Libraries of their own on the public API.
    "extras/leader": ["base"],
    "extras/migration": ["base"],
    "extras/discovery": ["socket", "protocol", "base"],
    "cli": ["extras/migration", "extras/discovery", "client", "cluster", "store/engine",
            "store/server", "store/pipe"] + BELOW_CLUSTER,
    "include/sheaf": [],
    "samples": [],
}
PIPE_DOOR = "client/runtime/dialer_factory.cpp"  # the one file of client/ that may name store/pipe

# The rooms inside a layer: what a folder may include from its own layer besides itself. Files at
# the root of client/, cluster/, cli/ and protocol/resp/ combine its rooms; those at the root of
# socket/ are below its rooms.
def nested(folder, rooms, below=()):
    """The rooms of `folder`. Each may include those in its list, and everything in `below`. Files
    at the root of the folder may include all of them."""
    places = {folder + "/" + room: [folder + "/" + name for name in names] + list(below)
              for room, names in rooms.items()}
    return {**places, folder: list(places) + list(below)}


FEATURES = ["client/lock", "client/list", "client/watch", "client/compute"]
ROOMS = {
    "client/runtime": [],
    "client/calls": ["client/runtime"],
    **{feature: ["client/calls", "client/runtime"] for feature in FEATURES},
    "client": ["client/calls", "client/runtime"] + FEATURES,
    **nested("cluster", {
        "placement": [],
        "config": ["placement"],
        "nodes": ["placement"],
        "moving": ["nodes", "placement"],
        "hedging": ["moving", "nodes", "placement"],
    }),
    **nested("cli", {
        "system": [],
        "line": ["system"],
        "show": ["system"],
        "listing": ["line", "show", "system"],
        "migrate": ["listing", "line", "show", "system"],
        "commands": ["listing", "migrate", "line", "show", "system"],
        "dev": ["commands", "line", "show", "system"],
    }),
    **nested("extras/discovery", {"dns": []}),
    "socket": [],
    "socket/lane": ["socket"],
    "socket/uv": ["socket"],
    "socket/tls": ["socket"],
    "socket/dial": ["socket", "socket/tls", "socket/uv"],
    "protocol/memcached": ["protocol"],
    "protocol/mqtt5": ["protocol"],
    **nested("protocol/resp", {
        "wire": [],
        "cluster": ["wire"],
        "greeting": ["cluster", "wire"],
        "changes": ["greeting", "cluster", "wire"],
    }, ["protocol"]),
    "protocol/statestore": ["protocol", "protocol/mqtt5"],
}
# Public headers that are values, which any layer may use. The rest is for client/ and above.
VALUE_HEADERS = {"cluster_config", "cluster_server", "command_reply", "export", "feature",
                 "list_options", "log", "metrics", "move_only_function", "observer", "options",
                 "result", "stats", "value", "version"}
ABOVE_CLIENT = ("client/", "extras/", "cli/", "samples/", "tests/", "bench/", "include/")
# Public headers, and those of the library of its own that has its name in `extra`.
PUBLIC = re.compile(r"(?:include|extras/(?P<extra>\w+)/include)/(?P<name>sheaf/.*\.h)")

# Third parties: a header pattern, and the files that may include it.
THIRD_PARTIES = [
    (r"uv\.h|uv/.*", r"socket/uv/.*|tests/.*"),
    (r"xxhash\.h|xxh3\.h", r"base/hash\.cpp"),
    (r"nlohmann/.*", r"base/strict_json\.cpp|include/sheaf/json\.h|cli/show/[^/]*\.cpp|tests/.*"),
    (r"CLI/.*", r"cli/.*"),
    (r"mosquitto.*\.h|mqtt_protocol\.h", r"store/plugin/.*|bench/.*|tests/.*"),
    (r"openssl/.*", r"socket/tls/.*|cli/dev/certificates\.cpp|tests/.*"),
    (r"sqlite3\.h", r"store/durable/sqlite_.*|tests/.*"),
    (r"(gtest|gmock)/.*", r"tests/.*"),
    (r"(?:boost/)?asio(?:\.hpp|/.*)", r"include/sheaf/asio\.h|samples/asio_all\.cpp"
     r"|tests/contract/.*"),
    (r"benchmark/.*", r"bench/.*"),
    (r"hiredis/.*", r"bench/.*"),
]

COMMAND_LIST = "cli/command_list.cpp"

# Pure files take bytes and values and return bytes and values. Each says so in its first comment.
PURE_MARKER = "// Pure: no socket, clock, entropy, thread or callback."
# Every file in these folders has the marker.
ALL_PURE = ("extras/discovery/dns/", "protocol/", "store/engine/", "store/server/", "store/rights/")
# No test would notice a differently worded marker.
CLAIMS_PURE = re.compile(r"^//.*\bPure[.:](?! no socket, clock)")
IMPURE_HEADERS = re.compile(
    r"<(thread|mutex|shared_mutex|condition_variable|future|stop_token|semaphore|latch|barrier"
    r"|random|fstream|iostream|filesystem|ctime|time\.h|unistd\.h|netdb\.h|poll\.h|fcntl\.h"
    r"|signal\.h|csignal|errno\.h|sys/.*|netinet/.*|arpa/.*|linux/.*)>")
IMPURE_CODE = [
    (re.compile(r"\b(system|steady|high_resolution)_clock\b"), "asks a clock"),
    (re.compile(r"\b(gettimeofday|clock_gettime|time|read_clocks|read_monotonic)\s*\("),
     "asks a clock"),
    (re.compile(r"\b(random_device|getrandom)\b|\bentropy\s*\("), "draws entropy"),
    (re.compile(r"\bstd::(function|move_only_function)\b"), "takes a callback"),
    (re.compile(r"\bstd::(thread|jthread|mutex|atomic)\b"), "knows threads"),
    (re.compile(r"\bgetenv\s*\("), "reads the environment"),
]

UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME)\b")
MACHINE_PATH = re.compile(r"(?<![\w./$}])/(work|home|root|tmp)/\w")
SLEEP = re.compile(r"\b(sleep_for|sleep_until|usleep|nanosleep)\b|(?<![\w.])sleep\s*\(")


# State of an operating system thread, which many simulated threads share.
OF_A_THREAD = re.compile(r"\bthread_local\b|\bthis_thread::get_id\b|\bpthread_self\b")
MAY_NAME_THREADS = ("base/this_thread.cpp", "base/quiet_thread.cpp", "samples/", "tests/", "bench/")


def layer_of(path):
    parts = path.split("/")
    two = "/".join(parts[:2])
    return two if parts[0] in ("store", "extras") or two == "include/sheaf" else parts[0]


def is_public(path):
    return PUBLIC.fullmatch(path) is not None


def headers_of_extras(files):
    """By their name in an #include, the layer that each public header of a library of its own is
    in."""
    found = filter(None, (PUBLIC.fullmatch(f.path) for f in files))
    return {m.group("name"): "extras/" + m.group("extra") for m in found if m.group("extra")}


def room_of(path):
    """The innermost folder of the file that is a room."""
    room = path.rpartition("/")[0]
    while "/" in room and room not in ROOMS:
        room = room.rpartition("/")[0]
    return room


def arrows(files):
    """Includes follow the arrows: internal ones quoted from the root, public ones as <sheaf/>."""
    known = {f.path for f in files}
    extras = headers_of_extras(files)
    for file in filter(lambda f: f.is_cpp, files):
        layer = layer_of(file.path)
        for line, name in file.includes():
            where = "%s:%d: " % (file.path, line)
            target = name[1:-1]
            if name.startswith("<sheaf/"):
                stem = target[len("sheaf/"):-len(".h")]
                if stem not in VALUE_HEADERS and not file.path.startswith(ABOVE_CLIENT):
                    yield where + "%s is for client/ and above" % name
                extra = extras.get(target, layer)
                if layer != "samples" and not may_include(file.path, layer, extra):
                    yield where + "%s may not include %s of %s" % (layer, name, extra)
            elif name.startswith('"'):
                if target not in known:
                    yield where + "%s is no file of the tree, by its path from the root" % name
                elif not may_include(file.path, layer, layer_of(target)):
                    yield where + "%s may not include %s" % (layer, layer_of(target))
                elif not rooms_allow(file.path, target):
                    yield where + "%s may not include %s" % (room_of(file.path), room_of(target))


def may_include(path, layer, target):
    if target == layer or layer in ("tests", "bench"):
        return True
    if layer == "client" and target == "store/pipe":
        return path == PIPE_DOOR
    return target in ARROWS.get(layer, [])


def rooms_allow(path, target):
    room, other = room_of(path), room_of(target)
    if room == other or layer_of(path) != layer_of(target) or room not in ROOMS:
        return True
    return other in ROOMS[room]


def third_parties(files):
    """Only the few files that adapt a third party include its headers."""
    for file in filter(lambda f: f.is_cpp, files):
        for line, name in file.includes():
            for header, allowed in THIRD_PARTIES:
                if re.fullmatch(header, name[1:-1]) and not re.fullmatch(allowed, file.path):
                    yield "%s:%d: %s does not belong here" % (file.path, line, name)


def json_users(files):
    """nlohmann/json is slow to compile, so only three files of the product may name it."""
    users = [f.path for f in files if f.is_cpp and not f.path.startswith("tests/")
             and any(name.startswith("<nlohmann/") for _, name in f.includes())]
    if len(users) > 3:
        yield "%s:1: nlohmann/json in more than 3 files: %s" % (users[0], ", ".join(users))


def listed_commands(files):
    """Each row of a command is in the complete list: `CommandRow get_command()` is defined in the
    file of its command, and declared and called in the list."""
    listed = "".join(f.code for f in files if f.path == COMMAND_LIST)
    for file in files:
        if not file.path.startswith("cli/") or file.path == COMMAND_LIST:
            continue
        for found in re.finditer(r"^CommandRow (\w+_command)\(\) \{", file.code, re.M):
            if len(re.findall(r"\b%s\(\)" % found.group(1), listed)) < 2:
                line = file.code.count("\n", 0, found.start()) + 1
                yield "%s:%d: %s() is not in %s" % (file.path, line, found.group(1), COMMAND_LIST)


def pure_files(files):
    """A file with the marker, or whose header has it, has no socket, clock, entropy, thread or
    callback, and includes nothing that has. In folders that are pure as a whole, every file has
    it."""
    headers = {f.path: f for f in files if f.path.endswith(".h")}
    for file in filter(lambda f: f.is_cpp, files):
        marked = PURE_MARKER in first_comment(file)
        for number, text in enumerate(file.lines, 1):
            if CLAIMS_PURE.match(text):
                yield "%s:%d: say it as %s" % (file.path, number, PURE_MARKER)
        if not marked and PURE_MARKER in file.lines:
            yield "%s:1: the marker of pure files belongs into the first comment" % file.path
        if not marked and file.path.startswith(ALL_PURE):
            yield "%s:1: no marker of pure files: %s" % (file.path, PURE_MARKER)
        header = headers.get(file.path.removesuffix(".cpp") + ".h")
        if marked or header is not None and PURE_MARKER in first_comment(header):
            yield from impure_includes(file)
            yield from impure_code(file)
        if marked:
            yield from includes_of_impure(file, headers)


def first_comment(file):
    """The lines of the comment that a file begins with, after #pragma once."""
    lines = [text for text in file.lines if text and text != "#pragma once"]
    return list(itertools.takewhile(lambda text: text.startswith("//"), lines))


def impure_includes(file):
    for line, name in file.includes():
        if IMPURE_HEADERS.match(name):
            yield "%s:%d: pure code includes %s" % (file.path, line, name)


def impure_code(file):
    for number, text in enumerate(file.code.split("\n"), 1):
        for pattern, what in IMPURE_CODE:
            if pattern.search(text):
                yield "%s:%d: pure code %s" % (file.path, number, what)


def includes_of_impure(file, headers):
    for line, name in file.includes():
        header = headers.get(name[1:-1])
        if header is None or PURE_MARKER in first_comment(header):
            continue
        if layer_of(header.path) != "base" or any(impure_includes(header)):
            yield "%s:%d: pure code includes %s, which is not" % (file.path, line, name)


def sizes(files):
    """Lines within 100 columns, files within 600 lines, functions within 70."""
    for file in files:
        if file.path.endswith((".md", ".json")) or file.path == "LICENSE":
            continue
        if SYMBOLS.fullmatch(file.path):
            continue
        count = len(file.lines) - 1
        if count > MAX_FILE:
            yield "%s:%d: longer than %d lines" % (file.path, count, MAX_FILE)
        for number, text in enumerate(file.lines, 1):
            if len(text) > MAX_COLUMNS:
                yield "%s:%d: %d columns" % (file.path, number, len(text))
        if file.is_cpp:
            yield from function_lengths(file)


def function_lengths(file):
    try:
        found = declarations(file.code)
    except ValueError as error:
        yield "%s:1: %s" % (file.path, error)
        return
    for function in (d for d in found if d.kind == "function" and d.body):
        length = function.last - function.first + 1
        if length > MAX_FUNCTION:
            yield "%s:%d: function of %d lines" % (file.path, function.first, length)


def text_rules(files):
    """#pragma once, no unfinished work, no path of a machine, no tab, no sleep in a test."""
    for file in files:
        if file.path.endswith(".h") and not file.text.startswith("#pragma once\n"):
            yield "%s:1: does not begin with #pragma once" % file.path
        if not file.text.endswith("\n") or file.text.endswith("\n\n"):
            yield "%s:%d: does not end with one line end" % (file.path, len(file.lines))
        for number, text in enumerate(file.lines, 1):
            where = "%s:%d: " % (file.path, number)
            if UNFINISHED.search(text):
                yield where + "unfinished work belongs into an issue"
            if MACHINE_PATH.search(text):
                yield where + "a path of one machine"
            if "\t" in text:
                yield where + "tab"
            if text != text.rstrip():
                yield where + "blanks at the end"
            if file.is_cpp and file.path.startswith("tests/") and SLEEP.search(text):
                yield where + "a test waits for events, it does not sleep"


TORN = re.compile(r"\s*///?( +)\S{1,12}$")


def torn_comments(files):
    """No comment has one short word alone on a line, as formatters leave it."""
    for file in filter(lambda f: f.is_cpp, files):
        for number in range(1, len(file.lines) - 1):
            above, text, below = file.lines[number - 1:number + 2]
            if (TORN.match(text) and len(above) > 90 and above.lstrip().startswith("//")
                    and not text.endswith((".", ":")) and re.match(r"\s*///? +\S", below)
                    and len(text) - len(text.lstrip("/ ")) != len(below) - len(below.lstrip("/ "))):
                yield "%s:%d: a torn comment" % (file.path, number + 1)


def thread_state(files):
    """State that the product keeps for each thread is in base/this_thread.h, which the simulator
    replaces."""
    for file in files:
        if not file.is_cpp or file.path.startswith(MAY_NAME_THREADS):
            continue
        for number, text in enumerate(file.code.split("\n"), 1):
            if OF_A_THREAD.search(text):
                yield "%s:%d: use this_thread() of base/this_thread.h" % (file.path, number)


def dead_headers(files):
    """Every internal header is included by some file."""
    used = {name[1:-1] for f in files if f.is_cpp for _, name in f.includes()}
    for file in files:
        if file.path.endswith(".h") and not is_public(file.path):
            if file.path not in used:
                yield "%s:1: nobody includes this header" % file.path


def dead_sources(files, compiled, skipped=()):
    """A target compiles every .cpp. `skipped` are folders whose option is off."""
    for file in files:
        if file.path.endswith(".cpp") and file.path not in compiled:
            if not file.path.startswith(tuple(skipped)):
                yield "%s:1: no target compiles this file" % file.path


UNDOCUMENTED = re.compile(r"(~|friend\b|namespace\b|using namespace\b|static_assert)"
                          r"|.*=\s*(default|delete)$|.*\b(operator\b|override$)", re.S)


def public_comments(files):
    """Every public type, field, enumerator and (group of) function has a /// comment."""
    for file in files:
        if not is_public(file.path):
            continue
        if "/// @file" not in file.text:
            yield "%s:1: no /// @file comment" % file.path
        for item in declarations(file.code):
            head = item.head
            if not item.public or UNDOCUMENTED.match(head) or is_constructor(item):
                continue
            if head.startswith(("class ", "struct ", "enum ")) and not item.body:
                continue  # a forward declaration
            if not documented(file, item):
                yield "%s:%d: no /// comment: %s" % (file.path, item.first, head.split("\n")[0])


def is_constructor(item):
    return item.kind == "function" and re.match(
        r"(template\s*<[^>]*>\s*)?(explicit\s+|constexpr\s+)*[A-Z]\w*\s*\(", item.head)


def documented(file, item):
    if any("///<" in file.lines[n] for n in range(item.first - 1, item.last)):
        return True
    number = item.first - 2
    grouped = item.kind == "function" or item.head.startswith("using ")
    while grouped and file.lines[number].strip() and not file.lines[number].endswith(("{", ":")):
        if file.lines[number].lstrip().startswith("///"):
            return True
        number -= 1  # a group under one comment
    return file.lines[number].lstrip().startswith("///")


# What a layer's library may link; "objects" are those of the same folder.
LINKS = {name.replace("/", "_"): [a.replace("/", "_") for a in below]
         for name, below in ARROWS.items()}
LINKS["client"] = LINKS["client"] + ["store_pipe"]
# Libraries of their own call Client, and link the library that has it.
EXTRAS = [name[len("extras/"):] for name in ARROWS if name.startswith("extras/")]
for extra in EXTRAS:
    LINKS["extras_" + extra].append("client")
FOREIGN_LINKS = {"base": ["SHEAF_XXHASH", "nlohmann_json"], "socket": ["SHEAF_UV", "OpenSSL"],
                 "store_durable": ["SHEAF_SQLITE"],
                 "store_plugin": [], "cli": ["CLI11", "nlohmann_json", "OpenSSL"]}


def link_targets(links):
    """`links`: lines "layer: linked targets". Libraries follow the same arrows as includes."""
    for number, text in enumerate(links.splitlines(), 1):
        layer, _, targets = text.partition(":")
        for target in targets.replace(";", " ").split():
            if not may_link(layer, target):
                yield "links:%d: %s may not link %s" % (number, layer, target)


def may_link(layer, target):
    if target in ("Threads::Threads", "sheaf_flags", "sheaf_places"):
        return True
    if target == "sheaf":
        return layer == "cli" or layer.startswith("extras_")
    if target in ["sheaf_cli_parts"] + ["sheaf_" + extra for extra in EXTRAS]:
        return layer == "cli"
    if target.startswith("sheaf_"):
        return target[len("sheaf_"):] in LINKS.get(layer, []) + [layer]
    return any(name in target for name in FOREIGN_LINKS.get(layer, []))


TREE_RULES = [arrows, third_parties, json_users, listed_commands, pure_files, sizes, text_rules,
              thread_state, torn_comments, dead_headers, public_comments]
