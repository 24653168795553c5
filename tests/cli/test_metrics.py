"""The program's output for Prometheus, read by Prometheus' own library for Python."""

import json
import os
import stat
import subprocess
import sys
import tempfile

import harness
from harness import DONE, FAILED, USAGE, sheaf

# Debian's Python has Debian's package.
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
READ = """
import json, sys
from prometheus_client.parser import text_string_to_metric_families
families = {}
for family in text_string_to_metric_families(sys.stdin.read()):
    families[family.name] = {"type": family.type, "help": family.documentation, "samples": [
        [sample.name, sample.labels, sample.value] for sample in family.samples]}
json.dump(families, sys.stdout)
"""


class Metrics(harness.Case):
    uri = "embedded://2"

    def read(self, text):
        done = subprocess.run([PYTHON, "-c", READ], input=text, capture_output=True, check=False,
                              timeout=harness.LONGEST)
        if b"No module named" in done.stderr:
            self.skipTest("python3-prometheus-client is not installed")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_the_text_is_what_prometheus_reads(self):
        families = self.read(self.ends(DONE, "nodes", "--metrics"))
        up = families["sheaf_node_up"]
        self.assertEqual(up["type"], "gauge")
        self.assertEqual([[labels["node"], value] for _, labels, value in up["samples"]],
                         [["embedded:0", 1], ["embedded:1", 1]])
        self.assertEqual(families["sheaf_connects"]["type"], "counter")
        self.assertEqual(families["sheaf_round_trip_seconds"]["type"], "histogram")
        for family in families.values():
            self.assertTrue(family["help"].endswith("."), family)

    def test_a_file_for_the_textfile_collector_is_replaced_as_a_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "sheaf.prom")
            self.assertEqual(self.ends(DONE, "nodes", "--textfile", path), b"")
            with open(path, "rb") as file:
                self.assertIn("sheaf_node_up", self.read(file.read()))
            self.assertEqual(os.listdir(folder), ["sheaf.prom"])
            self.ends(FAILED, "nodes", "--textfile", os.path.join(folder, "none", "sheaf.prom"))
        self.ends(USAGE, "nodes", "--textfile", "")

    def test_the_file_behind_links_is_replaced_and_the_links_stay(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "far"))
            first, second = os.path.join(folder, "first"), os.path.join(folder, "far", "second")
            target = os.path.join(folder, "far", "sheaf.prom")
            os.symlink("far/second", first)
            os.symlink(target, second)
            for _ in ("a new file", "one that is there"):
                self.ends(DONE, "nodes", "--textfile", first)
                self.assertTrue(os.path.islink(first) and os.path.islink(second))
                self.assertTrue(os.path.isfile(target) and not os.path.islink(target))
            self.assertEqual(sorted(os.listdir(os.path.join(folder, "far"))),
                             ["second", "sheaf.prom"])

    def test_what_is_no_regular_file_is_not_replaced(self):
        with tempfile.TemporaryDirectory() as folder:
            pipe, link, ring = (os.path.join(folder, name) for name in ("pipe", "link", "ring"))
            os.mkfifo(pipe)
            os.symlink(pipe, link)
            os.symlink(ring, ring)
            for path in (pipe, link, ring, folder):
                self.refused("--servers", self.uri, "nodes", "--textfile", path,
                             says=path + " is not a regular file")
            self.assertEqual(sorted(os.listdir(folder)), ["link", "pipe", "ring"])
            self.assertTrue(stat.S_ISFIFO(os.stat(pipe).st_mode) and os.path.islink(link))

    def test_a_node_that_is_down_is_0(self):
        done = sheaf("--servers", "mqtt://127.0.0.1:1", "--timeout", "200ms", "nodes", "--metrics")
        self.assertEqual(done.returncode, FAILED)
        (sample,) = self.read(done.stdout)["sheaf_node_up"]["samples"]
        self.assertEqual(sample[2], 0)
