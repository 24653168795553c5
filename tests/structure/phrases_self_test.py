"""Shows that the rule of phrases can fail, and what it leaves alone. self_test.py runs it."""

import unittest

import phrases
import source

BAD = (
    "Of a lock that is free: nothing.", "The lock is free. Of the others none is.",
    "It sends a number that is none.", "An answer that is none to the question.",
    "A write of the same value is none.", "What counts here is none, as always.",
    "A write of the value that was there is none.", "A thread could be had.",
    "No descriptor can be had;", "The lock is had in time.", "The read begins anew.",
    "Whoever asks waits.", "It is left to whoever began it.", "Nobody waits.",
    "A copy that nobody reads.", "The client to whom it belongs.", "The node is gone for good.",
    "It stops for good, and is removed.", "A short lease is as good as none.",
    "It hears of every change.", "A caller hears of it.", "The server goes on: it answers.",
    "The work goes on while others wait.", "The first call then goes on.", "It goes on trying.",
    "See what it comes to.", "The lock lives on.", "For use in earnest.",
    "It tells whether a node is up.", "The record stands.", "A key beside the value.",
)
GOOD = (
    "Of course it waits.", "Some of the locks are free.", "A list of a client: its keys.",
    "Nothing, if there is none.", "None of them is free.", "There is none left.",
    "It had been had_once.", "The plan of a canewood.", "The key lives on one node.",
    "It ends for good reasons.", "It is as good as new.", "A `nobody` in code, and `anew`.",
    "The sentence \"node down for good\" is sent.", "A stand-in, as one understands.",
    "It goes on the wire.", "It went only to members.", "See [this](anew/nobody.md).",
    "See <anew.h> for more.", "A word like newer, or hearsay.", "It comes to the same node.",
    "The file nobody_waits.cpp.", "It tells two nodes apart.", "A node stands in for it.",
    "Besides, it waits.",
)


class Phrases(unittest.TestCase):
    def found(self, path, text):
        return list(phrases.retired_phrases([source.File(path, text)]))

    def test_each_phrase_is_found_in_comments_and_pages(self):
        for text in BAD:
            for path, form in (("node/a.cpp", "int a;\n// %s\nint b;\n"),
                               ("node/a.cpp", "int a;  // %s\n"), ("node/a.h", "/* %s */\n"),
                               ("include/sheaf/a.h", "  int a;  ///< %s\n"), ("docs/a.md", "%s\n"),
                               ("README.md", "- %s\n"), ("docs/a.md", "| a | %s |\n"),
                               ("docs/a.md", "1. **%s**\n"), ("tests/a.py", "a = 1  # %s\n"),
                               ("tests/a.py", 'def f():\n    """%s"""\n'), ("a.sh", "  # %s\n"),
                               ("tests/CMakeLists.txt", "# %s\n")):
                self.assertEqual(len(self.found(path, form % text)), 1, (path, text))

    def test_what_is_left_alone(self):
        for text in GOOD:
            for path, form in (("node/a.cpp", "// %s\n"), ("docs/a.md", "%s\n")):
                self.assertEqual(self.found(path, form % text), [], (path, text))

    def test_only_prose_counts(self):
        for path, text in (("node/a.cpp", 'log("nobody goes on: anew");\nint nobody = anew;\n'),
                           ("node/a.cpp", 'auto a = R"(// nobody)";\n'),
                           ("docs/a.md", "```sh\n# whoever asks\n```\n"),
                           ("tests/a.py", 'WORDS = ["whoever", """nobody"""]\n'),
                           ("a.sh", 'echo "nobody"\n'), ("tests/abi/symbols.txt", "# nobody\n")):
            self.assertEqual(self.found(path, text), [], text)

    def test_a_phrase_on_two_lines(self):
        text = "// A thread could\n// be had, or a client that is\n// none.\n"
        found = self.found("node/a.cpp", text)
        self.assertEqual([line.split(":")[1] for line in found], ["2", "2"], found)
        fields = "int a;  // Never\nint b;  // Of the node\n        // be\nint c;  // had\n"
        self.assertEqual(len(self.found("node/a.h", fields)), 1)
        for between in ("//\n", "int a;\n", "  "):
            text = "// A thread could\n%s// be had.\n" % between
            self.assertEqual(len(self.found("node/a.cpp", text)), 1, between)
            text = "// A number that is\n%s// none\n" % between
            self.assertEqual(self.found("node/a.cpp", text), [], between)

    def test_first_words_of_comments_in_programs(self):
        for word in ("Whether", "Who"):
            self.assertTrue(self.found("node/a.h", "/// %s waits.\nint a;\n" % word), word)
            self.assertFalse(self.found("node/a.h", "/// It asks who waits. %s\n" % word), word)
            self.assertFalse(self.found("docs/a.md", "%s waits:\n" % word), word)
        self.assertFalse(self.found("node/a.h", "// Who waits?\n"))
