"""The servers' own commands, and what the program reports about a cluster of redis-servers."""

import json

import harness
from harness import DONE, FAILED, NEGATIVE, USAGE, sheaf
from test_terminal import on_terminal

SLOTS = 16384


class OnACluster(harness.OnServers):
    kind = "redis"

    def lines(self, *words):
        done = self.run_on("--json", *words)
        self.assertEqual((done.returncode, done.stderr), (DONE, b""))
        return [json.loads(line) for line in done.stdout.splitlines()]

    def printed(self, *words, **more):
        done = self.run_on(*words, **more)
        self.assertEqual((done.returncode, done.stderr), (DONE, b""))
        return done.stdout


class Exec(OnACluster):
    def test_replies_are_printed_as_redis_cli_does_into_a_pipe(self):
        self.assertEqual(self.printed("exec", "SET", "k", "a\nb"), b"OK\n")
        self.assertEqual(self.printed("exec", "get", "k"), b"a\nb\n")
        self.assertEqual(self.printed("exec", "INCRBY", "n", "-5"), b"-5\n")
        self.assertEqual(self.printed("exec", "RPUSH", "l", "x", "y"), b"2\n")
        self.assertEqual(self.printed("exec", "LRANGE", "l", "0", "-1"), b"x\ny\n")
        self.assertEqual(self.printed("exec", "HSET", "h", "f", "1"), b"1\n")
        self.assertEqual(self.printed("exec", "HGETALL", "h"), b"f\n1\n")
        self.assertEqual(self.printed("exec", "ZADD", "z", "1.5", "m"), b"1\n")
        self.assertEqual(self.printed("exec", "ZSCORE", "z", "m"), b"1.5\n")
        self.assertEqual(self.printed("exec", "LRANGE", "nothing", "0", "-1"), b"\n")
        self.assertEqual(self.printed("exec", "PING"), b"PONG\n")
        self.assertEqual(self.printed("exec", "--", "ZADD", "z", "-inf", "low"), b"1\n")

    def test_a_value_cannot_control_a_terminal(self):
        self.printed("exec", "SET", "bold", "\x1b[1mx")
        for more, shown in ([], b"\\x1B[1mx\n"), (["--raw"], b"\x1b[1mx\n"):
            self.assertEqual(on_terminal("--servers", self.uri, "exec", *more, "GET", "bold"),
                             (shown, DONE))

    def test_json_keeps_what_is_inside_what(self):
        self.printed("exec", "HSET", "map", "f", "1", "g", "two")
        self.assertEqual(self.lines("exec", "HGETALL", "map"), [{"reply": {"f": "1", "g": "two"}}])
        self.printed("exec", "ZADD", "zset", "1.5", "m")
        self.assertEqual(self.lines("exec", "ZRANGE", "zset", "0", "-1", "WITHSCORES"),
                         [{"reply": [["m", 1.5]]}])
        self.assertEqual(self.lines("exec", "EXISTS", "map"), [{"reply": 1}])
        self.printed("exec", "SET", "bytes", b"\xff")
        self.assertEqual(self.lines("exec", "GET", "bytes"), [{"reply": {"base64": "/w=="}}])
        self.assertEqual(self.lines("exec", "MGET", "{map}1", "{map}2"), [{"reply": [None, None]}])

    def test_what_is_absent_is_told_by_the_exit_code(self):
        done = self.run_on("exec", "GET", "no such key")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (NEGATIVE, b"\n", b""))

    def test_errors_are_sentences_with_the_servers_words(self):
        self.printed("exec", "SET", "text", "x")
        done = self.run_on("exec", "LPUSH", "text", "y")
        self.assertEqual((done.returncode, done.stdout), (FAILED, b""))
        self.assertIn(b"WRONGTYPE", done.stderr)
        self.assert_sentences(done.stderr)
        done = self.run_on("--json", "exec", "LPUSH", "text", "y")
        self.assertEqual(done.returncode, FAILED)
        self.assertIn("WRONGTYPE", json.loads(done.stdout)["error"]["text"])
        for words, what in ((("MGET", "foo", "x"), b"in the slots 12182 and 16287"),
                            (("MULTI",), b"MULTI is not passed through"),
                            (("NOSUCHTHING",), b"know no command")):
            done = self.run_on("exec", *words)
            self.assertEqual((done.returncode, done.stdout), (USAGE, b""), words)
            self.assertIn(what, done.stderr)
            self.assert_sentences(done.stderr)

    def test_a_node_that_is_named_gets_the_command(self):
        ports = {json.loads(self.run_on("--json", "exec", "--node", node, "CONFIG", "GET", "port")
                            .stdout)["reply"]["port"] for node in self.dev.primaries}
        self.assertEqual(ports, {node.rsplit(":", 1)[1] for node in self.dev.primaries})
        done = self.run_on("exec", "--node", "127.0.0.1:1", "PING")
        self.assertEqual(done.returncode, USAGE)
        self.assertIn(b"127.0.0.1:1 is not a node of the cluster; its nodes are ", done.stderr)
        self.assertIn(self.dev.primaries[0].encode(), done.stderr)

    def test_a_command_of_each_node_is_not_sent_to_some_node(self):
        self.printed("mset", "-", stdin=b"".join(b"k%d\tv\n" % i for i in range(30)))
        for words in (("FLUSHALL",), ("dbsize",), ("KEYS", "*"), ("SCAN", "0"), ("INFO",),
                      ("CONFIG", "SET", "maxmemory", "0"), ("SCRIPT", "FLUSH"), ("RANDOMKEY",)):
            done = self.run_on("exec", *words)
            self.assertEqual((done.returncode, done.stdout), (USAGE, b""), words)
            self.assert_sentences(done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1)
            for part in (words[0].upper().encode(), b"each of the 3 nodes", b"--node HOST:PORT",
                         b"--all-nodes"):
                self.assertIn(part, done.stderr)
        self.assertEqual(self.keys_of_each(), 30)

    def keys_of_each(self):
        replies = self.lines("exec", "--all-nodes", "DBSIZE")
        self.assertEqual({each["node"] for each in replies}, set(self.dev.primaries))
        return sum(each["reply"] for each in replies)

    def test_all_nodes_answer_in_blocks(self):
        shown = self.printed("exec", "--all-nodes", "ECHO", "a\nb").decode().splitlines()
        self.assertEqual(set(shown[::3]), set(self.dev.primaries))
        self.assertEqual((shown[1::3], shown[2::3]), (["  a"] * 3, ["  b"] * 3))
        self.printed("exec", "SET", "k", "v")
        self.assertEqual(self.keys_of_each(), 1)
        self.printed("exec", "--all-nodes", "FLUSHALL")
        self.assertEqual(self.keys_of_each(), 0)
        done = self.run_on("exec", "--all-nodes", "RANDOMKEY")
        self.assertEqual((done.returncode, done.stderr), (NEGATIVE, b""))

    def test_a_node_that_refuses_does_not_hide_the_others(self):
        node = self.dev.primaries[1]
        self.printed("exec", "--node", node, "--", "ACL", "SETUSER", "default", "-dbsize")
        try:
            done = self.run_on("exec", "--all-nodes", "DBSIZE")
            lines = self.run_on("--json", "exec", "--all-nodes", "DBSIZE").stdout.splitlines()
        finally:
            self.printed("exec", "--node", node, "ACL", "SETUSER", "default", "+@all")
        self.assertEqual(done.returncode, FAILED)
        self.assertEqual(len(done.stdout.splitlines()), 4)
        self.assertNotIn(node.encode(), done.stdout)
        refusal, count = done.stderr.decode().splitlines()
        self.assertIn("refused by %s" % node, refusal)
        self.assertEqual(count, "sheaf: 2 of 3 nodes carried it out.")
        errors = [each for each in map(json.loads, lines) if "error" in each]
        self.assertEqual([each["node"] for each in errors], [node])
        self.assertEqual(len(lines), 3)


