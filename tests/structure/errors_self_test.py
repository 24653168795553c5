#!/usr/bin/env python3
"""Shows that the check of docs/errors.md can fail, on a small tree."""

import os
import shutil
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

import errors  # noqa: E402

HEADER = """enum class Outcome : std::uint8_t {
  refused,  ///< Refused.
};
enum class Reason : std::uint8_t {
  other,      ///< See the text.
  timed_out,  ///< Late.
};
"""
RESULT = """constexpr Advice advice[] = {
    {Reason::timed_out, "The deadline "
     "passed.", "Wait longer."},
};
switch (outcome) {
  case Outcome::refused:
    return "refused";
}
switch (reason) {
  case Reason::other:
    return "other";
  case Reason::timed_out:
    return "timed out";
}
"""
SOURCE = """#include "a b"
static_assert(x, "only the compiler says this");
std::string f() {
  // "a comment says this"
  if (a) return "the key is " + key + ", above the limit of "
                + limit;
  return b ? "a thing is lost" : R"(a raw text is no sentence)";
}
"""
PAGE = """# Errors

| word | stands for |
|---|---|
| `KEY` | a key |
| `N` | a number |

<!-- from the sources -->
<!-- end -->

## The caller

### Keys

Comes as: `refused`, with `timed out`.

Cause: A cause.

Remedy: A remedy.

- `the key is KEY, above the limit of N`; `a thing is lost`
"""


class Errors(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        for path, text in (("include/sheaf/result.h", HEADER), ("base/result.cpp", RESULT),
                           ("client/a.cpp", SOURCE), (errors.PAGE, PAGE)):
            self.write(path, text)
        self.fix()

    def write(self, path, text):
        os.makedirs(os.path.join(self.root, os.path.dirname(path)), exist_ok=True)
        with open(os.path.join(self.root, path), "w", encoding="utf-8") as file:
            file.write(text)

    def page(self):
        with open(os.path.join(self.root, errors.PAGE), encoding="utf-8") as file:
            return file.read()

    def change(self, path, old, new):
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(text.count(old), 1, old)
        self.write(path, text.replace(old, new))

    def fix(self):
        self.write(errors.PAGE, errors.Comparison(self.root).fixed())

    def found(self):
        return "\n".join(errors.Comparison(self.root).problems())

    def test_a_complete_page_passes_and_is_not_changed(self):
        self.assertEqual(self.found(), "")
        before = self.page()
        self.assertIn("| `timed out` | The deadline passed. | Wait longer. |", before)
        self.fix()
        self.assertEqual(self.page(), before)

    def test_a_new_sentence_is_found_and_the_finding_says_what_to_do(self):
        self.change("client/a.cpp", "  return b", '  if (c) return "a thing is gone";\n  return b')
        self.assertIn("client/a.cpp:7: 'a thing is gone'", self.found())
        self.assertIn("--fix, then write cause and remedy", self.found())

    def test_a_part_of_a_sentence_in_another_file_is_found(self):
        self.write("client/b.cpp",
                   'auto x = "the value is " + v;\nauto y = ", above the limit of ";')
        self.assertIn("'the value is '", self.found())
        self.assertIn("client/b.cpp:2: ', above the limit of '", self.found())

    def test_what_the_source_no_longer_says_is_found_and_removed(self):
        self.change("client/a.cpp", "a thing is lost", "a thing was lost")
        self.assertIn("does not say this: a thing is lost", self.found())
        self.fix()
        self.assertIn("- `the key is KEY, above the limit of N`\n", self.page())
        self.assertIn("- `a thing was lost`\n", self.page())

    def test_a_changed_part_of_a_sentence_is_found(self):
        self.change("client/a.cpp", ", above the", ", below the")
        self.assertIn("does not say this: the key is KEY, above the limit of N", self.found())

    def test_a_sentence_of_words_of_several_files_is_not_taken(self):
        self.change(errors.PAGE, "`a thing is lost`", "`a thing is lost`; `the key is gone`")
        self.write("client/b.cpp", 'auto x = "gone";')
        self.assertIn("does not say this: the key is gone", self.found())

    def test_new_sentences_need_a_cause_and_a_place(self):
        self.change("client/a.cpp", "a thing is lost", "a thing was lost")
        self.fix()
        for field in errors.FIELDS:
            self.assertIn("write \"%s: ...\" below \"client/a.cpp\"" % field, self.found())
        self.assertIn("move the new sentences", self.found())

    def test_a_section_lacks_nothing(self):
        for field in ("Comes as: `refused`, with `timed out`.", "Cause: A cause.",
                      "Remedy: A remedy."):
            good = self.page()
            self.change(errors.PAGE, field + "\n\n", "")
            self.assertIn("below \"Keys\"", self.found())
            self.write(errors.PAGE, good)

    def test_outcomes_and_reasons_exist(self):
        self.change(errors.PAGE, "with `timed out`", "with `too late`")
        self.assertIn("no outcome or reason too late", self.found())

    def test_a_sentence_that_is_listed_twice_is_found(self):
        self.change(errors.PAGE, "`a thing is lost`", "`a thing is lost`; `a thing is lost`")
        self.assertIn("listed twice: a thing is lost", self.found())

    def test_old_tables_are_found(self):
        self.change("base/result.cpp", "Wait longer.", "Wait less.")
        self.assertIn("the tables differ", self.found())

    def test_long_sentences_are_kept_in_one_line_where_they_fit(self):
        long = ["a" * 60, "b" * 60, "c d " * 30]
        self.assertEqual(errors.item_of([]), [])
        lines = errors.item_of(long)
        self.assertEqual([line[:4] for line in lines], ["- `a", "  `b", "  `c", "  d "])
        self.assertLessEqual(max(map(len, lines)), errors.COLUMNS)


if __name__ == "__main__":
    unittest.main()
