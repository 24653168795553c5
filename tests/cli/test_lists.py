"""`sheaf list` against three real brokers from `sheaf dev`."""

import json
import signal
import subprocess

from harness import DONE, FAILED, NEGATIVE, USAGE, Case, OnServers, program_words, sheaf


class Lists(OnServers):
    def items(self, name, first="0", last="-1"):
        return self.ends(DONE, "list", "range", name, first, last).split(b"\n")[:-1]

    def test_every_action_does_what_it_says(self):
        name = self.key("jobs")
        self.assertEqual(self.ends(DONE, "list", "push", name, "a", "b", "c"), b"3\n")
        self.assertEqual(self.ends(DONE, "list", "push", name, "e"), b"4\n")
        self.assertEqual(self.ends(DONE, "list", "insert", name, "-1", "d"), b"5\n")
        self.assertEqual(self.items(name), [b"a", b"b", b"c", b"d", b"e"])
        self.assertEqual(self.items(name, "-2", "-1"), [b"d", b"e"])
        self.assertEqual(self.items(name, "1", "1"), [b"b"])
        self.assertEqual(self.items(name, "7", "9"), [])
        self.assertEqual(self.ends(DONE, "list", "update", name, "0", "A"), b"")
        self.assertEqual(self.ends(DONE, "list", "remove", name, "-1"), b"")
        self.assertEqual(self.items(name), [b"A", b"b", b"c", b"d"])
        self.assertEqual(self.ends(DONE, "list", "len", name), b"4\n")
        self.assertEqual(self.ends(DONE, "list", "clear", name), b"")
        self.assertEqual(self.ends(DONE, "list", "len", name), b"0\n")

    def test_an_index_that_is_not_there_ends_with_one(self):
        name = self.key("short")
        self.ends(DONE, "list", "push", name, "only")
        for words in (["insert", name, "2", "x"], ["insert", name, "-2", "x"],
                      ["update", name, "1", "x"], ["remove", name, "1"],
                      ["remove", self.key("nobody wrote it"), "0"]):
            self.assertEqual(self.ends(NEGATIVE, "list", *words), b"")
        self.assertEqual(self.items(name), [b"only"])

    def test_push_reads_one_item_a_line(self):
        name = self.key("lines")
        lines = b"first\n\n-x\n \xff\r\nlast"
        self.assertEqual(self.ends(DONE, "list", "push", name, "-", stdin=lines), b"5\n")
        self.assertEqual(self.items(name), [b"first", b"", b"-x", b" \xff\r", b"last"])
        self.assertEqual(self.ends(DONE, "list", "push", name, "-", stdin=b""), b"5\n")

    def test_values_and_names_may_look_like_anything(self):
        self.assertEqual(self.ends(DONE, "list", "push", "--", "--json", "--", "-1", "push"),
                         b"3\n")
        self.assertEqual(self.ends(DONE, "list", "range", "--", "--json", "0", "-1"),
                         b"--\n-1\npush\n")
        self.assertEqual(self.ends(DONE, "list", "push", b"{}\n\xff", "-5"), b"1\n")
        self.assertEqual(self.ends(DONE, "list", "len", b"{}\n\xff"), b"1\n")

    def test_json_is_one_object_a_line(self):
        def answer(*words):
            done = self.run_on("--json", "list", *words)
            return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]

        name = self.key("j")
        self.assertEqual(answer("push", name, "a", b"\xff"), (DONE, [{"list": name, "length": 2}]))
        self.assertEqual(answer("insert", name, "0", "z"), (DONE, [{"list": name, "length": 3}]))
        self.assertEqual(answer("range", name, "0", "-1"),
                         (DONE, [{"value": "z"}, {"value": "a"}, {"value_base64": "/w=="}]))
        self.assertEqual(answer("update", name, "0", "y"),
                         (DONE, [{"list": name, "updated": True}]))
        self.assertEqual(answer("remove", name, "0"),
                         (DONE, [{"list": name, "removed": True, "value": "y"}]))
        self.assertEqual(answer("remove", name, "5"),
                         (NEGATIVE, [{"list": name, "removed": False}]))
        self.assertEqual(answer("insert", name, "9", "x"),
                         (NEGATIVE, [{"list": name, "inserted": False}]))
        self.assertEqual(answer("len", name), (DONE, [{"list": name, "length": 2}]))
        self.assertEqual(answer("clear", name), (DONE, [{"list": name, "cleared": True}]))

    def test_wrong_words_are_one_sentence(self):
        for words, says in ((["list"], "push, insert"), (["list", "push"], "NAME"),
                            (["list", "push", "l"], "push expects NAME"),
                            (["list", "pop", "l"], "pop"),
                            (["list", "insert", "l", "0"], "insert expects NAME"),
                            (["list", "remove", "l", "x"], "index"),
                            (["list", "range", "l", "0"], "range expects NAME"),
                            (["list", "range", "l", "0", "99999999999999999999"], "index"),
                            (["list", "len", "l", "x"], "len expects NAME"),
                            (["list", "len", ""], "name")):
            self.refused("--servers", self.uri, *words, says=says)

    def test_a_foreign_value_under_the_lists_key_is_reported(self):
        self.ends(DONE, "set", "sheaf/list/{%s}/head" % self.key("odd"), "zebra")
        done = self.run_on("list", "push", self.key("odd"), "x")
        self.assertEqual(done.returncode, FAILED)
        self.assertIn(b"the key holds no sheaf list (format 122)", done.stderr)

    def test_many_processes_push_into_one_list(self):
        name = self.key("many")
        pushers = [subprocess.Popen(
            program_words("--servers", self.uri, "--timeout", "60s", "list", "push", name, "-"),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(4)]
        for number, pusher in enumerate(pushers):
            pusher.stdin.write(b"".join(b"%d/%d\n" % (number, i) for i in range(500)))
            pusher.stdin.close()
        for pusher in pushers:
            pusher.stdout.read()
            self.assertEqual(pusher.wait(), DONE)
        items = self.items(name)
        self.assertEqual(len(items), 2000)
        for number in range(4):
            own = [item for item in items if item.startswith(b"%d/" % number)]
            self.assertEqual(own, [b"%d/%d" % (number, i) for i in range(500)])

    def test_a_killed_writer_delays_the_next_for_its_lease_at_most(self):
        name = self.key("killed")
        self.ends(DONE, "list", "push", name, "before")
        for _ in range(5):
            writer = subprocess.Popen(
                program_words("--servers", self.uri, "list", "push", name, "-"),
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
            writer.stdin.write(b"x\n" * 100)
            writer.stdin.close()
            writer.send_signal(signal.SIGKILL)
            writer.wait()
            self.assertIn(len(self.items(name)) % 100, range(1, 8))
            self.ends(DONE, "list", "push", name, "after", "--timeout", "6s")


class OneProcess(Case):
    def test_a_store_in_the_process_has_lists(self):
        self.assertEqual(self.ends(DONE, "list", "push", "l", "a", "b"), b"2\n")
        self.assertEqual(self.ends(DONE, "list", "range", "l", "0", "-1"), b"")
        self.assertEqual(sheaf("--servers", self.uri, "list", "push").returncode, USAGE)

    def test_nobody_there_ends_with_three(self):
        self.uri = "mqtt://127.0.0.1:1"
        for words in (["push", "l", "a"], ["len", "l"], ["range", "l", "0", "-1"]):
            self.ends(FAILED, "list", *words, "--timeout", "1s")
