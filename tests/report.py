#!/usr/bin/env python3
"""Adds up the results of a CTest run, and prints which tests failed, with the first lines of the
reason.

    report.py PART JUNIT RESULTS

JUNIT is the output of ctest --output-junit. A test program that ran as a whole has left its own
file in RESULTS (NAME.xml, as GoogleTest writes it); its tests count instead of the one test that
CTest saw. The last line is `passed failed`, for tests/run.sh.
"""

import collections
import os
import re
import sys
import xml.etree.ElementTree as ET

TELLING = re.compile(r": Failure|ERROR: |WARNING: ThreadSanitizer|runtime error: |^Traceback")
LINES = 40   # at most, for one test
NEAR = 14    # lines printed after a telling one
WIDTH = 300


class Sums:
    def __init__(self, part):
        self.part = part
        self.passed = 0
        self.failed = 0
        self.skipped = collections.Counter()  # by reason

    def fail(self, name, text):
        self.failed += 1
        print("failed in %s: %s" % (self.part, name))
        for line in telling_lines(text):
            print("  " + line[:WIDTH])


def telling_lines(text):
    """The lines that give a reason, and the lines after each."""
    found, near = [], 0
    for line in text.splitlines():
        if TELLING.search(line):
            near = NEAR
        if near > 0:
            found.append(line)
            near -= 1
    return found[:LINES]


def skip_reasons(output):
    return re.findall(r": Skipped\n(.*)", output)


def add_program(sums, name, path):
    """Counts the tests of a program, from GoogleTest's file. True if one of them failed."""
    any_failed = False
    for suite in ET.parse(path).getroot().iter("testsuite"):
        for case in suite.iter("testcase"):
            failures = case.findall("failure")
            if failures:
                any_failed = True
                text = "\n".join((f.text or f.get("message", "")) for f in failures)
                sums.fail("%s: %s.%s" % (name, case.get("classname"), case.get("name")),
                          ": Failure\n" + text)
            elif case.get("result") == "skipped":
                skipped = case.find("skipped")
                sums.skipped[skipped.get("message", "").split("\n")[-1]] += 1
            elif case.get("status") == "run":
                sums.passed += 1
    return any_failed


def add_case(sums, case, results):
    """Counts one test of CTest."""
    name, status = case.get("name"), case.get("status")
    output = case.findtext("system-out") or ""
    written = os.path.join(results, name + ".xml")
    if os.path.exists(written):
        try:
            explained = add_program(sums, name, written)
        except ET.ParseError:
            explained = False
        if status != "run" and not explained:
            sums.fail(name + " as a whole", output)
        return
    if status == "run":
        sums.passed += 1
    elif status == "disabled":
        pass
    elif status == "notrun" and (case.find("skipped") is not None and
                                 "SKIP_" in case.find("skipped").get("message", "")):
        sums.skipped.update(skip_reasons(output) or [output.strip().split("\n")[-1]])
    else:  # it failed, or could not be started
        sums.fail(name, output)


def main(arguments):
    part, junit, results = arguments
    sums = Sums(part)
    try:
        cases = list(ET.parse(junit).getroot().iter("testcase"))
    except (OSError, ET.ParseError):
        cases = []
    for case in cases:
        add_case(sums, case, results)
    if not cases:
        sums.fail("everything", "it left no report")
    for reason, count in sorted(sums.skipped.items()):
        print("skipped in %s: %d tests: %s" % (part, count, reason))
    print(sums.passed, sums.failed)


if __name__ == "__main__":
    main(sys.argv[1:])
