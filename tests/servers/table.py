#!/usr/bin/env python3
"""Writes the table "Servers" of docs/compatibility.md from the reports of test runs.

    table.py PAGE [--system NAME] [--program NAME=FILE]... REPORT...
    table.py --check PAGE

A REPORT is a JUnit file of one GoogleTest program (tests/run.sh leaves build/dev/results/*.xml; by
hand `--gtest_output=xml:resp.xml`: the file's name is the name of the program, or of a CTest test
that runs it: resp.on_valkey.xml) or of CTest (`ctest --output-junit`), for tests in Python.
Each server program that is installed here is asked for its version, and what the reports say about
its suites becomes its row. Other rows, and suites of the same row that no report has, are kept, so
runs on several machines add up. --program gives a file other than the one in PATH, --system a name
for the machine other than its own. --check fails unless the table is as this script would write it.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True

BEGIN = "<!-- servers: written by tests/servers/table.py -->"
END = "<!-- end of servers -->"
HEADER = ["server", "version", "on", "tests passed", "what differs"]

# How each server reports its version, in the order of the table.
SERVERS = {
    "Mosquitto": ("mosquitto", ["-h"], r"mosquitto version (\S+)"),
    "memcached": ("memcached", ["-V"], r"memcached (\S+)"),
    "Redis": ("redis-server", ["--version"], r"Redis server v=(\S+)"),
    "Valkey": ("valkey-server", ["--version"], r"Valkey server v=(\S+)"),
    "Garnet": ("garnet-server", ["--version"], r"GarnetServer ([0-9.]+)"),
}

# (server, suite, tests by their names in CTest); the first matching row counts. A passed test
# counts as many tests as its output announces at its beginning, because CTest keeps no more of the
# output.
SUITES = [
    ("Valkey", "contract", r"contract\.on_valkey\b|contract\..*/Valkey"),
    ("Valkey", "live", r"live\.on_valkey\b|live\.(ValkeyMigrations|.*/Valkey$)"),
    ("Valkey", "protocol", r"resp\.on_valkey\b"),
    ("Valkey", "cluster", r"(contract|live)\.on_a_cluster_of_valkey\b"),
    ("Valkey", "program", r"cli\.dev_valkey$"),
    ("Garnet", "cluster", r"(contract|live)\.on_a_cluster_of_garnet\b"),
    ("Garnet", "live", r"live\..*Garnet"),
    ("Garnet", "protocol", r"resp\.Garnet"),
    ("Garnet", "program", r"cli\.dev_garnet$"),
    ("Redis", "contract", r"contract\..*/Redis"),
    ("Redis", "cluster", r"(contract|live)\.on_a_cluster_of_redis\b"),
    ("Redis", "live", r"live(_tls)?\..*(Redis|rediss|TlsCluster\b)"),
    ("Redis", "protocol", r"resp\."),
    ("Redis", "program", r"cli\.on_redis$"),
    ("memcached", "contract", r"contract\..*/Memcached"),
    ("memcached", "live", r"(live|live_tls)\..*(Memcached|ElastiCache|MovingCache|memcached"
                          r"|SharedFleet|ServerFollower|FollowedFleet|NamedNodes"
                          r"|ExtraConnections)"),
    ("memcached", "migration", r"migration\."),
    ("memcached", "protocol", r"memcached\."),
    ("memcached", "program", r"cli\.on_memcached$"),
    ("Mosquitto", "contract", r"contract\..*(/Brokers|WatchBroker)"),
    ("Mosquitto", "plugin", r"plugin\."),
    ("Mosquitto", "durable", r"live\..*Broker(Data|Kills)\b"),
    ("Mosquitto", "rights", r"(live|live_tls)\..*Rights"),
    ("Mosquitto", "samples", r"(samples\.[A-Z]|deploy$)"),
    ("Mosquitto", "live", r"(live|live_tls)\..*(Broker|Tokens)"),
    ("Mosquitto", "program", r"cli\.on_brokers$"),
]

# What differs: (server, from this version, before that one, what). None: no bound.
FACTS = [
    ("Mosquitto", None, "2.0.15", "Frees a payload that a plugin replaced, and nothing else."),
    ("Mosquitto", "2.0.15", None, "Frees a payload, a topic and properties that a plugin "
                                  "replaced."),
    ("memcached", None, None, "No difference was seen."),
    ("Redis", None, "7.2", "SHARDS has a shard for each primary."),
    ("Redis", "8.0", None, "SHARDS has two primaries in one shard while one that was replaced is "
                           "away, and not its slots."),
    ("Redis", None, "8.4", "No IFEQ: changes by version are scripts."),
    ("Valkey", None, None, "NOSCRIPT ends after its first sentence. SHARDS has two primaries in "
                           "one shard while one that was replaced is away."),
    ("Valkey", "8.1", "9.0", "SET with IFEQ, no DELIFEQ."),
    ("Valkey", "9.0", None, "SET with IFEQ, DELIFEQ. Slots move atomically. A cluster may have "
                            "several databases."),
    ("Garnet", None, None, "No notifications of keys, scripts off: watches poll, changes are "
                           "transactions; see wire/redis.md."),
]


def version_key(version):
    return [int(part) for part in re.findall(r"\d+", version)]


def differences(server, version):
    here = version_key(version)
    return " ".join(what for name, first, before, what in FACTS if name == server and
                    (first is None or version_key(first) <= here) and
                    (before is None or here < version_key(before)))


class Tally:
    """The results of one suite on one server."""

    def __init__(self, passed=0, failed=0):
        self.passed = passed
        self.failed = failed

    def text(self):
        return "%d" % self.passed + (" (%d failed)" % self.failed if self.failed else "")


# ---- the page

def parse_tallies(cell):
    tallies = {}
    for part in filter(None, cell.split(", ")):
        found = re.fullmatch(r"(\w+) (\d+)(?: \((\d+) failed\))?", part)
        if not found:
            raise ValueError("an odd count of tests: " + part)
        tallies[found[1]] = Tally(int(found[2]), int(found[3] or 0))
    return tallies


def parse_rows(block):
    """{(server, version): (system, tallies)} from the lines between the markers."""
    rows = {}
    for line in block.strip().split("\n")[2:]:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != len(HEADER):
            raise ValueError("a row of %d cells: %s" % (len(cells), line))
        server, version, system, tests = cells[:4]
        rows[server, version] = (system, parse_tallies(tests))
    return rows


def render(rows):
    order = list(SERVERS)
    suites = []
    for _, suite, _ in SUITES:
        if suite not in suites:
            suites.append(suite)
    lines = ["| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER)]
    for server, version in sorted(rows, key=lambda row: (order.index(row[0]), version_key(row[1]))):
        system, tallies = rows[server, version]
        tests = ", ".join("%s %s" % (suite, tallies[suite].text()) for suite in suites
                          if suite in tallies)
        cells = [server, version, system, tests, differences(server, version)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def split(page):
    """The text before the table, the table, the text after it."""
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        raise ValueError("the page needs each of the two markers once")
    before, rest = page.split(BEGIN + "\n")
    block, behind = rest.split(END)
    return before + BEGIN + "\n", block, END + behind


def problem_of(page):
    """Why the page's table is not as this script would write it; empty if it is."""
    try:
        _, block, _ = split(page)
        wanted = "\n" + render(parse_rows(block)) + "\n"
    except ValueError as error:
        return str(error)
    if block == wanted:
        return ""
    return "the table has another form than tests/servers/table.py writes:\n" + wanted


