#!/usr/bin/env python3
"""Shows that the check of the API reference can fail, on small trees: reference_self_test.py ROOT
DOXYGEN."""

import os
import shutil
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

import reference  # noqa: E402

PAGE = "# Reference\n"
GOOD = """#pragma once

/// @file
/// A header.

/// A namespace.
namespace sheaf {
class Later;
inline namespace v0 {

/// A type.
struct A {
  int a = 0;  ///< A field.

  /// A function, in two forms.
  void f();
  void f(int a);
  void f(A&&) = delete;
};
/// A function.
void g(const A& a = {});
/// A constant.
inline constexpr int limit = 1;
/// A name.
using B = A;

}  // namespace v0
namespace x_detail {
void hidden();
}
}  // namespace sheaf
"""


class Reference(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        os.makedirs(os.path.join(self.root, "include/sheaf"))
        shutil.copytree(os.path.join(ROOT, "docs"), os.path.join(self.root, "docs"))
        self.write("docs/reference.md", PAGE)

    def write(self, path, text):
        with open(os.path.join(self.root, path), "w", encoding="utf-8") as file:
            file.write(text)

    def found(self, header):
        self.write("include/sheaf/a.h", header)
        return list(reference.problems(self.root, DOXYGEN,
                                       os.path.join(self.root, "docs/Doxyfile"),
                                       os.path.join(self.root, "out")))

    def test_a_good_header_passes(self):
        self.assertEqual(self.found(GOOD), [])

    def test_what_has_no_comment_is_found(self):
        for comment in ("/// A type.", "  ///< A field.", "  /// A function, in two forms.",
                        "/// A function.", "/// A constant.", "/// A name."):
            self.assertEqual(GOOD.count(comment), 1, comment)
            self.assertTrue(self.found(GOOD.replace(comment, "")), comment)

    def test_one_comment_does_not_stand_for_another_name_or_group(self):
        self.assertTrue(self.found(GOOD.replace("  void f(int a);", "  void other(int a);")))
        self.assertTrue(self.found(GOOD.replace("  void f(int a);", "\n  void f(int a);")))

    def test_a_comment_that_doxygen_does_not_understand_is_found(self):
        self.assertTrue(self.found(GOOD.replace("A type.", "A @nonsense type.")))

    def test_what_the_pages_leave_out_is_found(self):
        for name, text in (("A", GOOD[GOOD.index("/// A type."):GOOD.index("/// A function.\n")]),
                           ("g", "void g(const A& a = {});\n"),
                           ("limit", "inline constexpr int limit = 1;\n"),
                           ("B", "using B = A;\n")):
            self.assertEqual(GOOD.count(text), 1, name)
            hidden = GOOD.replace(text, "/// @cond\n%s/// @endcond\n" % text)
            self.assertIn("%s: 1 declarations without an entry" % name, self.found(hidden))


if __name__ == "__main__":
    ROOT, DOXYGEN = os.path.abspath(sys.argv[1]), sys.argv[2]
    unittest.main(argv=sys.argv[:1])
