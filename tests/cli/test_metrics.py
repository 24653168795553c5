"""What the program writes for Prometheus, read by Prometheus' own library for Python."""

import json
import os
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

    def test_a_node_that_is_down_is_0(self):
        done = sheaf("--servers", "mqtt://127.0.0.1:1", "--timeout", "200ms", "nodes", "--metrics")
        self.assertEqual(done.returncode, FAILED)
        (sample,) = self.read(done.stdout)["sheaf_node_up"]["samples"]
        self.assertEqual(sample[2], 0)
