"""Commands for all kinds of servers, on a cluster of redis-servers from `sheaf dev`, and on a
server that requires a user and a password."""

import json
import os
import subprocess
import tempfile
import time

import harness
from harness import (DONE, FAILED, NEGATIVE, USAGE, ask_redis, installed, program_words,
                     sheaf)
from lock_cases import LockCases


class Redis(harness.OnServers):
    kind = "redis"

    def lines(self, *words, stdin=b""):
        return [json.loads(line) for line in self.ends(DONE, *words, stdin=stdin).splitlines()]

    def test_keys_are_written_read_and_removed(self):
        version = self.ends(DONE, "set", "k", "v")
        self.assertRegex(version, rb"\A[\w-]{15}\n\Z")
        self.assertEqual(self.ends(DONE, "set", "other", "v"), version, "it is made of the value")
        self.assertEqual(self.ends(DONE, "get", "k"), b"v")
        self.assertEqual(self.lines("get", "k", "--json"),
                         [{"key": "k", "value": "v", "version": version.decode().strip()}])
        self.assertEqual(self.ends(DONE, "del", "k"), b"")
        self.assertEqual(self.ends(NEGATIVE, "get", "k"), b"")
        self.ends(NEGATIVE, "del", "k")

    def test_any_bytes_are_a_value(self):
        value = bytes(range(256)) * 4096
        self.ends(DONE, "set", "bytes", "-", stdin=value)
        self.assertEqual(self.ends(DONE, "get", "bytes"), value)

    def test_conditions_hold_or_end_with_one(self):
        self.ends(DONE, "set", "c", "v", "--if-absent")
        self.ends(NEGATIVE, "set", "c", "w", "--if-absent")
        self.ends(NEGATIVE, "set", "c", "w", "--if-absent-or-equal")
        self.ends(DONE, "set", "c", "v", "--if-absent-or-equal")
        self.ends(NEGATIVE, "del", "c", "--if-value", "w")
        self.assertEqual(self.ends(DONE, "get", "c"), b"v")
        self.ends(DONE, "del", "c", "--if-value", "v")
        self.ends(NEGATIVE, "del", "c", "--if-value", "v")
        self.ends(DONE, "set", "c", "v", "--if-absent-or-equal")
        done = self.run_on("set", "c", "w", "--if-absent", "--json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["stored"]), (NEGATIVE, False))

    def test_getset_ends_with_zero_if_it_has_written(self):
        self.assertEqual(self.ends(NEGATIVE, "getset", "g", "a", "--if-present"), b"")
        self.ends(NEGATIVE, "get", "g")
        self.assertEqual(self.ends(DONE, "getset", "g", "a"), b"")
        self.assertEqual(self.ends(DONE, "getset", "g", "b"), b"a")
        self.assertEqual(self.ends(DONE, "getset", "g", "c", "--if-present"), b"b")
        done = self.run_on("getset", "g", "d", "--if-absent")
        if b"syntax error" in done.stderr:
            self.skipTest("this Redis is older than 7")
        self.assertEqual((done.returncode, done.stdout), (NEGATIVE, b"c"))
        self.assertIn(b"g: not stored, the key already exists on ", done.stderr)
        self.assertEqual(self.ends(DONE, "get", "g"), b"c")
        self.ends(DONE, "del", "g")
        self.assertEqual(self.ends(DONE, "getset", "g", "e", "--if-absent"), b"")
        self.assertEqual(self.ends(DONE, "get", "g"), b"e")

    def test_a_life_ends(self):
        self.ends(DONE, "set", "short", "v", "--ttl", "1ms")
        harness.wait_until(lambda: self.run_on("get", "short").returncode == NEGATIVE, "it ends")

    def test_incr_counts_up_and_down(self):
        self.assertEqual(self.ends(NEGATIVE, "incr", "n"), b"")
        self.assertEqual(self.ends(DONE, "incr", "n", "--initial", "10"), b"10\n")
        self.assertEqual(self.ends(DONE, "incr", "n"), b"11\n")
        self.assertEqual(self.ends(DONE, "incr", "n", "5"), b"16\n")
        self.assertEqual(self.lines("incr", "n", "-6", "--json"), [{"key": "n", "number": 10}])
        self.assertEqual(self.ends(DONE, "incr", "n", "-100"), b"0\n")
        self.ends(DONE, "set", "text", "abc")
        self.ends(FAILED, "incr", "text")
        self.ends(DONE, "set", "most", "9223372036854775807")
        done = self.run_on("incr", "most")
        self.assertEqual(done.returncode, FAILED)
        self.assertIn(b"would overflow", done.stderr)
        self.assertNotIn(b"script", done.stderr)
        self.assertNotIn(b"another kind", done.stderr)
        self.assertEqual(self.ends(DONE, "get", "text"), b"abc")

    def test_touch_reports_whether_the_key_is_there_and_gives_it_a_life(self):
        self.ends(NEGATIVE, "touch", "untouched", "--ttl", "1h")
        self.ends(DONE, "set", "touched", "v")
        self.assertEqual(self.lines("touch", "touched", "--ttl", "1h", "--json"),
                         [{"key": "touched", "touched": True}])
        life = int(self.ends(DONE, "exec", "PTTL", "touched"))
        self.assertTrue(0 < life <= 3_600_000, life)

    def test_a_batch_is_copied_with_json_lines(self):
        lines = b"".join(b'{"key":"b%d","value":"v%d"}\n' % (i, i) for i in range(1000))
        self.assertEqual(self.ends(DONE, "mset", "-", stdin=lines), b"1000 of 1000 keys written\n")
        keys = b"".join(b"b%d\n" % i for i in range(1000))
        self.assertEqual(self.ends(DONE, "mget", "--json", "-", stdin=keys), lines)
        self.assertEqual(self.ends(DONE, "mget", "b1", "none", "b2"), b"b1\tv1\nb2\tv2\n")

    def test_a_list_has_all_actions(self):
        self.assertEqual(self.ends(DONE, "list", "push", "jobs", "a", "b", "c"), b"3\n")
        self.assertEqual(self.ends(DONE, "list", "insert", "jobs", "-1", "x"), b"4\n")
        self.assertEqual(self.ends(DONE, "list", "update", "jobs", "0", "A"), b"")
        self.assertEqual(self.ends(DONE, "list", "range", "jobs", "0", "-1"), b"A\nb\nx\nc\n")
        self.assertEqual(self.ends(DONE, "list", "remove", "jobs", "-1"), b"")
        self.ends(NEGATIVE, "list", "remove", "jobs", "7")
        self.assertEqual(self.ends(DONE, "list", "len", "jobs"), b"3\n")
        self.assertEqual(self.ends(DONE, "list", "drop-holes", "jobs"), b"0\n")
        self.assertEqual(self.ends(DONE, "list", "clear", "jobs"), b"")
        self.assertEqual(self.ends(DONE, "list", "len", "jobs"), b"0\n")

    def test_programs_that_push_at_once_lose_nothing(self):
        running = [subprocess.Popen(program_words("--servers", self.uri, "--timeout", "30s", "list",
                                                  "push", "crowd", "item-%d" % i),
                                    stdout=subprocess.DEVNULL) for i in range(8)]
        self.assertEqual([process.wait(timeout=harness.LONGEST) for process in running], [DONE] * 8)
        items = self.ends(DONE, "list", "range", "crowd", "0", "-1").split()
        self.assertEqual(sorted(items), [b"item-%d" % i for i in range(8)])

    def test_stats_of_every_server(self):
        lines = self.ends(DONE, "stats").decode().splitlines()
        reported = {line.split("\t")[0] for line in lines
                    if line.split("\t")[1] == "redis_version"}
        self.assertEqual(reported, set(self.dev.primaries))
        for report in self.lines("stats", "memory", "--json"):
            self.assertGreater(int(report["stats"]["used_memory"]), 0)
            self.assertNotIn("redis_version", report["stats"])

    def tag_on(self, node):
        """A hash tag whose slot this server owns."""
        names = ["{tag%d}" % i for i in range(64)]
        owners = dict(line.split("\t") for line in self.ends(DONE, "locate", *names).decode()
                      .splitlines())
        return next(name for name in names if owners[name] == node)

    def test_keys_are_listed_with_what_is_asked_of_them(self):
        self.ends(DONE, "set", "mortal", "abc", "--ttl", "1h")
        for i in range(5):
            self.ends(DONE, "set", "other%d" % i, "v" * i)
        self.ends(DONE, "set", b"odd\t\\ \xff", "v")
        self.ends(DONE, "exec", "RPUSH", "list", "a")
        others = [b"other%d" % i for i in range(5)]
        self.assertEqual(sorted(self.ends(DONE, "keys").splitlines()),
                         sorted([b"mortal", rb"odd\x09\x5C \xFF", b"list", *others]))
        self.assertEqual(sorted(self.ends(DONE, "keys", "other[1-9]").splitlines()), others[1:])
        self.assertEqual(self.ends(DONE, "keys", "odd*", "--raw"), b"odd\t\\ \xff\n")
        self.assertEqual(len(self.ends(DONE, "keys", "--limit", "3").splitlines()), 3)
        self.assertEqual(self.ends(DONE, "keys", "none*"), b"")
        self.assertEqual(self.ends(DONE, "keys", "other3", "--ttl", "--size"), b"other3\t-\t3\n")
        self.assertEqual(self.lines("keys", "list", "--size", "--json"),
                         [{"key": "list", "size": None}])
        key, = self.lines("keys", "mortal", "--ttl", "--size", "--json")
        self.assertTrue(0 < key.pop("ttl") <= 3600)
        self.assertEqual(key, {"key": "mortal", "size": 3})

    def test_ttl_is_in_seconds_and_an_absent_key_has_none(self):
        self.ends(DONE, "set", "mortal", "v", "--ttl", "1h")
        self.ends(DONE, "set", "immortal", "v")
        self.assertTrue(0 < int(self.ends(DONE, "ttl", "mortal")) <= 3600)
        self.assertEqual(self.ends(DONE, "ttl", "immortal"), b"-\n")
        self.assertEqual(self.ends(NEGATIVE, "ttl", "absent"), b"")
        self.assertEqual(self.ends(NEGATIVE, "ttl", "immortal", "absent"), b"immortal\t-\n")
        self.assertEqual(self.ends(DONE, "ttl", "-", stdin=b"immortal\n"), b"-\n")

    def test_keys_in_a_slot_that_moves_to_a_server_that_was_scanned_are_listed(self):
        replies = self.ends(DONE, "exec", "--all-nodes", "DBSIZE").decode().splitlines()
        first, _, last = replies[::2]  # in the order in which the servers are scanned
        many, moved = self.tag_on(first), self.tag_on(last)
        keys = ["%s%d" % (moved, i) for i in range(500)]
        lines = "".join("%s%d\tv\n" % (many, i) for i in range(50_000))
        lines += "".join("%s\tv\n" % key for key in keys)
        self.ends(DONE, "mset", "-", stdin=lines.encode())
        # While its output is not read, it waits in the middle of the first server.
        with subprocess.Popen(program_words("--servers", self.uri, "--timeout", "30s", "keys"),
                              stdout=subprocess.PIPE) as listing:
            first_bytes = listing.stdout.read(1000)
            slot = ask_redis(first, "CLUSTER", "KEYSLOT", moved)
            source, target = (ask_redis(node, "CLUSTER", "MYID") for node in (last, first))
            ask_redis(first, "CLUSTER", "SETSLOT", slot, "IMPORTING", source)
            ask_redis(last, "CLUSTER", "SETSLOT", slot, "MIGRATING", target)
            host, port = first.split(":")
            self.assertEqual(ask_redis(last, "MIGRATE", host, port, "", 0, 30_000, "KEYS", *keys),
                             "OK")
            for node in reversed(self.dev.primaries):
                ask_redis(node, "CLUSTER", "SETSLOT", slot, "NODE", target)
            out = first_bytes + listing.stdout.read()
        self.assertEqual(listing.returncode, DONE)
        listed = set(out.decode().splitlines())
        self.assertEqual(set(keys) - listed, set())
        self.assertEqual(len(listed), 50_500)

    def test_what_redis_has_not_is_refused_in_a_sentence(self):
        self.ends(DONE, "set", "kept", "v")
        for words in (("set", "kept", "w", "--fence", "1"), ("del", "kept", "--fence", "1"),
                      ("get", "kept", "--fence", "1"), ("get", "absent", "--fence", "1")):
            done = self.run_on(*words)
            self.assertEqual((done.returncode, done.stdout), (USAGE, b""), words)
            self.assert_sentences(done.stderr)
        self.assertEqual(self.ends(DONE, "get", "kept"), b"v")
        self.ends(USAGE, "get", "k" * 8193)


class RedisLocks(LockCases, harness.OnServers):
    kind = "redis"
    token = rb"."


class Seeds(harness.OnServers):
    """One server of several is enough to find the others."""

    kind = "redis"

    def test_a_seed_that_is_not_there_does_no_harm(self):
        dead = "127.0.0.1:1"
        for seeds in ((dead, self.dev.nodes[0]), (self.dev.nodes[2], dead),
                      (dead, self.dev.nodes[1], self.dev.nodes[2])):
            self.uri = "redis://" + ",".join(seeds)
            for i in range(6):
                self.ends(DONE, "set", "k%d" % i, seeds[0])
                self.assertEqual(self.ends(DONE, "get", "k%d" % i), seeds[0].encode())

    def test_all_that_are_not_there_are_a_sentence(self):
        done = sheaf("--servers", "redis://127.0.0.1:1,127.0.0.1:2", "get", "k", "--timeout", "1s")
        self.assertEqual((done.returncode, done.stdout), (FAILED, b""))
        self.assert_sentences(done.stderr)


def locked_redis(folder):
    """A single server that lets only `app` in, with the password `p@ss`."""
    path = os.path.join(folder, "redis.conf")

    def words(port):
        with open(path, "w", encoding="utf-8") as file:
            file.write('bind 127.0.0.1\nport %d\nsave ""\ndir %s\nuser default off\n'
                       'user app on >p@ss ~* +@all\n' % (port, folder))
        return [os.environ.get("REDIS_SERVER") or installed("redis-server") or
                installed("valkey-server"), path]

    return harness.Server(words, b"Ready to accept connections")


class Login(harness.Case):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.server = locked_redis(folder.name)
        cls.addClassCleanup(cls.server.end)

    def uri_of(self, login):
        return "redis://%s%s?routing=ring" % (login, self.server.node)

    def test_a_user_with_a_password_is_let_in(self):
        self.uri = self.uri_of("app:p%40ss@")
        self.ends(DONE, "set", "k", "v")
        self.assertEqual(self.ends(DONE, "get", "k"), b"v")
        self.assertEqual(self.ends(DONE, "incr", "n", "--initial", "1"), b"1\n")
        self.ends(DONE, "nodes")

    def test_a_wrong_one_is_one_sentence_that_names_the_server_and_not_the_password(self):
        for login, says in (("app:secret-guess@", b"WRONGPASS"),
                            ("nobody:secret-guess@", b"WRONGPASS"), ("", b"NOAUTH")):
            begin = time.monotonic()
            done = sheaf("--servers", self.uri_of(login), "get", "k", "--timeout", "30s")
            self.assertEqual((done.returncode, done.stdout), (FAILED, b""), login)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assert_sentences(done.stderr)
            self.assertIn(says, done.stderr)
            self.assertIn(self.server.node.encode(), done.stderr)
            self.assertNotIn(b"secret-guess", done.stderr)
            self.assertLess(time.monotonic() - begin, 10, "it is known at once")

    def test_the_password_is_in_a_file_or_in_the_environment(self):
        user = self.uri_of("app@")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "password")
            with open(path, "w", encoding="utf-8") as file:
                file.write("p@ss\n")
            done = sheaf("--servers", user, "--password-file", path, "set", "f", "v")
            self.assertEqual((done.returncode, done.stderr), (DONE, b""))
            done = sheaf("--servers", user, "get", "f",
                         env={**os.environ, "SHEAF_PASSWORD": "p@ss"})
            self.assertEqual((done.returncode, done.stdout), (DONE, b"v"))
            done = sheaf("--servers", user, "--password-file", path, "get", "f",
                         env={**os.environ, "SHEAF_PASSWORD": "p@ss"})
            self.assertEqual((done.returncode, done.stdout), (USAGE, b""))
            self.assert_sentences(done.stderr)
            self.assertIn(b"is given both by", done.stderr)
            self.assertNotIn(b"p@ss", done.stderr)
            missing = os.path.join(folder, "missing")
            done = sheaf("--servers", user, "--password-file", missing, "get", "f")
            self.assertEqual(done.returncode, USAGE)
            self.assertIn(missing.encode(), done.stderr)
        done = sheaf("--servers", self.uri_of("app:p%40ss@"), "get", "f",
                     env={**os.environ, "SHEAF_PASSWORD": "p@ss"})
        self.assertEqual(done.returncode, USAGE)

    def test_nobody_sees_the_password_of_a_program_that_runs(self):
        words = program_words("--servers", self.uri_of("app:p%40ss@"), "watch", "seen", "--json")
        with subprocess.Popen(words, stdout=subprocess.PIPE) as running:
            try:
                self.assertIn(b"current", running.stdout.readline())
                with open("/proc/%d/cmdline" % running.pid, "rb") as file:
                    shown = file.read()
                self.assertIn(b"redis://app:******@", shown)
                self.assertNotIn(b"p%40ss", shown)
            finally:
                running.terminate()
