"""What a broker's store says of itself: on $SYS, to `stats` and `top`, and for Prometheus."""

import json
import os
import re
import subprocess
import tempfile

from harness import DONE, LONGEST, OnServers, locked_broker, wait_until

# Looking at the numbers does not change these.
STEADY = ("keys", "bytes", "watches", "cmd_set", "cmd_del", "cmd_vdel", "cmd_keynotify", "get_hits",
          "get_misses", "writes", "unmet", "duplicates", "errors", "errors_fence", "expired",
          "notifications", "frozen", "file_bytes", "commits", "failed_commits", "commit_us_total")


class Numbers(OnServers):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.place.cleanup)
        cls.broker = locked_broker(
            cls.place.name, "ann", "secret-word",
            "set_tcp_nodelay true\nsys_interval 1\nplugin %s\nplugin_opt_data %s\n"
            % (os.environ["SHEAF_PLUGIN"], os.path.join(cls.place.name, "sheaf.db")))
        cls.addClassCleanup(cls.broker.end)
        cls.uri = "mqtt://ann:secret-word@" + cls.broker.node

    def empty(self):
        pass

    def stats(self):
        rows = [line.decode().split("\t") for line in self.ends(DONE, "stats").splitlines()]
        return {name: value for _, name, value in rows}

    def published(self, count):
        port = self.broker.node.split(":")[1]
        done = subprocess.run(
            ["mosquitto_sub", "-p", port, "-u", "ann", "-P", "secret-word", "-V", "5", "-W", "5",
             "-C", str(count), "-F", "%r %t %p", "-t", "$SYS/broker/sheaf/#"],
            capture_output=True, check=False, timeout=LONGEST)
        rows = [line.split() for line in done.stdout.decode().splitlines()]
        return {topic.rsplit("/", 1)[1]: value for retained, topic, value in rows
                if retained == "1"}

    def steady(self, numbers):
        return {name: numbers.get(name) for name in STEADY}

    def metrics(self):
        text = self.ends(DONE, "nodes", "--metrics").decode()
        return {re.sub(r'node="[^"]*",?', "", name).replace("{}", ""): value
                for name, value in re.findall(r"^(sheaf_store\S+) (\S+)$", text, re.MULTILINE)}

    def test_all_views_agree_with_what_was_done(self):
        self.ends(DONE, "mset", "-", stdin=b"".join(b"key%02d\tvalue\n" % i for i in range(20)))
        self.ends(DONE, "mget", "key00", "key01", "key02")
        self.run_on("mget", "absent1", "absent2")
        self.run_on("set", "key00", "other", "--if-absent")
        self.ends(DONE, "del", "key19")

        stats = self.stats()
        done = {"keys": 19, "bytes": 190, "cmd_set": 21, "cmd_del": 1, "get_hits": 3,
                "get_misses": 2, "writes": 22, "unmet": 1, "errors": 0, "frozen": 0}
        self.assertEqual({name: int(stats[name]) for name in done}, done)
        self.assertGreater(int(stats["commits"]), 0)
        self.assertGreater(int(stats["file_bytes"]), 0)

        count = len(stats) - 1  # all but the version
        wait_until(lambda: self.steady(self.published(count)) == self.steady(self.stats()),
                   "the numbers below $SYS are those of `sheaf stats`")
        stats = self.stats()

        # `nodes` and `top` ask for the store's clock with a key of their own that lives a second.
        metrics = self.metrics()
        self.assertEqual(
            int(metrics["sheaf_store_keys"]) + int(metrics["sheaf_store_expired_total"]),
            int(stats["keys"]) + int(stats["expired"]) + 1, "on a slow machine it has expired")
        for name, sample, more in (("writes", "writes_total", 1),
                                   ("cmd_set", 'commands_total{command="set"}', 1),
                                   ("cmd_del", 'commands_total{command="del"}', 0),
                                   ("get_hits", 'reads_total{outcome="hit"}', 0),
                                   ("get_misses", 'reads_total{outcome="miss"}', 0),
                                   ("unmet", "unmet_total", 0), ("frozen", "frozen", 0)):
            self.assertEqual(int(metrics["sheaf_store_" + sample]), int(stats[name]) + more, name)
        self.assertGreater(int(metrics["sheaf_store_commit_seconds_count"]), int(stats["commits"]))
        self.assertGreater(float(metrics["sheaf_store_commit_seconds_sum"]) * 1e6,
                           int(stats["commit_us_total"]))

        wait_until(lambda: self.keys_of_top() in (20, 21), "`top` has the keys")

    def keys_of_top(self):
        return json.loads(self.ends(DONE, "--json", "top", "--count", "1"))["keys"]
