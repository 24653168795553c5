#!/usr/bin/env python3
"""The output of report.py for runs that passed, failed, crashed and left nothing."""

import contextlib
import io
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

import report  # noqa: E402

PROGRAM = """<testsuites><testsuite name="A">
<testcase name="Good" status="run" result="completed" classname="A" />
<testcase name="Left" status="run" result="skipped" classname="A"><skipped
  message="a.cpp:2&#x0A;no server here" /></testcase>
%s</testsuite></testsuites>"""
BAD = """<testcase name="Bad" status="run" result="completed" classname="A"><failure
  message="a.cpp:3&#x0A;why"><![CDATA[a.cpp:3
why]]></failure></testcase>"""


def case(name, status, inside=""):
    return '<testcase name="%s" status="%s">%s</testcase>' % (name, status, inside)


def output(text):
    return "<system-out>%s</system-out>" % text


class Report(unittest.TestCase):
    def lines(self, cases, **programs):
        """The output for these CTest tests and the files that programs left."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in programs.items():
                with open(os.path.join(folder, name + ".xml"), "w", encoding="utf-8") as file:
                    file.write(text)
            junit = os.path.join(folder, "tests.xml")
            if cases:
                with open(junit, "w", encoding="utf-8") as file:
                    file.write("<testsuite>%s</testsuite>" % "".join(cases))
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                report.main(["dev", junit, folder])
            return printed.getvalue().splitlines()

    def test_the_tests_of_a_program_count_and_not_the_program(self):
        self.assertEqual(self.lines([case("base", "run")], base=PROGRAM % ""),
                         ["skipped in dev: 1 tests: no server here", "1 0"])

    def test_a_test_that_failed_is_named_with_its_reason(self):
        self.assertEqual(self.lines([case("base", "fail")], base=PROGRAM % BAD),
                         ["failed in dev: base: A.Bad", "  : Failure", "  a.cpp:3", "  why",
                          "skipped in dev: 1 tests: no server here", "1 1"])

    def test_a_program_that_fails_after_its_last_test_is_a_failure(self):
        cases = [case("base", "fail", output("==1==ERROR: LeakSanitizer: lost"))]
        found = self.lines(cases, base=PROGRAM % "")
        self.assertEqual(found[:2], ["failed in dev: base as a whole",
                                     "  ==1==ERROR: LeakSanitizer: lost"])
        self.assertEqual(found[-1], "1 1")

    def test_a_program_that_crashed_or_was_cut_off_is_a_failure(self):
        self.assertEqual(self.lines([case("base", "fail")])[-1], "0 1")
        self.assertEqual(self.lines([case("base", "fail")], base="<testsuites><te")[-1], "0 1")

    def test_other_tests_count_as_one_each(self):
        skipped = '<skipped message="SKIP_RETURN_CODE=77" />'
        cases = [case("a", "run"), case("b", "fail", output("Traceback (most recent)")),
                 case("c", "notrun", skipped + output("no Garnet")),
                 case("d", "notrun", '<skipped message="Unable to find executable" />'),
                 case("e", "disabled")]
        found = self.lines(cases)
        self.assertEqual(found, ["failed in dev: b", "  Traceback (most recent)",
                                 "failed in dev: d", "skipped in dev: 1 tests: no Garnet", "1 2"])

    def test_a_run_without_a_report_failed(self):
        self.assertEqual(self.lines([])[-1], "0 1")


if __name__ == "__main__":
    unittest.main()
