"""Everything that needs no broker: usage, configuration, output that fails, embedded stores."""

import json
import os
import signal
import socket
import subprocess
import tempfile

import harness
from harness import DONE, FAILED, NEGATIVE, USAGE, Case, raw, sheaf

NOBODY = "mqtt://192.0.2.1:1883,192.0.2.2:1883*2"  # TEST-NET-1: no host answers there


class Usage(Case):
    def test_help_and_version_go_to_standard_output(self):
        for words in (["--help"], ["get", "--help"], ["dev", "--help"], ["mset", "-", "--help"],
                      ["--version"]):
            done = sheaf(*words)
            self.assertEqual((done.returncode, done.stderr), (DONE, b""))
            self.assertIn(b"sheaf", done.stdout)

    def test_what_all_commands_share_has_a_help_of_its_own(self):
        shared = sheaf("help", "options")
        self.assertEqual((shared.returncode, shared.stderr), (DONE, b""))
        for word in (b"--password-file", b"SHEAF_SERVERS", b"Exit codes"):
            self.assertIn(word, shared.stdout)
            self.assertNotIn(word, sheaf("help", "get").stdout)
        self.assertEqual(sheaf("help", "get").stdout, sheaf("get", "--help").stdout)

    def test_wrong_words_are_one_sentence(self):
        for words, says in ((["fetch", "k"], "fetch"), ([], "command"), (["get"], "KEY"),
                            (["get", "a", "b"], "b"), (["get", "k", "--nonsense"], "--nonsense"),
                            (["top", "--interv", "1s"], "Did you mean --interval?"),
                            (["mset", "file"], "-"), (["set", "k", "v", "--ttl", "0ms"], "--ttl"),
                            (["set", "k", "v", "--ttl", "0s"], "--ttl"),
                            (["get", "k", "--timeout", "0s"], "--timeout")):
            self.refused("--servers", self.uri, *words, says=says)

    def test_servers_must_be_named(self):
        self.refused("get", "k", says="--servers")
        done = sheaf("get", "k", env={"SHEAF_SERVERS": self.uri})
        self.assertEqual((done.returncode, done.stdout), (NEGATIVE, b""))

    def test_a_file_of_the_users_own_names_them_where_nothing_else_does(self):
        with tempfile.TemporaryDirectory() as home:
            os.mkdir(os.path.join(home, ".config"))
            path = os.path.join(home, ".config/sheaf.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write('{"clusters": {"a": {"servers": "embedded://1"},'
                           ' "default": {"servers": "embedded://2"}}}')
            for words, nodes in (["ring"], 2), (["ring", "--cluster", "a"], 1):
                done = sheaf(*words, "--json", env={"HOME": home})
                self.assertEqual(len(done.stdout.splitlines()), nodes, done.stderr)
            done = sheaf("ring", "--json", env={"XDG_CONFIG_HOME": os.path.join(home, ".config"),
                                                "SHEAF_CLUSTER": "a"})
            self.assertEqual(len(done.stdout.splitlines()), 1, done.stderr)

    def test_at_last_the_settings_of_a_pod_name_them(self):
        pod = {"AIO_BROKER_HOSTNAME": "broker.example", "AIO_BROKER_TCP_PORT": "18883",
               "AIO_MQTT_USE_TLS": "false"}

        def node(**more):
            done = sheaf("ring", "--json", env={**pod, **more})
            self.assertEqual(done.returncode, DONE, done.stderr)
            return json.loads(done.stdout)["node"]
        self.assertEqual(node(), "broker.example:18883")
        self.assertEqual(node(SHEAF_SERVERS="embedded://1"), "embedded:0")
        with tempfile.TemporaryDirectory() as home:
            with open(os.path.join(home, "sheaf.json"), "w", encoding="utf-8") as file:
                file.write('{"clusters": {"a": {"servers": "embedded://1"}}}')
            self.assertEqual(node(XDG_CONFIG_HOME=home), "embedded:0")
        mount = {"AIO_BROKER_HOSTNAME": "", "CONNECTOR_CONFIGURATION_MOUNT_PATH": "/no"}
        for more, says in (({"AIO_BROKER_TCP_PORT": "0"}, b'AIO_BROKER_TCP_PORT is "0", not an '),
                           ({"AIO_TLS_CERT_FILE": "c"}, b"AIO_TLS_CERT_FILE needs TLS, which "),
                           (mount, b"CONNECTOR_CONFIGURATION_MOUNT_PATH: "
                                   b"/no/MQTT_CONNECTION_CONFIGURATION: No such file")):
            done = sheaf("get", "k", env={**pod, **more})
            self.assertEqual((done.returncode, done.stdout), (USAGE, b""), more)
            self.assert_sentences(done.stderr)
            self.assertIn(says, done.stderr)

    def test_bad_uris_are_one_sentence(self):
        for uri in ("b1:1883", "mqtt://", "mqtt://b1:0", "mqtt://b1:65536", "mqtt://b1*0",
                    "mqtt://b1*65536", "mqtt://b1,b1", "http://b1", "mqtt://b1?nonsense=1",
                    "mqtt://b1?timeout=1s&timeout=1s", "mqtt://b1?timeout=0ms", "embedded://0",
                    "embedded://x", "mqtt://b1?slots=1000", "mqtt://u:p@192.0.2.1",
                    "mqtts://b1?tls_ca=no-such-file", "mqtt://b1?tls_ca=ca.pem",
                    "rediss://r1?tls_cert=client.pem"):
            self.refused("--servers", uri, "get", "k", says="")

    def test_what_is_no_fencing_token_is_named(self):
        for words in (["set", "f", "v"], ["get", "f"], ["del", "f"]):
            self.refused("--servers", self.uri, *words, "--fence", "x", says="fencing token")

    def test_every_error_is_a_line_of_json(self):
        def error_of(*words, code=USAGE, **more):
            done = sheaf("--servers", self.uri, "--json", *words, **more)
            self.assertEqual(done.returncode, code, (words, done.stderr))
            self.assert_sentences(done.stderr)
            line, = done.stdout.splitlines()
            return json.loads(line)

        self.assertIn("empty", error_of("mget", "k", "")["error"]["text"])
        self.assertIn("line 1", error_of("mset", "-", stdin=b"{")["error"]["text"])
        self.assertEqual(error_of("lock", "", "--", "true")["error"]["outcome"], "invalid")
        folder = os.open("/", os.O_RDONLY)
        self.addCleanup(os.close, folder)
        for words in (["mget", "-"], ["mset", "-"], ["set", "k", "-"], ["list", "push", "l", "-"],
                      ["locate", "-"], ["append", "k", "-"]):
            done = subprocess.run(raw(harness.program, "--servers", self.uri, "--json", *words),
                                  stdin=folder, capture_output=True, check=False,
                                  timeout=harness.LONGEST)
            self.assertEqual(done.returncode, USAGE, (words, done.stderr))
            line, = done.stdout.splitlines()
            self.assertIn("standard input", json.loads(line)["error"]["text"], words)
            if words[0] == "list":
                self.assertIn(b"; 0 items were added.", done.stderr)
        with socket.create_server(("127.0.0.1", 0)) as busy:
            done = sheaf("--json", "dev", "--memcached", "1", "--port", busy.getsockname()[1],
                         "--", "true")
        self.assertEqual(done.returncode, FAILED, done.stderr)
        self.assertIn("text", json.loads(done.stdout)["error"])

    def test_an_empty_key_is_refused_by_every_command(self):
        for words in (["get", ""], ["set", "", "v"], ["del", ""], ["mget", "a", ""],
                      ["locate", ""]):
            self.refused("--servers", self.uri, *words, says="key")
        done = sheaf("--servers", self.uri, "mget", "-", stdin=b"a\n\nb\n")
        self.assertEqual(done.returncode, FAILED)
        self.assertEqual(done.stderr,
                         b"sheaf: line 2: the key is empty; it needs at least 1 byte.\n"
                         b"sheaf: 2 of 3 keys are absent.\n")


