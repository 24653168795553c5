"""Every command on real memcached servers, which `sheaf dev --memcached` starts."""

import json
import os
import signal
import socket
import subprocess
import sys
from urllib import parse

import harness
from harness import (DONE, FAILED, NEGATIVE, USAGE, Dev, ask_memcached, installed, is_alive,
                     program_words, sheaf, wait_until)


class Memcached(harness.OnServers):
    kind = "memcached"

    def test_keys_are_written_read_and_removed(self):
        self.assertRegex(self.ends(DONE, "set", "k", "v"), rb"\A\d+\n\Z")
        self.assertEqual(self.ends(DONE, "get", "k"), b"v")
        self.ends(NEGATIVE, "set", "k", "w", "--if-absent")
        self.ends(DONE, "set", "l", "w", "--ttl", "1h")
        self.assertEqual(self.ends(DONE, "mget", "k", "l", "none"), b"k\tv\nl\tw\n")
        self.ends(DONE, "del", "k")
        self.ends(NEGATIVE, "get", "k")

    def test_a_batch_is_copied_with_json_lines(self):
        lines = b"".join(b'{"key":"b%d","value":"v%d"}\n' % (i, i) for i in range(1000))
        self.assertEqual(self.ends(DONE, "mset", "-", stdin=lines), b"1000 of 1000 keys written\n")
        keys = b"".join(b"b%d\n" % i for i in range(1000))
        self.assertEqual(self.ends(DONE, "mget", "--json", "-", stdin=keys), lines)

    def test_mset_reads_what_mget_prints_in_either_form(self):
        pairs = b"r1\tone\n{r}2\t\nr3\ta\tb\r\nr4\t{\"key\":1}\nr5\t\xff\0 \n"
        keys = b"r1\n{r}2\nr3\nr4\nr5\n"
        for form in ((), ("--json",)):
            self.assertEqual(self.ends(DONE, "mset", "-", stdin=pairs), b"5 of 5 keys written\n")
            printed = self.ends(DONE, "mget", "-", *form, stdin=keys)
            self.ends(DONE, "del", "-", stdin=keys)
            self.ends(DONE, "mset", "-", *form, stdin=printed)
            self.assertEqual(self.ends(DONE, "mget", "-", stdin=keys), pairs)

    def test_what_memcached_has_beside_values(self):
        self.ends(NEGATIVE, "append", "t", "x")
        self.ends(NEGATIVE, "set", "t", "x", "--if-present")
        version = self.ends(DONE, "set", "t", "b", "--flags", "7").decode().strip()
        self.ends(DONE, "append", "t", "-", stdin=b"c")
        self.ends(DONE, "prepend", "t", "a")
        self.assertEqual(self.ends(DONE, "get", "t", "--touch", "1h"), b"abc")
        done = self.run_on("set", "t", "old", "--if-version", version)
        self.assertEqual(done.returncode, NEGATIVE)
        self.assertIn(b"does not have this version", done.stderr)
        self.ends(NEGATIVE, "del", "t", "--if-version", version)
        version = json.loads(self.ends(DONE, "get", "t", "--json"))["version"]
        self.ends(DONE, "set", "t", "new", "--if-version", version)
        self.ends(DONE, "exists", "t")
        self.assertEqual(self.ends(DONE, "del", "t", "u", "--json"),
                         b'{"key":"t","removed":true}\n{"key":"u","removed":false,'
                         b'"reason":"absent"}\n')
        self.assertEqual(self.ends(NEGATIVE, "exists", "t", "--json"),
                         b'{"key":"t","exists":false}\n')
        self.ends(USAGE, "getset", "t", "x")

    def test_a_million_keys_take_little_memory(self):
        # A separate process, so that the kernel keeps its largest size.
        script = ("import resource, subprocess, sys\n"
                  "done = subprocess.run(sys.argv[1:])\n"
                  "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)\n"
                  "sys.exit(done.returncode)\n")
        def largest(*words, stdin):
            done = subprocess.run([sys.executable, "-c", script, *program_words(
                "--servers", self.uri, "--timeout", "30s", *words)], input=stdin,
                capture_output=True, check=False, timeout=600)
            self.assertEqual(done.returncode, DONE, done.stderr)
            return int(done.stderr.split()[-1]) / 1024, done.stdout
        with open(harness.program, "rb") as file:
            sanitized = b"__asan_init" in file.read()
        count = 100_000 if sanitized else 1_000_000
        lines = b"".join(b'{"key":"%d","value":"v%d"}\n' % (i, i) for i in range(count))
        written, out = largest("mset", "-", stdin=lines)
        self.assertEqual(out, b"%d of %d keys written\n" % (count, count))
        keys = b"".join(b"%d\n" % i for i in range(count))
        read, out = largest("mget", "-", "--json", stdin=keys)
        self.assertEqual(out.count(b"\n"), count)
        listed, out = largest("keys", "--ttl", stdin=b"")
        self.assertEqual(len(set(out.splitlines())), count)
        if not sanitized:
            self.assertLess(max(written, read, listed), 64, "MiB")

    def test_incr_counts_up_and_down(self):
        self.assertEqual(self.ends(NEGATIVE, "incr", "n"), b"")
        self.assertEqual(self.ends(DONE, "incr", "n", "--initial", "10"), b"10\n")
        self.assertEqual(self.ends(DONE, "incr", "n"), b"11\n")
        self.assertEqual(self.ends(DONE, "incr", "n", "5"), b"16\n")
        self.assertEqual(self.ends(DONE, "incr", "n", "-6", "--json"),
                         b'{"key":"n","number":10}\n')
        self.assertEqual(self.ends(DONE, "incr", "n", "-100"), b"0\n")
        self.assertEqual(self.ends(NEGATIVE, "incr", "none", "--json"),
                         b'{"key":"none","number":null}\n')
        self.ends(DONE, "set", "text", "abc")
        self.ends(FAILED, "incr", "text")

    def test_touch_reports_whether_the_key_is_there(self):
        self.ends(NEGATIVE, "touch", "untouched", "--ttl", "1h")
        self.ends(DONE, "set", "touched", "v")
        self.assertEqual(self.ends(DONE, "touch", "touched", "--ttl", "1h"), b"")
        self.assertEqual(self.ends(DONE, "touch", "touched", "--ttl", "1h", "--json"),
                         b'{"key":"touched","touched":true}\n')

    def test_keys_are_listed_with_what_is_asked_of_them(self):
        self.ends(DONE, "set", "mortal", "abc", "--ttl", "1h")
        for i in range(20):
            self.ends(DONE, "set", "other%d" % i, "v")
        self.ends(DONE, "set", b"odd \x5c\xc3\xa9", "v")
        others = sorted(b"other%d" % i for i in range(20))

        def listed(*words):
            return sorted(self.ends(DONE, "keys", *words).splitlines())

        # An item that was removed from all of them may still be on its way out.
        wait_until(lambda: listed() == sorted([b"mortal", b"odd \\x5C\xc3\xa9", *others]),
                   "nothing else is there")
        self.assertEqual(listed("other1*"), [key for key in others if key.startswith(b"other1")])
        self.assertEqual(listed("odd*", "--raw"), [b"odd \x5c\xc3\xa9"])
        self.assertEqual(len(listed("--limit", "7")), 7)
        key, ttl, size = self.ends(DONE, "keys", "m*", "--ttl", "--size").strip().split(b"\t")
        self.assertEqual(key, b"mortal")
        self.assertTrue(0 < int(ttl) <= 3601, ttl)
        self.assertGreater(int(size), 3 + len("mortal"), "with its overhead")
        self.assertEqual(json.loads(self.ends(DONE, "keys", "other7", "--ttl", "--json")),
                         {"key": "other7", "ttl": None})

    def test_ttl_is_in_seconds_and_an_absent_key_has_none(self):
        self.ends(DONE, "set", "mortal", "v", "--ttl", "1h")
        self.ends(DONE, "set", "immortal", "v")
        self.assertTrue(0 < int(self.ends(DONE, "ttl", "mortal")) <= 3600)
        self.assertEqual(self.ends(DONE, "ttl", "immortal", "--json"),
                         b'{"key":"immortal","exists":true,"ttl":null}\n')
        self.assertEqual(self.ends(NEGATIVE, "ttl", "absent"), b"")

    def items_of(self, list_name):
        """The keys of a list's items, as the server reports them."""
        node = json.loads(self.ends(DONE, "locate", "--json", "{%s}" % list_name))["node"]
        # By the hash table, because a walk by age skips items that the server moves meanwhile.
        dump = ask_memcached(node, b"lru_crawler metadump hash")
        keys = [parse.unquote(line.split()[0][4:]) for line in map(bytes.decode, dump[:-1])]
        return [key for key in keys if key.startswith("sheaf/list/{%s}/i" % list_name)]

    def test_a_list_loses_what_the_server_drops_and_says_so(self):
        self.assertEqual(self.ends(DONE, "list", "push", "jobs", "a", "b", "c"), b"3\n")
        self.assertEqual(self.ends(DONE, "list", "range", "jobs", "0", "-1"), b"a\nb\nc\n")
        self.assertEqual(self.ends(DONE, "list", "drop-holes", "jobs"), b"0\n")
        items = []

        def has_three():  # the crawler may be busy
            items[:] = self.items_of("jobs")
            return len(items) == 3

        wait_until(has_three, "the dump has all items")
        self.ends(DONE, "del", items[0])
        ended = self.run_on("list", "range", "jobs", "0", "-1")
        self.assertEqual(ended.returncode, FAILED)
        self.assertIn(b"is missing", ended.stderr)
        self.assertEqual(self.ends(DONE, "list", "len", "jobs"), b"3\n")
        self.assertEqual(self.ends(DONE, "list", "drop-holes", "jobs", "--json"),
                         b'{"list":"jobs","dropped":1}\n')
        self.assertEqual(self.ends(DONE, "list", "len", "jobs"), b"2\n")

    def test_placements_of_other_clients_are_drawn_and_used(self):
        for ring in ("modula", "pymemcache", "dalli"):
            self.uri = self.dev.uri + "?ring=" + ring
            shares = [json.loads(line) for line in
                      self.ends(DONE, "ring", "--keys", "1000", "--json").splitlines()]
            self.assertEqual([share["node"] for share in shares], self.dev.nodes)
            self.assertEqual(sum(share["keys"] for share in shares), 1000)
            picture = self.ends(DONE, "ring").decode().splitlines()
            self.assertEqual([line.split()[0] for line in picture[1:]], self.dev.nodes)
            key = self.key("{t}" + ring)
            found = json.loads(self.ends(DONE, "locate", "--json", key))
            self.assertEqual(found["routing_key"], key)
            self.assertEqual(found["slot"] != 0, ring == "dalli")
            self.assertIn(found["node"], found["reason"])
            self.ends(DONE, "set", key, "v")
            self.uri = "memcached://" + found["node"]
            self.assertEqual(self.ends(DONE, "get", key), b"v")

    def test_stats_of_every_server(self):
        lines = self.ends(DONE, "stats").decode().splitlines()
        reported = {line.split("\t")[0] for line in lines if line.split("\t")[1] == "version"}
        self.assertEqual(reported, set(self.dev.nodes))
        for line in self.ends(DONE, "stats", "settings", "--json").splitlines():
            self.assertEqual(json.loads(line)["stats"]["maxconns"], "1024")
        self.ends(USAGE, "stats", "nonsense")

    def test_nodes_have_no_clock_and_nobody_complains(self):
        done = self.run_on("nodes")
        self.assertEqual((done.returncode, done.stderr), (DONE, b""))
        for line in self.ends(DONE, "nodes", "--json").splitlines():
            report = json.loads(line)
            self.assertEqual(report["health"], "up")
            self.assertIsNone(report["clock_difference_ms"])
            self.assertNotIn("error", report)

    def test_what_memcached_has_not_is_refused_in_a_sentence(self):
        self.ends(DONE, "set", "kept", "v")
        for words in (("watch", "kept"), ("set", "kept", "w", "--if-absent-or-equal"),
                      ("set", "kept", "w", "--fence", "1"), ("del", "kept", "--if-value", "v")):
            self.ends(USAGE, *words)
        self.assertEqual(self.ends(DONE, "get", "kept"), b"v")
        for words in (("incr", "k"), ("touch", "k", "--ttl", "1s")):
            self.assertEqual(sheaf("--servers", "embedded://1", *words).returncode, USAGE)

    def test_servers_are_those_that_a_configuration_endpoint_lists(self):
        # A memcached that has the list under its key in the older form.
        endpoint, *listed = self.dev.nodes
        words = " ".join("localhost|%s|%s" % tuple(node.split(":")) for node in listed)
        self.assertEqual(sheaf("--servers", "memcached://" + endpoint, "set",
                               "AmazonElastiCache:cluster", "7\n%s\n" % words).returncode, DONE)
        source = "memcached+elasticache://" + endpoint
        self.assertEqual(sheaf("--servers", source, "set", "listed", "v").returncode, DONE)
        done = sheaf("get", "listed", env=dict(os.environ, SHEAF_SERVERS=source))
        self.assertEqual((done.returncode, done.stdout), (DONE, b"v"))
        done = sheaf("--servers", source, "nodes", "--json")
        nodes = {json.loads(line)["node"] for line in done.stdout.splitlines()}
        self.assertEqual(nodes, {"localhost:" + node.split(":")[1] for node in listed})

    def test_a_source_without_a_list_ends_the_command_before_it_is_sent(self):
        self.uri = "memcached+elasticache://" + self.dev.nodes[1]
        done = self.run_on("get", "k")
        self.assertEqual((done.returncode, done.stdout), (FAILED, b""))
        self.assertIn(b"is not a configuration endpoint", done.stderr)
        self.assert_sentences(done.stderr)
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            self.uri = "memcached+elasticache://127.0.0.1:%d" % silent.getsockname()[1]
            self.ends(FAILED, "set", "k", "v", "--timeout", "100ms")
        self.uri = "memcached+srv://_m._tcp..example"
        self.assertIn(b"has an empty part", self.run_on("get", "k").stderr)
        self.ends(USAGE, "get", "k")

    def test_a_key_or_value_above_the_limits_is_refused_here(self):
        self.ends(USAGE, "get", "k" * 251)
        self.ends(USAGE, "set", "large", "-", stdin=b"x" * (1 << 20))


