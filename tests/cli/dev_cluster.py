"""Test cases that all clusters of `sheaf dev` share, whatever their kind."""

import os
import signal

from harness import DONE, SHARED, Dev, ask_redis, installed, is_alive, wait_until
from test_watch import Watch


def missing(kind, module):
    """The reason why there is no server of this kind, for unittest.skipIf; None if there is one.
    Prints it as GoogleTest does, which tests/run.sh repeats."""
    program, variable = kind + "-server", kind.upper() + "_SERVER"
    if os.environ.get(variable) or installed(program):
        return None
    reason = "no %s: it is neither in PATH nor named by %s" % (program, variable)
    print("%s.py:1: Skipped\n%s" % (module, reason), flush=True)
    return reason


class Cluster:
    """A mix-in for test cases; `kind` is the option without its dashes."""

    def assert_whole(self, dev):
        """Every server knew all of them and served all slots when dev printed the URI."""
        self.assertEqual(list(dev.first_words), dev.nodes)
        for node, (info, link) in dev.first_words.items():
            self.assertIn("cluster_state:ok", info.split())
            self.assertIn("cluster_slots_assigned:16384", info.split())
            self.assertIn("cluster_known_nodes:%d" % len(dev.nodes), info.split())
            if node in dev.primaries:
                self.assertIn("role:master", link)
            else:
                self.assertIn("role:slave", link)
                self.assertIn("master_link_status:up", link)

    def test_the_cluster_is_whole_when_its_uri_is_printed(self):
        self.assertEqual(len(self.dev.nodes), 2 * SHARED[self.kind])
        self.assertEqual(self.uri, "redis://" + ",".join(self.dev.primaries))
        self.assert_whole(self.dev)
        # foo is in the last of the ranges of slots, bar in the first.
        first, last = self.dev.primaries[0], self.dev.primaries[-1]
        self.assertEqual(ask_redis(last, "SET", "foo", "v"), "OK")
        self.assertEqual(ask_redis(last, "GET", "foo"), "v")
        self.assertEqual(ask_redis(last, "GET", "bar"), "MOVED 5061 " + first)

    def test_a_stopped_server_ends_with_dev_and_nothing_is_left(self):
        with Dev(**{self.kind: 1}) as dev:
            dev.stop(dev.nodes[0])
            self.assertEqual(dev.end(signal.SIGINT), (DONE, b""))
            self.assertFalse(any(is_alive(pid) for pid in dev.pids.values()))
            self.assertEqual(self.left_behind(), [])

    def test_the_program_uses_the_cluster_by_any_of_its_servers(self):
        def run(*words):
            return self.ends(DONE, *words).decode()

        keys = ["key-%d" % i for i in range(30)]
        self.uri = "redis://" + self.dev.nodes[1]
        for key in keys:
            run("set", key, "v-" + key)
        found = run("mget", *keys).splitlines()
        self.assertEqual(sorted(found), sorted("%s\tv-%s" % (key, key) for key in keys))
        located = run("locate", *keys).splitlines()
        owners = dict(line.split("\t") for line in located)
        self.assertEqual(set(owners.values()), set(self.dev.primaries))
        for key in keys:
            self.assertEqual(ask_redis(owners[key], "GET", key), "v-" + key)
        with Watch(self.uri, "watched") as watch:
            self.assertIsNone(watch.next()["value"])
            run("set", "watched", "v")
            self.assertEqual(watch.next()["value"], "v")
        table = run("nodes").split("\n\n")[0].splitlines()  # what is too wide continues below
        self.assertEqual({line.split()[0] for line in table[1:]}, set(self.dev.nodes))
        ring = run("ring")
        for node in self.dev.primaries:
            self.assertIn(node, ring)

    def test_one_server_is_a_cluster_and_ends_with_a_dev_that_is_killed(self):
        with Dev(**{self.kind: 1}) as dev:
            self.assert_whole(dev)
            dev.end(signal.SIGKILL)
        wait_until(lambda: not any(is_alive(pid) for pid in dev.pids.values()), "servers end")