class Configuration(Case):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, text):
        path = os.path.join(self.folder.name, "clusters.json")
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    def test_one_cluster_needs_no_name(self):
        path = self.file('{"clusters":{"main":{"servers":"embedded://2"}}}')
        for words in (["--config", path], ["--config", path, "--cluster", "main"]):
            done = sheaf(*words, "locate", "k")
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertTrue(done.stdout.startswith(b"k\tembedded:"), done.stdout)

    def test_of_several_clusters_one_is_named(self):
        path = self.file('{"clusters":{"left":{"servers":"embedded://1"},'
                         '"right":{"servers":"mqtt://b1:1883"}}}')
        done = sheaf("locate", "k", "--config", path, "--cluster", "right")
        self.assertEqual(done.stdout, b"k\tb1:1883\n")
        self.refused("--config", path, "locate", "k", says="left")
        self.refused("--config", path, "--cluster", "middle", "locate", "k", says="middle")

    def test_a_file_that_cannot_be_used_is_one_sentence(self):
        for text in ("", "{", "[]", '{"clusters":{}}', '{"clusters":{"a":{}}}',
                     '{"clusters":{"a":{"servers":"embedded://1","nonsense":1}}}',
                     '{"clusters":{"a":{"servers":7}}}'):
            self.refused("--config", self.file(text), "get", "k", says="")
        self.refused("--config", os.path.join(self.folder.name, "none"), "get", "k", says="none")
        self.refused("--config", self.folder.name, "get", "k", says="")


    def test_dev_names_a_temporary_folder_that_is_not_there(self):
        missing = os.path.join(self.folder.name, "none")
        done = sheaf("dev", "--memcached", "1", "--", "true",
                     env={**os.environ, "TMPDIR": missing})
        if b"memcached is neither" in done.stderr:
            self.skipTest("memcached is not there")
        self.assertEqual(done.returncode, FAILED)
        self.assertIn(b"TMPDIR, " + missing.encode() + b": ", done.stderr)

    def test_a_password_that_cannot_be_used_is_one_sentence(self):
        server = "redis://ann@127.0.0.1:1"
        for path in (os.path.join(self.folder.name, "none"), self.folder.name, self.file(""),
                     self.file("x" * 70000)):
            self.refused("--servers", server, "--password-file", path, "get", "k",
                         says="cannot read --password-file " + path)
        done = sheaf("--servers", "memcached://127.0.0.1:1", "get", "k",
                     env={"SHEAF_PASSWORD": "x"})
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertIn(b"a password without a user name", done.stderr)


