"""migrate between memcached servers that `dev` runs: the whole way, the way back, what is refused,
interruptions. tests/live/migration tests what programs see meanwhile."""

import json
import os
import select
import signal
import socket
import subprocess
import time

import harness
from harness import DONE, FAILED, NEGATIVE, USAGE, sheaf


class Migrate(harness.OnServers, harness.CaseWithFolder):
    """From the first two of the shared servers to the others."""

    kind = "memcached"

    def setUp(self):
        super().setUp()
        self.old_nodes, self.new_nodes = self.dev.nodes[:2], self.dev.nodes[2:]
        self.old, self.new = ("memcached://" + ",".join(nodes)
                              for nodes in (self.old_nodes, self.new_nodes))
        self.state = self.path("migration.json")

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def memcached(self, *options):
        """Runs one with these options until the test ends; returns its URI."""
        server = harness.Server(lambda port: [
            harness.installed("memcached"), "-l", "127.0.0.1", "-p", port, "-U", "0", "-u", "root",
            *options])
        self.addCleanup(server.end)
        uri = "memcached://" + server.node
        harness.wait_until(lambda: sheaf("--servers", uri, "get", "k").returncode == NEGATIVE,
                           "it answers", 10)
        return uri

    def words(self, *more, old=None, new=None, timeout="30s"):
        # A call that times out because the machine is busy would count as failed.
        return ("migrate", "--from", old or self.old, "--to", new or self.new, "--state",
                self.state, "--timeout", timeout, *more, "--settle", "100ms")

    def migrate(self, *more, code=DONE, **terms):
        done = sheaf("--json", *self.words(*more, **terms))
        self.assertEqual(done.returncode, code, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def stages(self, lines):
        return [line["stage"] for line in lines if "event" in line]

    def fill(self, uri, count):
        lines = "".join('{"key":"k %d","value":"v%d"}\n' % (i, i) for i in range(count))
        done = sheaf("--servers", uri, "mset", "-", stdin=lines.encode())
        self.assertEqual(done.returncode, DONE, done.stderr)

    def found(self, uri, count):
        keys = "".join("k %d\n" % i for i in range(count))
        done = sheaf("--servers", uri, "--json", "mget", "-", stdin=keys.encode())
        return sum(json.loads(line)["value"] is not None for line in done.stdout.splitlines())

    def test_all_the_way_and_values_are_where_they_belong(self):
        self.fill(self.old, 500)
        lines = self.migrate()
        self.assertEqual(self.stages(lines), ["mirror", "switched", "drain", "closing", "after"])
        passes = {line["pass"]: line for line in lines if "pass" in line}
        self.assertEqual(passes["copy"]["copied"], 500)
        self.assertEqual(passes["check"]["right"], 500)
        self.assertEqual(passes["move"]["kept"], 500)
        self.assertEqual((self.found(self.old, 500), self.found(self.new, 500)), (0, 500))
        done = sheaf(*self.words("--back"))
        self.assertEqual(done.returncode, USAGE)
        self.assertIn(b"the cache has moved", done.stderr)
        # The previous run may have been killed before programs could follow.
        with open(self.state, "w", encoding="utf-8") as file:
            file.write('{"stage":"after","settle":"1s"}')
        begun = time.monotonic()
        self.assertEqual(self.stages(self.migrate()), ["after"])
        self.assertGreaterEqual(time.monotonic() - begun, 1)

    def test_there_and_back_keeps_values_that_are_in_one_fleet_alone(self):
        self.fill(self.old, 300)
        self.assertEqual(self.stages(self.migrate("--until", "drain")),
                         ["mirror", "switched", "drain"])
        sheaf("--servers", self.old, "del", "k 1")
        sheaf("--servers", self.new, "del", "k 2")
        lines = self.migrate("--back")
        self.assertEqual(self.stages(lines), ["drain", "switched", "restore", "mirror", "before"])
        self.assertEqual(lines[0]["event"], "resumed")
        self.assertEqual(self.found(self.old, 300), 300)
        with open(self.state, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["stage"], "before")
        self.migrate("--empty-to", "--until", "closing")
        self.assertEqual(self.found(self.old, 300), 0)
        self.assertEqual(self.stages(self.migrate("--back"))[:2], ["closing", "drain"])
        self.assertEqual(self.found(self.old, 300), 300)

    def test_copies_that_are_old_are_removed_and_told(self):
        self.fill(self.old, 20)
        self.migrate("--until", "mirror")
        sheaf("--servers", self.new, "set", "k 7", "old")
        stale = self.path("stale")
        lines = self.migrate("--until", "switched", "--stale", stale)
        self.assertIn({"stale": "k 7"}, lines)
        with open(stale, encoding="utf-8") as file:
            self.assertEqual(file.read(), "k 7\n")
        self.assertEqual(self.found(self.new, 20), 19)

    def test_new_servers_with_values_are_refused_or_emptied(self):
        self.fill(self.new, 3)
        done = sheaf(*self.words())
        self.assertEqual(done.returncode, USAGE)
        self.assertIn(b"the servers of --to have 3 keys, whose values may be old; --empty-to",
                      done.stderr)
        self.assertFalse(os.path.exists(self.state))
        self.migrate("--empty-to", "--until", "mirror")
        self.assertEqual(self.found(self.new, 3), 0)

    def test_an_end_that_is_not_ahead_is_refused_and_nothing_changes(self):
        self.fill(self.old, 3)
        for stage, *words in [("drain", "--until", "switched"), ("after", "--until", "mirror"),
                              ("restore", "--until", "mirror"),
                              ("mirror", "--back", "--until", "drain"),
                              ("restore", "--back", "--until", "switched")]:
            text = '{"stage":"%s"}' % stage
            with open(self.state, "w", encoding="utf-8") as file:
                file.write(text)
            done = sheaf(*self.words(*words))
            self.assertEqual(done.returncode, USAGE, (stage, words, done.stdout))
            self.assertIn(b"leads there from the current stage, which is " + stage.encode(),
                          done.stderr)
            with open(self.state, encoding="utf-8") as file:
                self.assertEqual(file.read(), text)
        self.assertEqual(self.found(self.old, 3), 3)

    def test_a_settle_that_the_file_has_is_not_cut_short(self):
        with open(self.state, "w", encoding="utf-8") as file:
            file.write('{"stage":"mirror","settle":"2s"}')
        begun = time.monotonic()
        self.migrate("--until", "switched")
        self.assertGreaterEqual(time.monotonic() - begun, 4)
        with open(self.state, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["settle"], "2s")

    def test_servers_that_give_no_versions_are_not_moved_to(self):
        self.fill(self.old, 20)
        new = self.memcached("-C")
        for stage in "mirror", "drain":
            with open(self.state, "w", encoding="utf-8") as file:
                file.write('{"stage":"%s"}' % stage)
            done = sheaf(*self.words(new=new))
            self.assertEqual(done.returncode, FAILED, (done.stdout, done.stderr))
            self.assertIn(b"20 keys were refused, the first because: ", done.stderr)
            with open(self.state, encoding="utf-8") as file:
                self.assertEqual(json.load(file)["stage"], stage)
            self.assertEqual(self.found(self.old, 20), 20)

    def test_servers_without_room_are_not_moved_to(self):
        values = "".join('{"key":"k %d","value":"%s"}\n' % (i, "v" * 90_000) for i in range(400))
        sheaf("--servers", self.old, "mset", "-", stdin=values.encode())
        new = self.memcached("-M", "-m", "8")
        done = sheaf(*self.words(new=new))
        self.assertEqual(done.returncode, FAILED, (done.stdout, done.stderr))
        self.assertIn(b"out of memory storing object", done.stderr)
        with open(self.state, "w", encoding="utf-8") as file:
            file.write('{"stage":"drain"}')
        self.assertEqual(sheaf(*self.words(new=new)).returncode, FAILED)
        self.assertEqual(self.found(self.old, 400) + self.found(new, 400), 400)

    def test_values_that_are_too_large_for_the_new_servers_are_left_out_and_told(self):
        old = self.memcached("-I", "4m")
        self.fill(old, 3)
        old += "?item_size=4194304"
        large = '{"key":"large","value":"%s"}\n' % ("v" * 2_000_000)
        sheaf("--servers", old, "mset", "-", stdin=large.encode())
        done = sheaf(*self.words(old=old))
        self.assertEqual(done.returncode, FAILED, done.stderr)  # for all the program knows, it fits
        self.assertIn(b"1 keys were refused, the first because: ", done.stderr)
        done = sheaf(*self.words(old=old, new=self.new + "?item_size=4194304"))
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn(b"copy: 4 keys", done.stdout)
        self.assertIn(b"1 too large for the servers and left out", done.stdout)
        self.assertIn(b"1 too large for the servers and removed", done.stdout)
        self.assertEqual(self.found(self.new, 3), 3)

    def test_keys_that_lie_where_they_do_not_belong_are_counted(self):
        for node in self.old_nodes:
            self.fill("memcached://" + node, 50)
        lines = self.migrate("--until", "switched")
        passes = {line["pass"]: line for line in lines if "pass" in line}
        self.assertEqual((passes["copy"]["keys"], passes["copy"]["elsewhere"]), (50, 50))
        self.assertEqual(passes["check"]["elsewhere"], 0)

    def test_a_limit_of_its_own_removes_nothing(self):
        self.fill(self.old, 3)
        sheaf("--servers", self.old, "set", "large", "v" * 100_000)
        with open(self.state, "w", encoding="utf-8") as file:
            file.write('{"stage":"drain"}')
        limit = "?value_limit=65536"
        for more in {"old": self.old + limit}, {"new": self.new + limit}:
            done = sheaf(*self.words(**more))
            self.assertEqual(done.returncode, FAILED, (done.stdout, done.stderr))
            self.assertIn(b"1 keys were refused, the first because: ", done.stderr)
            self.assertIn(b"value_limit", done.stderr)
            held = sheaf("--servers", self.old, "get", "large")
            self.assertEqual(held.returncode, DONE)

    def test_keys_of_a_file_are_carried_and_no_others(self):
        self.fill(self.old, 10)
        keys = self.path("keys")
        with open(keys, "w", encoding="utf-8") as file:
            file.write("k 3\nk 4\n")
        lines = self.migrate("--keys", keys)
        self.assertEqual([line["keys"] for line in lines if line.get("pass") == "copy"], [2])
        self.assertEqual(self.found(self.new, 10), 2)

    def test_keys_that_cannot_be_kept_stop_it(self):
        self.fill(self.old, 10)
        keys = self.path("keys")
        with open(keys, "w", encoding="utf-8") as file:
            file.write("k 3\nk 4\n")
        self.migrate("--keys", keys, "--until", "mirror")
        os.environ["TMPDIR"] = self.path("none")
        for more in ("--keys", keys), ():
            done = sheaf(*self.words(*more))
            self.assertEqual(done.returncode, FAILED, (done.stdout, done.stderr))
            self.assertIn(b"temporary file in " + self.path("none").encode() + b": No such file",
                          done.stderr)
        with open(self.state, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["stage"], "mirror")

    def test_a_file_without_keys_is_refused(self):
        keys = self.path("keys")
        with open(keys, "w", encoding="utf-8") as file:
            file.write("\n")
        done = sheaf(*self.words("--keys", keys))
        self.assertEqual(done.returncode, USAGE)
        self.assertIn(b"there is no key in it", done.stderr)
        self.assertFalse(os.path.exists(self.state))

    def test_what_is_not_allowed_is_named(self):
        refused = [
            (self.words(new="mqtt://b1"), b"--to: a cache can move between servers of memcached"),
            (self.words(old="memcacheds://c1?tls_ca=none.pem"), b"--from: "),
            (self.words(new="memcached://user:pw@127.0.0.1"),
             b"--to: keys cannot be listed over TLS or with a password"),
            (self.words(old="memcached://"), b"--from: "),
            (self.words(old=self.old + "?failover=rehash"),
             b"--from: a cache cannot move with failover=rehash"),
            (self.words(new=self.new + "?failover=rehash"),
             b"--to: a cache cannot move with failover=rehash"),
            (self.words("--keys", "none"), b"none: No such file"),
            (self.words("--empty-to", new=self.old),
             b" is a server of both --from and --to"),
        ]
        for words, text in refused:
            done = sheaf(*words)
            self.assertEqual(done.returncode, USAGE, done.stderr)
            self.assertIn(text, done.stderr)
        self.migrate("--until", "mirror")
        done = sheaf(*self.words(old=self.new, new=self.old))
        self.assertEqual(done.returncode, USAGE)
        self.assertIn(b"belongs to a migration with other servers in --from", done.stderr)

    def test_a_server_that_is_away_stops_it_in_its_stage_and_it_goes_on_later(self):
        self.fill(self.old, 50)
        self.migrate("--until", "mirror")
        self.dev.stop(self.new_nodes[0])
        self.addCleanup(self.dev.resume, self.new_nodes[0])
        self.migrate(timeout="200ms", code=FAILED)
        with open(self.state, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["stage"], "mirror")
        self.dev.resume(self.new_nodes[0])
        self.assertEqual(self.stages(self.migrate()),
                         ["mirror", "switched", "drain", "closing", "after"])
        self.assertEqual(self.found(self.new, 50), 50)

    def test_ctrl_c_ends_it_in_its_stage_and_a_second_run_is_refused(self):
        words = harness.program_words(*self.words()[:-2], "--settle", "1h")
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            harness.wait_until(lambda: sheaf("--version") and os.path.exists(self.state),
                               "the file is there")
            second = sheaf(*self.words())
            self.assertEqual(second.returncode, USAGE)
            self.assertIn(b"another run is using it", second.stderr)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=harness.LONGEST)
        self.assertEqual((process.returncode, err), (128 + signal.SIGINT, b""))
        self.assertIn(b"It stops in the stage mirror. The same command continues", out)

    def test_a_server_that_answers_something_else_is_named(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            words = harness.program_words(*self.words(new="memcached://127.0.0.1:%d" % port,
                                                      timeout="1s"))
            with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                connections = []
                listener.settimeout(0.2)
                while process.poll() is None:
                    try:
                        connections.append(listener.accept()[0])
                        connections[-1].sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                    except TimeoutError:
                        pass
                    except OSError:
                        pass
                _, err = process.communicate(timeout=harness.LONGEST)
            for connection in connections:
                connection.close()
        self.assertEqual(process.returncode, FAILED)
        self.assertIn(b'it answered "HTTP/1.1 400 Bad Request"', err)

    def test_servers_that_cannot_walk_their_table_are_asked_to_walk_by_age(self):
        asked = []
        with socket.create_server(("127.0.0.1", 0)) as listener:
            words = self.words(new="memcached://127.0.0.1:%d" % listener.getsockname()[1],
                               timeout="1s")
            with subprocess.Popen(harness.program_words(*words), stderr=subprocess.PIPE) as process:
                open_ones = [listener]
                while process.poll() is None:
                    for one in select.select(open_ones, [], [], 0.2)[0]:
                        if one is listener:
                            open_ones.append(listener.accept()[0])
                            continue
                        data = one.recv(4096)
                        if b"metadump" in data:
                            asked.append(data)
                            one.sendall(b"BADCLASS invalid class id\r\n")
                        elif not data:
                            open_ones.remove(one)
                            one.close()
                _, err = process.communicate(timeout=harness.LONGEST)
            for one in open_ones[1:]:
                one.close()
        self.assertEqual(asked, [b"lru_crawler metadump hash\r\n", b"lru_crawler metadump all\r\n"])
        self.assertEqual(process.returncode, FAILED)
        self.assertIn(b'it answered "BADCLASS invalid class id"', err)
