#!/usr/bin/env python3
"""Shows that the rules of security.py can fail, on small trees."""

import sys
import unittest

sys.dont_write_bytecode = True

import security  # noqa: E402
from source import File  # noqa: E402

TEST = File("tests/a/a_test.cpp", "TEST_F(Suite, Holds) {\n}\n")


def page(rows):
    return File(security.PAGE, "# Security\n\n" + "\n".join(rows) + "\n")


def rows(proof="`Suite.Holds`"):
    return ["| %s | a rule | %s |" % (rule, proof) for rule in security.RULES]


class Table(unittest.TestCase):
    def found(self, lines, *others):
        return list(security.table([page(lines), TEST, *others]))

    def test_a_whole_table_passes(self):
        self.assertEqual(self.found(rows()), [])

    def test_a_missing_page_row_or_rule_is_found(self):
        self.assertTrue(list(security.table([TEST])))
        self.assertIn("S7", self.found(rows()[:6] + rows()[7:])[0])
        self.assertIn("S3", self.found(rows()[:3] + rows()[2:])[0])
        self.assertIn("order", self.found(rows()[1:2] + rows()[:1] + rows()[2:])[0])
        self.assertTrue(self.found(["| S1 |  | `Suite.Holds` |"] + rows()[1:]))

    def test_a_rule_without_a_test_is_found(self):
        self.assertIn("names no test", self.found(rows()[:-1] + ["| S30 | a rule | none |"])[0])

    def test_a_test_that_is_not_there_is_found(self):
        for name in ("Suite.Hold", "Suit.Holds", "fuzz.nothing", "structure.nothing",
                     "cli.test_nothing"):
            found = self.found(rows("`%s`" % name))
            self.assertEqual(len(found), 30, name)
            self.assertIn("no such test", found[0])
        self.assertEqual(len(self.found(rows("`Suite.Holds`, `Suite.Gone`"))), 30)

    def test_a_name_in_a_comment_is_no_test(self):
        text = "// TEST(Suite, Commented)\nint TEST_NOT(Suite, Called);\n"
        self.assertTrue(self.found(rows("`Suite.Commented`"), File("tests/b.cpp", text)))

    def test_tests_of_cmake_and_fuzz_targets_are_known(self):
        more = (File("tests/structure/CMakeLists.txt", "structure_test(tree check.py)\n"),
                File("tests/fuzz/targets/parser.cpp", ""))
        self.assertEqual(self.found(rows("`structure.tree`, `fuzz.parser`"), *more), [])


class Calls(unittest.TestCase):
    def found(self, path, text):
        return list(security.calls([File(path, text)]))

    def test_what_listens_loads_or_asks_is_found(self):
        for call in ("std::getenv(\"X\")", "::getenv (name)", "dlopen(path, 1)", "::listen(fd, 1)",
                     "::bind(fd, a, 1)", "system(command)", "uv_listen(s, 1, f)",
                     "uv_tcp_bind(s, a, 0)"):
            self.assertEqual(len(self.found("client/a.cpp", "  %s;\n" % call)), 1, call)

    def test_others_and_the_program_are_not(self):
        self.assertFalse(self.found("client/a.cpp", "// getenv(\"X\")\nlog.listening();\nx.bind(1);"
                                                    "\nread_system(1);\nlisten(true);\n"))
        self.assertFalse(self.found("cli/a.cpp", "std::getenv(\"X\");\n"))

    def test_one_file_may_read_the_environment_and_do_nothing_else(self):
        path = security.MAY_READ_THE_ENVIRONMENT
        self.assertFalse(self.found(path, "std::getenv(\"X\");\n"))
        self.assertTrue(self.found(path, "std::system(\"X\");\n"))


class Tokens(unittest.TestCase):
    def test_missing_words_are_found(self):
        good = [File(path, words) for path, words in security.TOKEN_WORDS.items()]
        self.assertEqual(list(security.tokens(good)), [])
        self.assertEqual(len(list(security.tokens(good[1:]))), 1)
        self.assertEqual(len(list(security.tokens([]))), len(security.TOKEN_WORDS))


if __name__ == "__main__":
    unittest.main()