class NoConnection(Case):
    uri = NOBODY

    def test_locate_names_the_owner_of_every_key_without_connecting(self):
        keys = [b"a", b"b c", b"\xff\xfe", b"-x", b"[1]", b"++"]
        out = self.ends(DONE, "locate", "--", *keys)
        rows = [line.split(b"\t") for line in out.splitlines()]
        self.assertEqual([key for key, _ in rows], keys)
        self.assertLessEqual({node for _, node in rows}, {b"192.0.2.1:1883", b"192.0.2.2:1883"})
        piped = self.ends(DONE, "locate", "-", stdin=b"\n".join(keys) + b"\n")
        self.assertEqual(piped, out)

    def test_an_empty_key_is_named_by_its_sentence_alone(self):
        self.uri = "embedded://1"
        for words, about in ((["get", ""], "the key"), (["list", "len", ""], "the list's name"),
                             (["lock", "", "--", "true"], "the key")):
            err = self.run_on(*words).stderr.decode()
            self.assertTrue(err.startswith("sheaf: " + about), err)

    def test_a_node_that_listens_is_left_alone(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.setblocking(False)
            self.uri = "mqtt://127.0.0.1:%d" % server.getsockname()[1]
            for words in (["locate", "k"], ["ring"], ["ring", "--keys", "100"]):
                self.ends(DONE, *words)
            self.assertRaises(BlockingIOError, server.accept)

    def test_keys_with_one_tag_live_together(self):
        out = self.ends(DONE, "locate", *["{t}/%d" % i for i in range(50)])
        self.assertEqual(len({line.split(b"\t")[1] for line in out.splitlines()}), 1)

    def test_locate_in_json_gives_the_reason(self):
        answer = json.loads(self.ends(DONE, "locate", "--json", "{t}k"))
        self.assertEqual(answer["key"], "{t}k")
        self.assertEqual(answer["routing_key"], "t")
        self.assertIn(answer["node"], ("192.0.2.1:1883", "192.0.2.2:1883"))
        self.assertTrue(answer["reason"])

    def test_a_key_that_is_not_utf8_is_base64_in_json(self):
        answer = json.loads(self.ends(DONE, "locate", "--json", b"\xff"))
        self.assertEqual(answer["key_base64"], "/w==")
        self.assertNotIn("key", answer)

    def test_ring_draws_weights_and_shares(self):
        for locator in ("slots", "ring"):
            self.uri = NOBODY + "?locator=" + locator
            lines = self.ends(DONE, "ring").decode().splitlines()
            self.assertEqual(lines[0].split()[:3], ["NODE", "WEIGHT", "SHARE"])
            self.assertEqual([line.split()[0] for line in lines[1:]],
                             ["192.0.2.1:1883", "192.0.2.2:1883"])
            self.assertGreater(lines[2].count("#"), lines[1].count("#"))
            shares = [json.loads(line) for line in self.ends(DONE, "--json", "ring").splitlines()]
            self.assertAlmostEqual(sum(each["share"] for each in shares), 1.0, places=6)
            self.assertAlmostEqual(shares[1]["share"], 2 / 3, delta=0.05)

    def test_ring_counts_simulated_keys(self):
        shares = [json.loads(line)
                  for line in self.ends(DONE, "ring", "--keys", "30000", "--json").splitlines()]
        self.assertEqual(sum(each["keys"] for each in shares), 30000)
        self.assertAlmostEqual(shares[1]["keys"], 20000, delta=1000)
        self.assertIn("KEYS", self.ends(DONE, "ring", "--keys", "10").decode().splitlines()[0])


class Embedded(Case):
    def test_a_new_store_is_empty(self):
        done = self.run_on("get", "k")
        self.assertEqual((done.returncode, done.stdout), (NEGATIVE, b""))
        self.assertIn(b"embedded:", done.stderr)
        self.assertEqual(self.ends(NEGATIVE, "get", "k", "--json"), b'{"key":"k","value":null}\n')
        self.ends(NEGATIVE, "del", "k")
        self.assertEqual(self.ends(NEGATIVE, "del", "k", "--json"),
                         b'{"key":"k","removed":false,"reason":"absent"}\n')

    def test_set_prints_the_version(self):
        version = self.ends(DONE, "set", "k", "v").decode()
        self.assertRegex(version, r"\A\d+:\d+:.+\n\Z")
        answer = json.loads(self.ends(DONE, "set", "k", "-", "--json", stdin=b"\0\r\n"))
        self.assertEqual((answer["key"], answer["stored"]), ("k", True))

    def test_every_absent_key_has_its_line_in_json_and_none_in_plain(self):
        self.assertEqual(self.ends(DONE, "mget", "a", "b", "a"), b"")
        self.assertEqual(self.ends(DONE, "mget", "a", "b", "a", "--json"),
                         b'{"key":"a","value":null}\n{"key":"b","value":null}\n')
        self.assertEqual(self.ends(DONE, "mget", "-", stdin=b""), b"")

    def test_mset_reads_lines_and_prints_how_many(self):
        lines = b'{"key":"a","value":"1"}\n{"key_base64":"/w==","value_base64":"AA=="}\n'
        self.assertEqual(self.ends(DONE, "mset", "-", stdin=lines), b"2 of 2 keys written\n")
        rows = [json.loads(line)
                for line in self.ends(DONE, "mset", "-", "--json", stdin=lines).splitlines()]
        self.assertEqual([each.get("key", each.get("key_base64")) for each in rows], ["a", "/w=="])
        self.assertTrue(all(each["stored"] for each in rows))
        self.assertEqual(self.ends(DONE, "mset", "-", stdin=b""), b"0 of 0 keys written\n")

    def test_mset_names_the_line_that_it_refuses(self):
        good = b'{"key":"a","value":"1"}\n'
        for bad in (b'{"key":"b","value":null}', b'{"key":"b","error":"x"}', b"nonsense", b"",
                    b'{"key":"","value":"v"}', b'{"key":"b"}'):
            self.refused("--servers", self.uri, "mset", "-", stdin=good + bad + b"\n" + good,
                         says="line 2")

    def test_mset_reads_tabs_where_the_first_line_has_one(self):
        self.assertEqual(self.ends(DONE, "mset", "-", stdin=b"a\t1\n{b}\t\nc\t2\t3\n\xff\t\0\n"),
                         b"4 of 4 keys written\n")
        self.refused("--servers", self.uri, "mset", "-", stdin=b"a\t1\nb 2\n",
                     says="line 2 has no tab between key and value; nothing was written.")
        self.refused("--servers", self.uri, "mset", "-", stdin=b"a\t1\n\t2\n", says="line 2")
        spaced = b'{"key":"a",\t"value":"1"}\n'
        self.refused("--servers", self.uri, "mset", "-", stdin=spaced, says="--json")
        self.assertIn(b'"stored":true', self.ends(DONE, "mset", "-", "--json", stdin=spaced))

    def test_nodes_reports_every_store(self):
        lines = self.ends(DONE, "nodes").decode().splitlines()
        self.assertEqual(lines[0].split()[:2], ["NODE", "HEALTH"])
        self.assertEqual([line.split()[:2] for line in lines[1:]],
                         [["embedded:%d" % i, "up"] for i in range(3)])
        for line in self.ends(DONE, "nodes", "--json").splitlines():
            row = json.loads(line)
            self.assertLess(abs(row["clock_difference_ms"]), 1000)
            self.assertGreaterEqual(row["round_trip_ms"], 0)

    def test_a_value_above_the_limit_is_refused_before_it_is_sent(self):
        self.uri = "embedded://1?value_limit=1000"
        self.ends(DONE, "set", "k", "-", stdin=bytes(1000))
        self.ends(USAGE, "set", "k", "-", stdin=bytes(1001))
        self.ends(USAGE, "mset", "-", stdin=b'{"key":"k","value":"%s"}\n' % (b"x" * 1001))


class InputThatFails(Case):
    def test_a_closed_input_is_no_empty_one(self):
        for words in ("set k -", "append k -", "mset -", "mget -", "del -", "locate -",
                      "list push l -"):
            done = subprocess.run(
                ["sh", "-c", 'exec "$0" --servers embedded://1 %s <&-' % words, harness.program],
                capture_output=True, check=False, timeout=harness.LONGEST)
            self.assertEqual(done.returncode, USAGE, (words, done.stdout))
            self.assertIn(b"cannot read standard input: Bad file descriptor", done.stderr)

    def test_a_directory_is_no_input(self):
        folder = os.open("/", os.O_RDONLY)
        self.addCleanup(os.close, folder)
        done = subprocess.run(raw(harness.program, "--servers", self.uri, "set", "k", "-"),
                              stdin=folder, capture_output=True, check=False,
                              timeout=harness.LONGEST)
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertIn(b"cannot read standard input: Is a directory.\n", done.stderr)


class OutputThatFails(Case):
    LINES = b"".join(b'{"key":"key-%d","value":"v"}\n' % i for i in range(20000))

    def test_a_full_disk_ends_with_three(self):
        with open("/dev/full", "wb") as full:
            for words in (["--help"], ["--servers", self.uri, "set", "k", "v"],
                          ["--servers", self.uri, "ring"], ["--servers", self.uri, "nodes"],
                          ["--servers", self.uri, "locate", "k"]):
                done = subprocess.run(raw(harness.program, *words), stdout=full, check=False,
                                      stderr=subprocess.PIPE, timeout=harness.LONGEST)
                self.assertEqual(done.returncode, FAILED, words)
                self.assertIn(b"standard output", done.stderr)

    def test_a_reader_that_goes_away_ends_it_without_a_signal(self):
        process = subprocess.Popen(
            raw(harness.program, "--servers", self.uri, "mset", "-", "--json"),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.close()
        _, err = process.communicate(self.LINES, timeout=harness.LONGEST)
        self.assertEqual((process.returncode, err), (128 + signal.SIGPIPE, b""))

    def test_a_closed_output_is_an_error_and_no_connection_gets_its_bytes(self):
        for redirection in (">&-", "<&- >&-"):
            done = subprocess.run(
                ["sh", "-c", 'exec "$0" --servers embedded://1 set k v ' + redirection,
                 harness.program], stderr=subprocess.PIPE, check=False, timeout=harness.LONGEST)
            self.assertEqual(done.returncode, FAILED)
            self.assertIn(b"standard output", done.stderr)

    def test_a_closed_error_stream_changes_nothing(self):
        done = subprocess.run(
            ["sh", "-c", 'exec "$0" --servers embedded://1 set k v 2>&-', harness.program],
            stdout=subprocess.PIPE, check=False, timeout=harness.LONGEST)
        self.assertEqual(done.returncode, DONE)
        self.assertRegex(done.stdout, rb"\A\d+:")