class Locked(harness.CaseWithFolder):
    """Servers that require a login."""

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def server(self, *words):
        made = harness.Server(lambda port: [installed("memcached"), "-u", "root", "-l", "127.0.0.1",
                                            "-p", port, *words])
        self.addCleanup(made.end)
        wait_until(lambda: accepts(made.node), "it listens")
        return made.node

    def test_keys_are_listed_for_a_user_who_is_let_in(self):
        passwords = self.path("passwords")
        for path, text in (passwords, "ann:right\n"), (self.path("secret"), "right\n"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        node = self.server("-Y", passwords)
        self.uri = "memcached://ann:right@%s?protocol=meta" % node
        self.ends(DONE, "set", "k", "v")
        self.assertEqual(self.ends(DONE, "keys"), b"k\n")
        self.uri = "memcached://ann@%s?protocol=meta" % node
        self.assertEqual(self.ends(DONE, "--password-file", self.path("secret"), "keys"), b"k\n")
        self.uri = "memcached://ann:wrong@%s" % node
        self.assertNotIn(b"wrong", self.refusal_of_keys())
        self.uri = "memcached://" + node
        self.assertIn(b"requires a user name and a password", self.refusal_of_keys())

    def test_a_server_of_the_binary_protocol_alone_has_no_list(self):
        self.uri = "memcached://" + self.server("-B", "binary")
        self.assertIn(b"speaks only the binary protocol", self.refusal_of_keys())

    def refusal_of_keys(self):
        done = self.run_on("keys")
        self.assertEqual((done.returncode, done.stdout), (FAILED, b""), done.stderr)
        self.assert_sentences(done.stderr)
        return done.stderr


def accepts(node):
    try:
        harness.connect(node).close()
    except ConnectionRefusedError:
        return False
    return True


class Development(harness.CaseWithFolder):
    def test_the_uri_stands_alone_and_the_servers_end_with_it(self):
        line = self.run_dev_until(signal.SIGTERM, memcached=1)
        self.assertRegex(line, r"\Amemcached://127\.0\.0\.1:\d+\n\Z")

    def test_servers_do_not_outlive_a_dev_that_is_killed(self):
        dev = Dev(memcached=1)
        dev.end(signal.SIGKILL)
        wait_until(lambda: not any(is_alive(pid) for pid in dev.pids.values()), "servers end")


class AKilledServer(harness.OnOwnServers):
    kind = "memcached"
    count = 2

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.alive, cls.dead = cls.dev.nodes
        cls.dev.kill(cls.dead)
        cls.dev.wait_for_note(("%s was terminated by signal 9" % cls.dead).encode())

    def test_its_keys_fail_and_no_others(self):
        for i in range(20):
            key = "k%d" % i
            owner = self.ends(DONE, "locate", key).split()[1].decode()
            self.ends(DONE if owner == self.alive else FAILED, "set", key, "v", "--timeout", "1s")

    def test_the_keys_of_the_others_are_listed(self):
        alive = next(key for key in ("k%d" % i for i in range(64)) if self.alive.encode() in
                     self.ends(DONE, "locate", key))
        self.ends(DONE, "set", alive, "v")
        done = self.run_on("keys", alive)
        self.assertEqual((done.returncode, done.stdout), (FAILED, alive.encode() + b"\n"))
        self.assert_sentences(done.stderr)
        self.assertEqual(done.stderr.count(b"the keys of %s cannot be listed: " %
                                           self.dead.encode()), 1, done.stderr)
        failure = json.loads(self.run_on("keys", "none", "--json").stdout)
        self.assertEqual(failure["node"], self.dead)

    def test_top_shows_it_as_down_and_a_load_names_it(self):
        def health():
            rows = map(json.loads, self.ends(DONE, "top", "--count", "1", "--json").splitlines())
            return {row["node"]: row["health"] for row in rows}

        wait_until(lambda: health() == {self.alive: "up", self.dead: "down"}, "down")
        done = self.run_on("bench", "--count", "100", "--timeout", "500ms")
        self.assertEqual(done.returncode, FAILED)
        self.assertIn(self.dead.encode(), done.stderr)