class Map(OnACluster):
    def test_nodes_have_roles_slots_epochs_and_replicas(self):
        nodes = self.lines("nodes")
        self.assertEqual([node["role"] for node in nodes], ["primary"] * 3 + ["replica"] * 3)
        ranges = sorted(tuple(each) for node in nodes[:3] for each in node["slots"])
        self.assertEqual((ranges[0][0], ranges[-1][1]), (0, SLOTS - 1))
        for node in nodes[:3]:
            self.assertEqual(node["health"], "up")
            self.assertGreater(node["epoch"], 0)
            self.assertEqual(len(node["replicas"]), 1)
        self.assertEqual({node["node"] for node in nodes}, set(self.dev.nodes))
        self.assertEqual({node["primary"] for node in nodes[3:]}, set(self.dev.primaries))
        shown = self.printed("nodes").decode()
        self.assertRegex(shown, r" (Redis|Valkey) \d+[.]\d+")
        self.assertLessEqual(max(map(len, shown.splitlines())), 80)
        table = shown.split("\n\n")[0].splitlines()  # what is too wide continues below
        self.assertEqual(len(table), 7)
        for title in ("NODE", "ROLE", "HEALTH", "EPOCH", "SLOTS"):
            self.assertIn(title, table[0])
        below = {}
        for primary, replica in zip(table[1::2], table[2::2]):
            self.assertEqual(primary.split()[1:3], ["primary", "up"])
            self.assertRegex(replica, r"^  127.0.0.1:\d+ +replica +not asked ")
            below[primary.split()[0]] = [replica.split()[0]]
        self.assertEqual(below, {node["node"]: node["replicas"] for node in nodes[:3]})

    def test_ring_is_a_picture_of_the_slots(self):
        shares = self.lines("ring", "--keys", "3000")
        self.assertEqual({share["node"] for share in shares}, set(self.dev.primaries))
        self.assertAlmostEqual(sum(share["share"] for share in shares), 1)
        self.assertEqual(sum(share["keys"] for share in shares), 3000)
        self.assertEqual(sum(last - first + 1 for share in shares
                             for first, last in share["slots"]), SLOTS)
        picture = self.printed("ring").decode().splitlines()
        strip = "".join(line.split()[1] for line in picture[-4:])
        self.assertEqual(len(strip), SLOTS // 64)
        self.assertEqual(strip, "".join(sorted(strip)))
        self.assertEqual(set(strip), set("ABC"))

    def test_locate_is_right_before_anything_was_sent(self):
        owners = {share["node"]: share["slots"] for share in self.lines("ring")}
        for key, slot in (("foo", 12182), ("x", 16287), ("wxz", 949)):
            (found,) = self.lines("locate", key)
            self.assertEqual(found["slot"], slot)
            self.assertTrue(any(first <= slot <= last for first, last in owners[found["node"]]))


class Elsewhere(harness.Case):
    def test_exec_is_for_servers_that_have_commands(self):
        done = sheaf("--servers", "embedded://1", "exec", "PING")
        self.assertEqual((done.returncode, done.stdout), (USAGE, b""))
        self.assertIn(b"only redis:// does", done.stderr)
        self.assert_sentences(done.stderr)
        self.assertEqual(sheaf("--servers", "embedded://1", "exec").returncode, USAGE)
        done = sheaf("--servers", "embedded://1", "exec", "--all-nodes", "PING")
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (USAGE, 1))

    def test_a_cluster_that_is_not_there_is_a_sentence(self):
        for command in (("exec", "PING"), ("exec", "GET", "k"), ("exec", "FLUSHALL"),
                        ("exec", "--all-nodes", "PING"), ("ring",), ("locate", "k")):
            done = sheaf("--servers", "redis://127.0.0.1:1", "--timeout", "500ms", *command)
            self.assertEqual((done.returncode, done.stdout), (FAILED, b""), command)
            self.assert_sentences(done.stderr)
