"""The files of samples/monitoring: Grafana and Prometheus can read them, and every metric that they
name is one that the program prints.

    monitoring_test.py SOURCE SHEAF
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import yaml
except ImportError:  # a Python other than Debian's finds Debian's packages there
    sys.path.append("/usr/lib/python3/dist-packages")
    import yaml

source, sheaf = sys.argv[1:3]
folder = os.path.join(source, "samples/monitoring")
METRIC = re.compile(r"\bsheaf_[a-z_]+")


def read(name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


def printed():
    """Name -> type of each family that the program prints of a store with a file."""
    with tempfile.TemporaryDirectory() as place:
        uri = "embedded://1?data=" + os.path.join(place, "sheaf.db")
        text = subprocess.run([sheaf, "--servers", uri, "nodes", "--metrics"], check=True,
                              capture_output=True, text=True, timeout=60).stdout
    return dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))


def series(families):
    """The names of all samples."""
    suffixes = {"histogram": ("_bucket", "_sum", "_count"), "summary": ("", "_sum", "_count")}
    return {name + suffix for name, kind in families.items()
            for suffix in suffixes.get(kind, ("",))}


class Files(unittest.TestCase):
    def assert_printed(self, expressions):
        known = series(printed())
        self.assertTrue(expressions)
        for expression in expressions:
            names = METRIC.findall(expression)
            self.assertTrue(names, expression)
            self.assertEqual(set(names) - known, set(), expression)

    def test_the_dashboard_has_panels_that_grafana_can_show(self):
        dashboard = json.loads(read("dashboard.json"))
        self.assertTrue(dashboard["title"] and dashboard["uid"] and dashboard["schemaVersion"])
        panels = dashboard["panels"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        places = set()
        for panel in panels:
            self.assertTrue(panel["title"] and panel["type"] and panel["targets"], panel)
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24)
            cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                     for y in range(place["y"], place["y"] + place["h"])}
            self.assertFalse(places & cells, panel["title"])
            places |= cells
            letters = [target["refId"] for target in panel["targets"]]
            self.assertEqual(len(set(letters)), len(letters))
        variables = {variable["name"] for variable in dashboard["templating"]["list"]}
        used = set(re.findall(r"\$\{?([a-z]+)", read("dashboard.json")))
        self.assertEqual(used - variables, set())

    def test_every_metric_of_the_dashboard_is_printed(self):
        dashboard = json.loads(read("dashboard.json"))
        self.assert_printed([target["expr"] for panel in dashboard["panels"]
                             for target in panel["targets"]])
        self.assert_printed([variable["query"]["query"]
                             for variable in dashboard["templating"]["list"]
                             if variable["type"] == "query"])

    def test_every_metric_of_the_alerts_is_printed(self):
        rules = [rule for group in yaml.safe_load(read("alerts.yml"))["groups"]
                 for rule in group["rules"]]
        self.assert_printed([rule["expr"] for rule in rules])
        self.assertEqual(len({rule["alert"] for rule in rules}), len(rules))
        for rule in rules:
            self.assertIn(rule["labels"]["severity"], ("warning", "critical"))
            self.assertTrue(rule["annotations"]["summary"] and rule["annotations"]["description"])

    @unittest.skipUnless(shutil.which("promtool"), "promtool (package prometheus) is not installed")
    def test_prometheus_accepts_the_alerts(self):
        done = subprocess.run(["promtool", "check", "rules", os.path.join(folder, "alerts.yml")],
                              capture_output=True, check=False, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
