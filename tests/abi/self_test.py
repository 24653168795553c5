#!/usr/bin/env python3
"""Shows that the comparison of binary interfaces can fail, on small libraries: self_test.py
COMPILER."""

import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

import abi  # noqa: E402

EXPORT = '#define SHEAF_API __attribute__((visibility("default")))\n'
HEADER = """#include <sheaf/export.h>
#include <string>
namespace sheaf {
inline namespace v0 {
enum class Kind { first, second };
struct Options {
  int limit = 0;
  int depth = 0;
  std::string text;
};
class SHEAF_API Door {
 public:
  virtual void open();
  virtual void close();
  long count(const Options& options, Kind kind) const;
  int unused(int number);
 private:
  struct Inside;
  Inside* inside_;
};
struct OnlyHere { long a; };
SHEAF_API int knock(Door& door);
}
}
"""
SOURCE = """#include <sheaf/door.h>
namespace sheaf {
inline namespace v0 {
struct Door::Inside { int secret; };
void Door::open() {}
void Door::close() {}
long Door::count(const Options&, Kind) const { return inside_->secret; }
int Door::unused(int number) { return number; }
int knock(Door&) { return 1; }
}
}
"""


class Interfaces(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        abi.write(self.folder, GOOD)

    def changed(self, *changes, name="tree"):
        """The library with each of (what, by what) replaced in header and source."""
        header, text = HEADER, SOURCE
        for old, new in changes:
            self.assertIn(old, header + text)
            header, text = header.replace(old, new), text.replace(old, new)
        texts, missing = read(os.path.join(self.folder, name), header, text)
        self.assertEqual(missing, [])
        return texts

    def report(self, *changes):
        """What is said of a library that may not take the place of the good one."""
        said, good = self.said_of(self.changed(*changes))
        self.assertFalse(good, said)
        return said

    def said_of(self, found):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            good = abi.check(self.folder, found)
        return said.getvalue(), good

    def test_the_same_library_passes_wherever_it_was_built(self):
        texts = self.changed(name="another/place")
        self.assertEqual(texts, GOOD)
        self.assertNotIn(self.folder, "".join(texts.values()))

    def test_a_function_that_is_gone_is_named(self):
        said = self.report(("  int unused(int number);\n", ""),
                           ("int Door::unused(int number) { return number; }\n", ""))
        self.assertIn("method int sheaf::v0::Door::unused(int)", said)
        said = self.report(("SHEAF_API int knock", "int knock"),
                           ("int knock(Door&) { return 1; }\n", ""))
        self.assertIn("function int sheaf::v0::knock", said)

    def test_another_parameter_is_found(self):
        said = self.report(("unused(int number)", "unused(long number)"),
                           ("return number", "return int(number)"))
        self.assertIn("sheaf::v0::Door::unused(int)", said)

    def test_another_return_type_is_found_although_the_linker_does_not_see_it(self):
        said = self.report(("int unused(", "long unused("),
                           ("int Door::unused(", "long Door::unused("))
        self.assertIn("return type changed", said)
        self.assertIn("return type changed", self.report(("int knock(", "long knock(")))

    def test_another_layout_is_found(self):
        self.assertIn("type size changed", self.report(("int depth = 0;", "long depth = 0;")))
        self.assertIn("'int depth'", self.report(("  int depth = 0;\n", "")))
        self.assertIn("type size changed", self.report(
            ("  std::string text;\n", "  std::string text;\n  int more = 0;\n")))

    def test_fields_of_one_type_that_change_places_are_found(self):
        said = self.report(("  int limit = 0;\n  int depth = 0;\n",
                            "  int depth = 0;\n  int limit = 0;\n"))
        self.assertIn("limit", said)
        self.assertIn("depth", said)

    def test_a_type_that_no_function_takes_is_looked_at(self):
        self.assertIn("OnlyHere", self.report(("long a;", "int a;")))
        self.assertIn("OnlyHere", self.report(("struct OnlyHere { long a; };\n", "")))

    def test_another_table_of_virtual_functions_is_found(self):
        swapped = ("  virtual void open();\n  virtual void close();\n",
                   "  virtual void close();\n  virtual void open();\n")
        self.assertIn("vtable offset", self.report(swapped))
        self.assertIn("voffset", self.report(
            ("  virtual void close();\n", "  virtual void close();\n  virtual void lock() {}\n")))

    def test_another_value_of_a_name_is_found(self):
        self.assertIn("second", self.report(("first, second", "second, first")))

    def test_additions_pass_and_are_printed(self):
        said, good = self.said_of(self.changed(
            ("  int unused(int number);\n", "  int unused(int number);\n  int added();\n"),
            ("int knock(Door&)", "int Door::added() { return 2; }\nint knock(Door&)")))
        self.assertTrue(good, said)
        self.assertIn("added since the baseline: sheaf::v0::Door::added()", said)

    def test_what_is_inside_may_change(self):
        said, good = self.said_of(self.changed(("int secret", "int first; int secret")))
        self.assertTrue(good, said)

    def test_a_function_without_full_debug_information_is_named(self):
        _, missing = read(os.path.join(self.folder, "lines"), HEADER, SOURCE, "-g1")
        self.assertIn("sheaf::v0::Door::unused(int)", missing)
        self.assertIn("sheaf::v0::knock(sheaf::v0::Door&)", missing)


def write(folder, path, text):
    path = os.path.join(folder, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def read(folder, header, text, debug="-g2"):
    write(folder, "include/sheaf/export.h", "#pragma once\n" + EXPORT)
    write(folder, "include/sheaf/door.h", "#pragma once\n" + header)
    file = write(folder, "door.cpp", text)
    library = os.path.join(folder, "library.so")
    subprocess.run([COMPILER, "-std=c++20", debug, "-shared", "-fPIC", "-fvisibility=hidden", file,
                    "-o", library, "-I", os.path.join(folder, "include")], check=True)
    return abi.read(folder, folder, library, COMPILER)


if __name__ == "__main__":
    COMPILER = sys.argv[1]
    with tempfile.TemporaryDirectory() as first:
        GOOD, _ = read(first, HEADER, SOURCE)
    unittest.main(argv=sys.argv[:1])
