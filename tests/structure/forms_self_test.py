"""Shows that the rules about operations can fail. self_test.py runs it."""

import unittest

import forms
import source


class Forms(unittest.TestCase):
    BLOCKING = ("class SHEAF_API List {\n public:\n  Result<bool> push(std::string_view value,\n"
                "                    const ListCallOptions& options = {});\n};\n")
    CALL = ("class SHEAF_API AsyncList {\n public:\n  Call<Result<bool>> push(std::string_view v,\n"
            "      const ListCallOptions& options = {}) const;\n};\n")
    ROW = "const auto row = [](auto&& l) { return l.push(1); };\n"

    def check(self, blocking, call, row):
        return list(forms.forms([source.File("include/sheaf/list.h", blocking),
                                 source.File("include/sheaf/async.h", call),
                                 source.File(forms.TESTED, row)]))

    def test_each_has_an_asynchronous_form_and_a_row(self):
        self.assertEqual(self.check(self.BLOCKING, self.CALL, self.ROW), [])
        self.assertEqual(self.check(self.BLOCKING, "class SHEAF_API AsyncList {\n};\n", self.ROW),
                         ["include/sheaf/list.h:3: List::push has no asynchronous form"])
        self.assertEqual(self.check(self.BLOCKING, self.CALL, ""),
                         ["include/sheaf/async.h:3: %s has no row of AsyncList::push"
                          % forms.TESTED])

    def test_a_default_in_braces_hides_none(self):
        hidden = self.BLOCKING.replace("value,", "value = {},")
        self.assertTrue(self.check(hidden, "class SHEAF_API AsyncList {\n};\n", self.ROW))

    def found(self, rule, **others):
        files = {forms.ASYNC: self.CALL, **others}
        return list(rule([source.File(path, text) for path, text in files.items()]))

    def test_each_has_a_test_in_the_contract(self):
        test = {"tests/contract/list_test.cpp": "EXPECT_TRUE(list.push(1));\n"}
        self.assertEqual(self.found(forms.contract_tests, **test), [])
        for path, text in ((forms.TESTED, "l.push(1);\n"), ("tests/contract/a.cpp", "// push(1)\n"),
                           ("tests/contract/a.cpp", "list.push_many(1);\n")):
            self.assertEqual(self.found(forms.contract_tests, **{path: text}),
                             ["include/sheaf/async.h:3: tests/contract has no test of "
                              "AsyncList::push"])

    def test_each_is_in_the_changelog(self):
        for text, good in (("- `push` appends.\n", True), ("- `push_many` appends.\n", False)):
            self.assertEqual(not self.found(forms.in_changelog, **{forms.CHANGELOG: text}), good)

    def test_each_verb_of_a_session_has_a_test(self):
        writer = {"protocol/resp/writer.cpp": "    case Verb::touch:\n"}
        for path, text, good in (
                ("tests/protocol/resp/a.cpp", "operation(Verb::touch, 1);\n", True),
                ("tests/protocol/resp/a.cpp", "operation(Verb::touching, 1);\n", False),
                ("tests/protocol/mqtt5/a.cpp", "operation(Verb::touch, 1);\n", False)):
            self.assertEqual(not self.found(forms.verbs_of_sessions, **writer, **{path: text}),
                             good, path)

    def test_each_procedure_has_a_test(self):
        plan = {"client/calls/a.h": "class A final : public Procedure {\n};\n",
                "client/lock/b.h": "class B : public calls::Procedure {\n};\n"}
        for text, problems in (('#include "client/calls/a.h"\n#include "client/lock/b.h"\n', 0),
                               ('#include "client/lock/b.h"\n', 1), ("A a;\nB b;\n", 2)):
            test = {"tests/client/calls/a_test.cpp": text}
            self.assertEqual(len(self.found(forms.procedures, **plan, **test)), problems)

    def test_each_command_of_the_program_is_run(self):
        row = {"cli/commands/a.cpp": '      {.name = "list push",\n'}
        for text, good in (('self.ends("list", "push", "l")\n', True), ('"pushed"\n', False)):
            test = {"tests/cli/test_lists.py": text}
            self.assertEqual(not self.found(forms.commands_of_the_program, **row, **test), good)
