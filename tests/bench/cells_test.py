"""bench/cells.py measures one cell, writes its three files, and measures no cell twice.

    cells_test.py SOURCE BUILD
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

source, build = sys.argv[1:3]
SVG = "{http://www.w3.org/2000/svg}"


class Cells(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = place.name

    def run_cells(self, *words):
        program = os.path.join(source, "bench/cells.py")
        return subprocess.run(
            [sys.executable, "-B", program, build, self.folder, "--quick", "--work", "get",
             "--servers", "1", "--placement", "free", *words],
            capture_output=True, text=True, timeout=240, check=False)

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()

    def test_one_cell(self):
        ran = self.run_cells("--threads", "2", "--busy", "1")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        cells = [json.loads(line) for line in self.read("cells.jsonl").splitlines()]
        self.assertTrue(cells)
        for cell in cells:
            self.assertEqual((cell["work"], cell["servers"], cell["threads"], cell["busy"]),
                             ("get", 1, 2, 1))
            for name, found in cell["contestants"].items():
                if name != "raw":
                    self.assertGreaterEqual(found["allocations"], 1, name)  # for each value
                if found["system_calls"] is not None:
                    self.assertGreater(found["system_calls"], 0, name)
        self.assertIn("| get | 1 | 2 | ", self.read("cells.md"))
        self.assertIn("spin, busy 1, free", self.read("cells.md"))
        drawn = [each.text for each in xml.fromstring(self.read("cells.svg")).iter(SVG + "text")]
        self.assertIn("placement: free", drawn)

        again = self.run_cells("--threads", "2", "--busy", "1")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("0 cells", again.stdout)
        self.assertEqual(len(self.read("cells.jsonl").splitlines()), len(cells))

    def test_a_bad_option(self):
        ran = self.run_cells("--threads", "1,33")
        self.assertEqual(ran.returncode, 2)
        self.assertIn("--threads: '1,33' is not a list of numbers from 1 to 32", ran.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
