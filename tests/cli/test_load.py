"""top and bench on memcached servers, and on stores, which count nothing."""

import json
import signal
import subprocess

import harness
from harness import DONE, sheaf
from test_terminal import on_terminal


class OnMemcached(harness.OnServers):
    kind = "memcached"

    def lines(self, *words):
        done = self.run_on("--json", *words)
        self.assertEqual((done.returncode, done.stderr), (DONE, b""))
        return [json.loads(line) for line in done.stdout.splitlines()]

    def keys_on_servers(self):
        return sum(row["keys"] for row in self.lines("top", "--count", 1))

    def test_a_load_is_as_large_as_asked_and_leaves_nothing_behind(self):
        *operations, total = self.lines("bench", "--count", 3000, "--keys", 50, "--reads", 80,
                                        "--callers", 3)
        by_name = {one["operation"]: one for one in operations}
        self.assertEqual(set(by_name), {"get", "set"})
        self.assertEqual(sum(one["count"] for one in operations), 3000)
        self.assertEqual(total["keys"], 3000)
        self.assertTrue(0.6 < by_name["get"]["count"] / 3000 < 0.95)
        self.assertEqual(by_name["get"]["hits"], by_name["get"]["keys"])
        for one in operations:
            latency = one["latency_us"]
            self.assertEqual(sum(count for _, _, count in latency["ranges"]), one["count"])
            self.assertTrue(0 < latency["p50"] <= latency["p99"] <= latency["max"])
        left = [row["keys"] for row in self.lines("top", "--count", 1)]
        self.assertEqual(left, [0] * len(self.dev.nodes))

    def test_batches_and_a_rate(self):
        *operations, total = self.lines("bench", "--count", 40, "--keys", 100, "--batch", 20,
                                        "--reads", 50, "--rate", 200)
        self.assertEqual({one["operation"] for one in operations}, {"get_many", "set_many"})
        self.assertEqual(sum(one["count"] for one in operations), 40)
        self.assertTrue(total["seconds"] >= 0.19, total)

    def test_what_was_measured_until_ctrl_c_is_printed(self):
        with subprocess.Popen(harness.program_words("--servers", self.uri, "bench", "--time", "1h"),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            harness.wait_until(lambda: self.keys_on_servers() == 10000, "the keys are there")
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=harness.LONGEST)
        self.assertEqual((process.returncode, err), (DONE, b""))
        self.assertIn(b"OPERATION", out)
        self.assertEqual(self.keys_on_servers(), 0)

    def test_keys_of_a_load_that_is_interrupted_while_it_fills_are_removed(self):
        words = ("bench", "--keys", "10000000", "--value-size", "0")
        with subprocess.Popen(harness.program_words("--servers", self.uri, *words),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            harness.wait_until(lambda: self.keys_on_servers() > 0, "some keys are there")
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=harness.LONGEST)
        self.assertEqual(process.returncode, DONE)
        self.assertEqual(self.keys_on_servers(), 0)

    def test_servers_are_lines_for_a_pipe(self):
        done = self.run_on("top", "--count", 2, "--interval", "100ms")
        self.assertEqual(done.returncode, DONE, done.stderr)
        lines = [dict(pair.split("=", 1) for pair in line.split())
                 for line in done.stdout.decode().splitlines()]
        self.assertEqual([line["node"] for line in lines], self.dev.nodes * 2)
        self.assertNotIn("ops", lines[0])
        self.assertIn("ops", lines[-1])

    def test_a_terminal_is_given_back_at_q(self):
        shown, code = on_terminal("--servers", self.uri, "top", answer=b"q", until=b"every 2s")
        self.assertEqual(code, DONE)
        self.assertTrue(shown.startswith(b"\x1b[?1049h"), shown[:40])
        self.assertTrue(shown.endswith(b"\x1b[?1049l"), shown[-40:])
        for node in self.dev.nodes:
            self.assertIn(node.encode(), shown)

    def test_a_reader_that_goes_away_ends_it_in_silence(self):
        done = subprocess.run(
            ["sh", "-c", '"$0" --servers "$1" top --interval 100ms | head -n 1', harness.program,
             self.uri], capture_output=True, check=False, timeout=harness.LONGEST)
        self.assertEqual((done.returncode, done.stderr), (0, b""))


class OnStores(harness.Case):
    def test_the_time_of_a_load_ends_with_its_last_operation(self):
        seconds = []
        for _ in range(5):  # the machine may be busy
            done = sheaf("--servers", "embedded://2", "bench", "--count", "20", "--keys", "20",
                         "--callers", "1", "--json")
            seconds.append(json.loads(done.stdout.splitlines()[-1])["seconds"])
        self.assertTrue(0 < min(seconds) < 0.03, seconds)

    def test_stores_take_a_load_and_show_their_health(self):
        done = sheaf("--servers", "embedded://2", "bench", "--count", "500", "--keys", "20")
        self.assertEqual((done.returncode, done.stderr), (DONE, b""))
        self.assertIn(b"100.00 % of the reads were hits", done.stdout)
        done = sheaf("--servers", "embedded://2", "--json", "top", "--count", "1")
        for row in map(json.loads, done.stdout.splitlines()):
            self.assertEqual(row["health"], "up")
            self.assertNotIn("ops", row)
