#!/usr/bin/env python3
"""Checks what table.py makes from reports and pages, and that its check can fail."""

import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

import table  # noqa: E402

EMPTY = "# Page\n\n%s\n%s\n\nmore\n" % (table.BEGIN, table.END)

CTEST = """<testsuite>
<testcase name="resp.RedisErrors.OfTheLogin" status="run"/>
<testcase name="resp.GarnetServer.Answers" status="notrun"><skipped message="SKIP"/></testcase>
<testcase name="contract.On/Endpoints.Sets/RedisServers" status="run"/>
<testcase name="contract.On/Endpoints.Sets/RedisServersOverTls" status="fail"><failure/></testcase>
<testcase name="contract.on_a_cluster_of_redis" status="run">
<system-out>[==========] Running 126 tests from 9 test suites.</system-out></testcase>
<testcase name="contract.on_valkey" status="run">
<system-out>[==========] Running 344 tests from 9 test suites.</system-out></testcase>
<testcase name="cli.on_redis" status="run">
<system-out>[==========] Running 30 tests from 3 modules.</system-out></testcase>
<testcase name="plugin.Replies.Ok" status="run"/>
<testcase name="base.Hash.Sums" status="run"/>
</testsuite>"""

GTEST = """<testsuites><testsuite name="RedisErrors">
<testcase name="OfTheLogin" status="run" classname="RedisErrors"/>
<testcase name="OfACluster" status="run" classname="RedisErrors"><failure message="x"/></testcase>
</testsuite></testsuites>"""

VERSIONS = {"Redis": "8.0.6", "Valkey": "9.1.2", "Mosquitto": "2.0.21", "Garnet": "2.2.8"}


class Table(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def counted(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return table.count([path])

    def test_a_report_of_ctest_becomes_one_row_for_each_server_that_was_tested(self):
        page = table.update(EMPTY, "Debian 13", VERSIONS, self.counted("tests.xml", CTEST))
        rows = [line for line in page.split("\n") if line.startswith("| ")][1:]
        self.assertEqual([row.split(" | ")[:4] for row in rows], [
            ["| Mosquitto", "2.0.21", "Debian 13", "plugin 1"],
            ["| Redis", "8.0.6", "Debian 13",
             "contract 1 (1 failed), protocol 1, cluster 126, program 30"],
            ["| Valkey", "9.1.2", "Debian 13", "contract 344"]])
        self.assertEqual(table.problem_of(page), "")

    def test_a_report_of_one_program_is_named_by_its_file(self):
        counted = self.counted("resp.xml", GTEST)["Redis"]["protocol"]
        self.assertEqual((counted.passed, counted.failed), (1, 1))

    def test_runs_on_other_machines_are_added_and_a_later_run_replaces_its_suites(self):
        first = table.update(EMPTY, "A", {"Redis": "7.0.15"}, {"Redis": {"live": table.Tally(5)}})
        second = table.update(first, "B", {"Redis": "8.0.6"}, {"Redis": {"live": table.Tally(6)}})
        third = table.update(second, "B", {"Redis": "8.0.6"},
                             {"Redis": {"live": table.Tally(7), "cluster": table.Tally(1)}})
        again = table.update(third, "B", {"Redis": "8.0.6"},
                             {"Redis": {"live": table.Tally(8, 1)}})
        self.assertIn("| Redis | 7.0.15 | A | live 5 |", again)
        self.assertIn("| Redis | 8.0.6 | B | live 8 (1 failed), cluster 1 |", again)
        self.assertTrue(again.endswith("\n\nmore\n"))

    def test_the_command_writes_the_page_and_checks_it(self):
        page = os.path.join(self.folder, "page.md")
        report = os.path.join(self.folder, "tests.xml")
        server = os.path.join(self.folder, "server")
        for path, text in ((page, EMPTY), (report, CTEST),
                           (server, "#!/bin/sh\necho 'Valkey server v=9.1.2 sha=0'\n")):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        os.chmod(server, 0o755)
        script = [sys.executable, table.__file__]
        check = [*script, "--check", page]
        self.assertEqual(subprocess.run(check, stdout=subprocess.PIPE, check=False).returncode, 1)
        subprocess.run([*script, page, "--system", "sid", "--program", "valkey-server=" + server,
                        report], check=True)
        with open(page, encoding="utf-8") as file:
            self.assertIn("| Valkey | 9.1.2 | sid | contract 344 |", file.read())
        self.assertEqual(subprocess.run(check, check=False).returncode, 0)

    def test_a_server_that_is_not_installed_has_no_row(self):
        page = table.update(EMPTY, "A", {}, {"Garnet": {"live": table.Tally(5)}})
        self.assertNotIn("| Garnet", page)

    def test_what_differs_goes_by_the_version(self):
        self.assertIn("no DELIFEQ", table.differences("Valkey", "8.1.1"))
        self.assertIn("atomically", table.differences("Valkey", "9.1.2"))
        self.assertNotIn("atomically", table.differences("Valkey", "8.1.1"))

    def test_a_table_that_was_changed_by_hand_is_refused(self):
        good = table.update(EMPTY, "A", {"Redis": "8.0.6"}, {"Redis": {"live": table.Tally(6)}})
        self.assertEqual(table.problem_of(good), "")
        for bad in (good.replace("live 6", "live six"), good.replace("live 6", "live  6"),
                    good.replace("| A |", "| A | B |"), good.replace(table.END, ""),
                    good.replace("No IFEQ", "IFEQ"),
                    good.replace("| Redis | 8.0.6", "| Redis | 9")):
            self.assertNotEqual(table.problem_of(bad), "", bad)


if __name__ == "__main__":
    unittest.main()