# ---- the reports

def tests_of(path):
    """(name, outcome, output) of each test in a report, named as in CTest."""
    root = ElementTree.parse(path).getroot()
    stem = os.path.splitext(os.path.basename(path))[0]
    is_ctest = root.tag == "testsuite"
    for case in root.iter("testcase"):
        name = case.get("name") if is_ctest else \
            "%s.%s.%s" % (stem, case.get("classname"), case.get("name"))
        status = case.get("status")
        skipped = case.find("skipped") is not None or status in ("notrun", "disabled")
        if case.find("failure") is not None or status == "fail":
            outcome = "failed"
        else:
            outcome = "skipped" if skipped else "passed"
        yield name, outcome, case.findtext("system-out") or ""


def suite_of(name):
    for server, suite, pattern in SUITES:
        if re.match(pattern, name):
            return server, suite
    return None


def count(reports):
    """{server: {suite: Tally}}"""
    found = {}
    for path in reports:
        for name, outcome, output in tests_of(path):
            place = suite_of(name)
            if place is None or outcome == "skipped":
                continue
            tally = found.setdefault(place[0], {}).setdefault(place[1], Tally())
            many = re.search(r"^\[=+\] Running (\d+) tests? from", output, re.MULTILINE)
            if outcome == "failed":
                tally.failed += 1
            else:
                tally.passed += int(many[1]) if many else 1
    return found


# ---- this machine

def this_system():
    try:
        with open("/etc/os-release", encoding="utf-8") as file:
            names = dict(line.rstrip().split("=", 1) for line in file if "=" in line)
    except OSError:
        return "an unknown system"
    return names.get("PRETTY_NAME", "an unknown system").strip('"')


def version_of(server, programs):
    name, arguments, pattern = SERVERS[server]
    named = programs.get(name) or os.environ.get(name.upper().replace("-", "_"))
    path = named or shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")
    if not path:
        return None
    done = subprocess.run([path, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=60, check=False)
    found = re.search(pattern, done.stdout.decode(errors="replace"))
    return found[1] if found else None


def update(page, system, versions, counted):
    """The page with the rows of the counted tests."""
    before, block, behind = split(page)
    rows = parse_rows(block) if block.strip() else {}
    for server, tallies in counted.items():
        if versions.get(server) is None:
            continue
        _, known = rows.get((server, versions[server]), ("", {}))
        rows[server, versions[server]] = (system, {**known, **tallies})
    return before + "\n" + render(rows) + "\n" + behind


def main():
    parser = argparse.ArgumentParser(description="Writes the table of servers.")
    parser.add_argument("page")
    parser.add_argument("reports", nargs="*")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--system", default=this_system())
    parser.add_argument("--program", action="append", default=[])
    options = parser.parse_intermixed_args()
    with open(options.page, encoding="utf-8") as file:
        page = file.read()
    if options.check:
        problem = problem_of(page)
        if problem:
            print("%s: %s" % (options.page, problem))
        return 1 if problem else 0
    programs = dict(word.split("=", 1) for word in options.program)
    versions = {server: version_of(server, programs) for server in SERVERS}
    written = update(page, options.system, versions, count(options.reports))
    with open(options.page, "w", encoding="utf-8") as file:
        file.write(written)
    return 0


if __name__ == "__main__":
    sys.exit(main())
