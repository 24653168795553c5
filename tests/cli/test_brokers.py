"""Every command against three real brokers from `sheaf dev`."""

import base64
import json
import tempfile
import time

from harness import (DONE, FAILED, NEGATIVE, USAGE, Case, OnOwnServers, OnServers, locked_broker,
                     reserved_port, sheaf, wait_until)

BINARY = b"\x00\r\n\xff\xfe\t\x1b \xc3\xa9\r\n\r\n*3\r\n$3\r\nSET\r\n"


def pattern(size):
    return (bytes(range(256)) + b"\r\n\0") * (size // 259 + 1)


class OnBrokers(OnServers):
    def nodes_of(self, keys):
        out = self.ends(DONE, "locate", "-", stdin=b"".join(key + b"\n" for key in keys))
        return dict(line.split(b"\t") for line in out.splitlines())

    def read_json(self, *words, code=DONE, stdin=b""):
        return [json.loads(line)
                for line in self.ends(code, "--json", *words, stdin=stdin).splitlines()]

    def write(self, items):
        lines = b"".join(json.dumps({"key_base64": base64.b64encode(key).decode(),
                                     "value_base64": base64.b64encode(value).decode()}).encode()
                         + b"\n" for key, value in items.items())
        out = self.ends(DONE, "mset", "-", stdin=lines)
        self.assertEqual(out, b"%d of %d keys written\n" % (len(items), len(items)))


class Listing(OnBrokers):
    def test_keys_are_listed_with_what_is_asked_of_them(self):
        self.ends(DONE, "set", self.key("mortal"), "abc", "--ttl", "1h")
        self.ends(DONE, "set", self.key(b"odd\t\\"), "")
        self.assertEqual(self.ends(DONE, "keys", self.key("odd*"), "--ttl", "--size"),
                         self.key(rb"odd\x09\x5C") + b"\t-\t0\n")
        key, = self.read_json("keys", self.key("mor*"), "--ttl", "--size")
        self.assertTrue(0 < key.pop("ttl") <= 3600)
        self.assertEqual(key, {"key": self.key("mortal"), "size": 3})
        self.assertTrue(0 < int(self.ends(DONE, "ttl", self.key("mortal"))) <= 3600)
        self.assertEqual(self.ends(DONE, "ttl", self.key(b"odd\t\\")), b"-\n")
        self.assertEqual(self.ends(NEGATIVE, "ttl", self.key("none")), b"")

    def test_many_keys_of_all_brokers_are_listed_page_by_page(self):
        keys = sorted(self.key(b"%d" % i) for i in range(5_000))
        self.ends(DONE, "mset", "-", stdin=b"".join(key + b"\tv\n" for key in keys))
        self.assertEqual(sorted(self.ends(DONE, "keys", self.key("*")).splitlines()), keys)
        some = self.ends(DONE, "keys", self.key("*"), "--limit", "9")
        self.assertEqual(len(some.splitlines()), 9)

    def test_a_broker_without_sheafs_store_has_no_list(self):
        with tempfile.TemporaryDirectory() as folder, \
                locked_broker(folder, "ann", "right") as broker:
            done = sheaf("--servers", "mqtt://ann:right@" + broker.node, "--timeout", "5s", "keys")
        self.assertEqual((done.returncode, done.stdout), (FAILED, b""))
        self.assert_sentences(done.stderr)

    def test_a_store_in_the_process_answers_as_well(self):
        self.uri = "embedded://2"
        self.assertEqual(self.ends(DONE, "keys"), b"")
        self.ends(NEGATIVE, "ttl", "none")


class Values(OnBrokers):
    def test_a_second_process_reads_what_the_first_wrote(self):
        for i in range(20):
            self.ends(DONE, "set", self.key("shared-%d" % i), "value-%d" % i)
        for i in range(20):
            self.assertEqual(self.ends(DONE, "get", self.key("shared-%d" % i)), b"value-%d" % i)

    def test_values_come_back_byte_for_byte(self):
        key = self.key("bytes")
        for value in (b"", b"\n", BINARY, pattern(65536)[:65536], pattern(10 << 20)[:10 << 20]):
            self.ends(DONE, "set", key, "-", stdin=value)
            self.assertEqual(self.ends(DONE, "get", key), value)

    def test_keys_may_be_any_bytes(self):
        for key in (b"\xff\xfe", b" ", b"\n", b"[a,b]", b"++", b"get", b"\r\n\t", b"\x01x",
                    b"{", b"k" * 5000):
            self.ends(DONE, "set", key, b"of " + key)
            self.assertEqual(self.ends(DONE, "get", key), b"of " + key)
            self.ends(DONE, "del", key)
        self.ends(DONE, "set", "--", "--json", "-v")
        self.assertEqual(self.ends(DONE, "get", "--", "--json"), b"-v")

    def test_options_stand_before_and_after_the_command(self):
        key = self.key("order")
        self.ends(DONE, "set", key, "v")
        for words in (["--servers", self.uri, "--timeout", "5s", "--json", "get", key],
                      ["get", "--servers", self.uri, "--json", key, "--timeout=5s"],
                      ["get", key, "--json", "--timeout", "5s", "--servers", self.uri]):
            done = sheaf(*words)
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertEqual(json.loads(done.stdout)["value"], "v")

    def test_the_printed_version_is_that_of_the_value(self):
        version = self.ends(DONE, "set", self.key("k"), "v").decode().strip()
        self.assertEqual(self.read_json("get", self.key("k"))[0]["version"], version)

    def test_del_prints_the_version_of_what_it_removed(self):
        key = self.key("removed")
        version = self.ends(DONE, "set", key, "v").decode().strip()
        self.assertEqual(self.read_json("del", key),
                         [{"key": key, "removed": True, "version": version}])
        self.assertEqual(self.read_json("del", key, code=NEGATIVE),
                         [{"key": key, "removed": False, "reason": "absent"}])

    def test_a_time_to_live_ends_a_value(self):
        short, long = self.key("short"), self.key("long")
        self.ends(DONE, "set", short, "v", "--ttl", "1s")
        self.ends(DONE, "set", long, "v", "--ttl", "1h")
        wait_until(lambda: self.run_on("get", short).returncode == NEGATIVE, "the value is gone")
        self.ends(DONE, "get", long)

    def test_del_reports_whether_the_key_was_there(self):
        key = self.key("gone")
        self.ends(DONE, "set", key, "v")
        self.ends(DONE, "del", key)
        self.ends(NEGATIVE, "del", key)
        self.ends(NEGATIVE, "get", key)


class Conditions(OnBrokers):
    def test_if_absent_stores_once(self):
        key = self.key("once")
        self.ends(DONE, "set", key, "a", "--if-absent")
        done = self.run_on("set", key, "a", "--if-absent")
        self.assertEqual((done.returncode, done.stdout), (NEGATIVE, b""))
        self.assertIn(b"once: not stored, the key already exists on ", done.stderr)
        rows = self.read_json("set", key, "b", "--if-absent", code=NEGATIVE)
        self.assertFalse(rows[0]["stored"])
        self.assertEqual(self.ends(DONE, "get", key), b"a")

    def test_if_absent_or_equal_stores_again_what_is_there(self):
        key = self.key("again")
        self.ends(DONE, "set", key, "a", "--if-absent-or-equal")
        self.ends(DONE, "set", key, "a", "--if-absent-or-equal")
        done = self.run_on("set", key, "b", "--if-absent-or-equal")
        self.assertEqual(done.returncode, NEGATIVE)
        self.assertIn(b"again: not stored, the key holds another value on ", done.stderr)
        self.assertEqual(self.ends(DONE, "get", key), b"a")

    def test_del_if_value_removes_only_that_value(self):
        key = self.key("mine")
        self.ends(DONE, "set", key, "a")
        self.ends(NEGATIVE, "del", key, "--if-value", "b")
        self.assertEqual(self.read_json("del", key, "--if-value", "b", code=NEGATIVE),
                         [{"key": key, "removed": False, "reason": "value differs"}])
        self.ends(DONE, "del", key, "--if-value", "a")
        self.ends(NEGATIVE, "del", key, "--if-value", "a")

    def test_a_fence_keeps_older_tokens_and_none_out(self):
        lock, data = self.key("{f}lock"), self.key("{f}data")
        first = self.ends(DONE, "set", lock, "1", "--if-absent").decode().strip()
        self.ends(DONE, "set", data, "1", "--fence", first)
        self.ends(DONE, "del", lock, "--if-value", "1")
        second = self.ends(DONE, "set", lock, "2", "--if-absent").decode().strip()
        self.ends(DONE, "set", data, "2", "--fence", second)
        node, = self.nodes_of([data.encode()]).values()
        for words in (["set", data, "1", "--fence", first], ["set", data, "x"],
                      ["del", data], ["del", data, "--fence", first]):
            done = self.run_on(*words)
            self.assertEqual(done.returncode, FAILED)
            self.assertIn(node, done.stderr)
        self.assertEqual(self.ends(DONE, "get", data), b"2")
        self.ends(DONE, "del", data, "--fence", second)

    def test_a_fenced_get_prints_the_version_that_its_claim_made(self):
        lock, data = self.key("{g}lock"), self.key("{g}data")
        token = self.ends(DONE, "set", lock, "1", "--if-absent").decode().strip()
        written = self.ends(DONE, "set", data, "v").decode().strip()
        claimed = self.read_json("get", data, "--fence", token)[0]
        self.assertEqual(claimed["value"], "v")
        self.assertNotEqual(claimed["version"], written)
        self.assertEqual(self.read_json("get", data)[0]["version"], claimed["version"])

    def test_a_token_that_is_none_is_refused(self):
        done = self.run_on("set", self.key("k"), "v", "--fence", "nonsense")
        self.assertIn(done.returncode, (USAGE, FAILED))
        self.assert_sentences(done.stderr)


class Batches(OnBrokers):
    def test_a_thousand_keys_of_any_bytes_come_back_as_they_were_written(self):
        items = {self.key(b"%d/" % i) + (b"\xff\x00\r" if i % 3 == 0 else b""): b"v%d\0\r\n" % i
                 for i in range(1000)}
        self.write(items)
        keys = b"".join(key + b"\n" for key in items)
        back = {}
        for row in self.read_json("mget", "-", stdin=keys):
            key = row["key"].encode() if "key" in row else base64.b64decode(row["key_base64"])
            back[key] = row["value"].encode()
        self.assertEqual(back, items)
        # mset reads what mget prints.
        lines = self.ends(DONE, "mget", "--json", "-", stdin=keys)
        self.assertEqual(self.ends(DONE, "mset", "-", stdin=lines), b"1000 of 1000 keys written\n")

    def test_plain_lines_are_key_tab_value_for_each_key_found(self):
        one, two = self.key(b"1"), self.key(b"2")
        self.write({one: b"one", two: b"\xfftwo"})
        self.assertEqual(self.ends(DONE, "mget", one, self.key("none"), two, one),
                         one + b"\tone\n" + two + b"\t\xfftwo\n")

    def test_large_values_go_in_a_batch(self):
        items = {self.key(b"%d" % i): pattern(3 << 20)[i:3 << 20] for i in range(8)}
        self.write(items)
        for row in self.read_json("mget", *items):
            self.assertEqual(base64.b64decode(row["value_base64"]), items[row["key"].encode()])

    def test_of_a_key_given_twice_the_last_value_is_written(self):
        key = self.key(b"twice")
        out = self.ends(DONE, "mset", "-", stdin=b'{"key":"%s","value":"1"}\n'
                                                 b'{"key":"%s","value":"2"}\n' % (key, key))
        self.assertEqual(out, b"1 of 1 keys written\n")
        self.assertEqual(self.ends(DONE, "get", key), b"2")

    def test_mset_with_a_time_to_live(self):
        key = self.key(b"brief")
        self.ends(DONE, "mset", "-", "--ttl", "1s", stdin=b'{"key":"%s","value":"1"}\n' % key)
        wait_until(lambda: self.run_on("get", key).returncode == NEGATIVE, "the value is gone")

    def test_a_bad_line_changes_nothing(self):
        key = self.key(b"kept")
        self.ends(DONE, "set", key, "old")
        for bad in (b'{"key":"x","value":null}', b'{"key":"x","error":"e"}', b"{", b'{"key":"x"}'):
            done = self.run_on("mset", "-",
                               stdin=b'{"key":"%s","value":"new"}\n%s\n' % (key, bad))
            self.assertEqual((done.returncode, done.stdout), (USAGE, b""))
            self.assertIn(b"line 2", done.stderr)
        self.assertEqual(self.ends(DONE, "get", key), b"old")

    def test_twenty_thousand_keys_go_in_several_batches(self):
        keys = [self.key(b"%d" % i) for i in range(20000)]
        self.write({key: b"of " + key for key in keys})
        out = self.ends(DONE, "mget", "-", stdin=b"\n".join(keys))
        self.assertEqual(out, b"".join(b"%s\tof %s\n" % (key, key) for key in keys))

    def test_nodes_are_up_with_their_round_trip_and_clock(self):
        rows = self.read_json("nodes")
        self.assertEqual([each["node"] for each in rows], self.dev.nodes)
        for each in rows:
            self.assertEqual(each["health"], "up")
            self.assertGreater(each["round_trip_ms"], 0)
            self.assertLess(abs(each["clock_difference_ms"]), 1000)


class Outages:
    """A mix-in for tests in which the second broker does not answer."""

    def setUp(self):
        super().setUp()
        self.keys = [self.key(b"%d" % i) for i in range(1000)]
        self.write({key: b"of " + key for key in self.keys})
        self.homes = self.nodes_of(self.keys)
        self.lost = self.dev.nodes[1]
        self.listed = b"".join(key + b"\n" for key in self.keys)

    def lost_keys(self):
        return {key for key, node in self.homes.items() if node.decode() == self.lost}

    def check_partial(self):
        begun = time.monotonic()
        rows = self.read_json("mget", "-", "--timeout", "1s", code=FAILED, stdin=self.listed)
        self.assertLess(time.monotonic() - begun, 10)
        self.assertEqual([each["key"].encode() for each in rows], self.keys)
        failed = {each["key"].encode() for each in rows if "error" in each}
        self.assertEqual(failed, self.lost_keys())
        for each in rows:
            if "error" in each:
                self.assertEqual(self.lost, each["error"]["node"])
            else:
                self.assertEqual(each["value"], "of " + each["key"])


class StoppedBroker(Outages, OnBrokers):
    def test_it_fails_its_own_keys_only_and_all_are_back_when_it_goes_on(self):
        self.dev.stop(self.lost)
        try:
            self.check_partial()
            done = self.run_on("mget", "-", "--timeout", "1s", stdin=self.listed)
            self.assertEqual(done.returncode, FAILED)
            self.assertEqual(len(done.stdout.splitlines()), 1000 - len(self.lost_keys()))
            errors = done.stderr.splitlines()
            self.assertEqual(len(errors), len(self.lost_keys()))
            self.assertTrue(all(self.lost.encode() in line for line in errors))
            key = sorted(self.lost_keys())[0]
            for words in (["get", key], ["set", key, "v"], ["del", key]):
                done = self.run_on("--timeout", "500ms", *words)
                self.assertEqual((done.returncode, done.stdout), (FAILED, b""))
                self.assertIn(self.lost.encode(), done.stderr)
                self.assert_sentences(done.stderr)
            rows = self.read_json("nodes", "--timeout", "1s", code=FAILED)
            self.assertEqual([each["node"] for each in rows if "error" in each], [self.lost])
        finally:
            self.dev.resume(self.lost)
        wait_until(lambda: self.run_on("get", sorted(self.lost_keys())[0]).returncode != FAILED,
                   "the broker answers again")
        self.assertEqual(len(self.read_json("mget", "-", stdin=self.listed)), 1000)


class KilledBroker(Outages, OnBrokers, OnOwnServers):
    count = 2

    def test_dev_reports_it_and_continues_with_the_others(self):
        self.dev.kill(self.lost)
        self.dev.wait_for_note(("broker %s was terminated by signal 9" % self.lost).encode())
        self.check_partial()
        lines = b"".join(b'{"key":"%s","value":"v"}\n' % key for key in self.keys)
        out = self.ends(FAILED, "mset", "-", stdin=lines)
        self.assertEqual(out, b"%d of 1000 keys written\n" % (1000 - len(self.lost_keys())))
        rows = self.read_json("mset", "-", code=FAILED, stdin=lines)
        self.assertEqual({each["key"].encode() for each in rows if "error" in each},
                         self.lost_keys())


class PageSpelling(OnOwnServers):
    words = ("--spelling", "page")

    def test_every_answer_is_understood_in_the_other_spelling_too(self):
        self.ends(DONE, "set", "k", "v", "--if-absent")
        self.ends(NEGATIVE, "set", "k", "w", "--if-absent")
        self.assertEqual(self.ends(DONE, "get", "k"), b"v")
        self.ends(NEGATIVE, "del", "k", "--if-value", "w")
        self.ends(DONE, "del", "k", "--if-value", "v")
        self.ends(NEGATIVE, "get", "k")
        self.ends(NEGATIVE, "del", "k")


class NobodyThere(Case):
    def test_the_node_is_named_and_the_time_is_kept(self):
        with reserved_port() as reserved:
            node = "127.0.0.1:%d" % reserved.getsockname()[1]
            self.uri = "mqtt://" + node
            begun = time.monotonic()
            for words in (["get", "k"], ["set", "k", "v"], ["del", "k"], ["mget", "k", "l"],
                          ["nodes"]):
                done = self.run_on("--timeout", "300ms", *words)
                self.assertEqual(done.returncode, FAILED, words)
                self.assertIn(node.encode(), done.stderr)
                self.assert_sentences(done.stderr)
            self.assertLess(time.monotonic() - begun, 30)

    def test_a_name_that_does_not_resolve_is_named(self):
        self.uri = "mqtt://no-such-host.invalid:1883"
        done = self.run_on("get", "k", "--timeout", "2s")
        self.assertEqual(done.returncode, FAILED)
        self.assertIn(b"no-such-host.invalid:1883", done.stderr)

    def test_a_password_is_never_printed(self):
        self.uri = "mqtt://user:geheim@127.0.0.1:9"
        done = self.run_on("get", "k", "--timeout", "300ms")
        self.assertEqual(done.returncode, FAILED)
        self.assertNotIn(b"geheim", done.stderr + done.stdout)

    def test_a_wrong_password_is_reported_as_such_by_every_command(self):
        with tempfile.TemporaryDirectory() as folder, \
             locked_broker(folder, "user", "richtig") as broker:
            for login in ("user:geheim@", "nobody:geheim@", "user:@", ""):
                self.uri = "mqtt://%s%s" % (login, broker.node)
                for words in (["get", "k"], ["set", "k", "v"], ["del", "k"], ["mget", "k"],
                              ["nodes"]):
                    done = self.run_on("--timeout", "1s", *words)
                    self.assertEqual(done.returncode, FAILED, (login, words))
                    self.assert_sentences(done.stderr)
                    self.assertIn(broker.node.encode(), done.stderr)
                    self.assertIn(b"login refused", done.stderr, (login, words))
                    self.assertNotIn(b"geheim", done.stderr + done.stdout)
