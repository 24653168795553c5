"""Test cases that all clusters of `sheaf dev` share, whatever their kind."""

import os
import shutil
import signal
import socket

import harness
from harness import DONE, Dev, is_alive, raw, sheaf, wait_until
from test_watch import Watch


def ask(node, *words):
    """Sends one command to a server; returns its reply, without the first character, as text."""
    host, port = node.split(":")
    with socket.create_connection((host, int(port)), timeout=harness.LONGEST) as server:
        server.sendall(b"*%d\r\n" % len(words))
        for word in raw(*words):
            server.sendall(b"$%d\r\n%s\r\n" % (len(word), word))
        with server.makefile("rb") as replies:
            first = replies.readline()
            if not first.startswith(b"$") or first == b"$-1\r\n":
                return first[1:-2].decode()
            return replies.read(int(first[1:])).decode()


def missing(kind, module):
    """The reason why there is no server of this kind, for unittest.skipIf; None if there is one.
    Prints it as GoogleTest does, which tests/run.sh repeats."""
    program, variable = kind + "-server", kind.upper() + "_SERVER"
    path = os.environ["PATH"] + ":/usr/bin:/usr/local/bin"
    if os.environ.get(variable) or shutil.which(program, path=path):
        return None
    reason = "no %s: it is neither in PATH nor named by %s" % (program, variable)
    print("%s.py:1: Skipped\n%s" % (module, reason), flush=True)
    return reason


class Cluster:
    """A mix-in for test cases; `kind` is the option without its dashes."""

    kind = None

    def assert_whole(self, nodes, primaries):
        """Every server knows all of them and serves all slots."""
        for node in nodes:
            info = ask(node, "CLUSTER", "INFO").split()
            self.assertIn("cluster_state:ok", info)
            self.assertIn("cluster_slots_assigned:16384", info)
            self.assertIn("cluster_known_nodes:%d" % len(nodes), info)
        links = [ask(node, "INFO", "replication") for node in nodes]
        for link in links[:primaries]:
            self.assertIn("role:master", link)
        for link in links[primaries:]:
            self.assertIn("role:slave", link)
            self.assertIn("master_link_status:up", link)

    def test_the_cluster_is_whole_when_its_uri_is_printed(self):
        with Dev("--replicas", 1, **{self.kind: 2}) as dev:
            self.assertEqual(len(dev.nodes), 4)
            self.assertEqual(dev.uri, "redis://" + ",".join(dev.nodes[:2]))
            self.assert_whole(dev.nodes, primaries=2)
            # foo is in the upper half of the slots, bar in the lower one.
            self.assertEqual(ask(dev.nodes[1], "SET", "foo", "v"), "OK")
            self.assertEqual(ask(dev.nodes[1], "GET", "foo"), "v")
            self.assertEqual(ask(dev.nodes[1], "GET", "bar"), "MOVED 5061 " + dev.nodes[0])
            dev.stop(dev.nodes[3])
            self.assertEqual(dev.end(signal.SIGINT), (DONE, b""))
            self.assertFalse(any(is_alive(pid) for pid in dev.pids.values()))
            self.assertEqual(self.left_behind(), [])

    def test_the_program_uses_the_cluster_by_any_of_its_servers(self):
        def run(code, *words):
            done = sheaf("--timeout", "20s", *words)
            self.assertEqual(done.returncode, code, (words, done.stdout, done.stderr))
            return done.stdout.decode()

        keys = ["key-%d" % i for i in range(30)]
        with Dev(**{self.kind: 3}) as dev:
            servers = ("--servers", "redis://" + dev.nodes[1])
            for key in keys:
                run(DONE, *servers, "set", key, "v-" + key)
            found = run(DONE, *servers, "mget", *keys).splitlines()
            self.assertEqual(sorted(found), sorted("%s\tv-%s" % (key, key) for key in keys))
            located = run(DONE, *servers, "locate", *keys).splitlines()
            owners = dict(line.split("\t") for line in located)
            self.assertEqual(set(owners.values()), set(dev.nodes))
            for key in keys:
                self.assertEqual(ask(owners[key], "GET", key), "v-" + key)
            with Watch(servers[1], "watched") as watch:
                self.assertIsNone(watch.next()["value"])
                run(DONE, *servers, "set", "watched", "v")
                self.assertEqual(watch.next()["value"], "v")
            table = run(DONE, *servers, "nodes").splitlines()
            self.assertEqual({line.split()[0] for line in table[1:]}, set(dev.nodes))
            ring = run(DONE, *servers, "ring")
            for node in dev.nodes:
                self.assertIn(node, ring)

    def test_one_server_is_a_cluster_and_ends_with_a_dev_that_is_killed(self):
        with Dev(**{self.kind: 1}) as dev:
            self.assert_whole(dev.nodes, primaries=1)
            dev.end(signal.SIGKILL)
        wait_until(lambda: not any(is_alive(pid) for pid in dev.pids.values()), "servers end")
