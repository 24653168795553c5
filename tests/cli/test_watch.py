"""sheaf watch: what it prints about changes, restarts and lost brokers, and how it ends."""

import json
import os
import re
import select
import signal
import subprocess
import time

import harness
from harness import DONE, FAILED, USAGE, Case, OnServers, raw, sheaf

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


class Watch:
    """A running `sheaf watch`, read line by line. Without a `uri` the environment names servers."""

    def __init__(self, uri, *words, environment=None):
        servers = ["--servers", uri] if uri else []
        self.process = subprocess.Popen(
            raw(harness.program, *servers, "watch", *words), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
        self.text = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def next(self):
        """The next line, as an object. Lines come without being asked for."""
        end = time.monotonic() + harness.LONGEST
        while b"\n" not in self.text:
            readable, _, _ = select.select([self.process.stdout], [], [], end - time.monotonic())
            chunk = os.read(self.process.stdout.fileno(), 65536) if readable else b""
            if not chunk:
                raise AssertionError("no line came; %r" % self.process.communicate()[1])
            self.text += chunk
        line, self.text = self.text.split(b"\n", 1)
        return json.loads(line)

    def until(self, event):
        while True:
            report = self.next()
            if report["event"] == event:
                return report

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        _, err = self.process.communicate(timeout=harness.LONGEST)
        return self.process.returncode, err


class Watches(OnServers):
    def test_what_there_is_and_every_change_are_lines_of_json(self):
        a, b = self.key("a"), self.key("b")
        version = self.ends(DONE, "set", a, "1").decode().strip()
        with Watch(self.uri, a, b) as watch:
            first = sorted([watch.next(), watch.next()], key=lambda event: event["key"])
            self.assertEqual(first, [
                {"event": "current", "key": a, "value": "1", "version": version},
                {"event": "current", "key": b, "value": None, "version": None}])
            version = self.ends(DONE, "set", b, "2").decode().strip()
            self.assertEqual(watch.next(),
                             {"event": "set", "key": b, "value": "2", "version": version})
            self.ends(DONE, "del", a)
            gone = watch.next()
            self.assertEqual((gone["event"], gone["key"], gone["value"]),
                             ("deleted", a, None))
            self.assertEqual(watch.end(), (DONE, b""))

    def test_bytes_that_are_not_utf8_travel_as_base64(self):
        with Watch(self.uri, b"w/\xff") as watch:
            self.assertEqual(watch.next()["key_base64"], "dy//")
            self.ends(DONE, "set", b"w/\xff", "-", stdin=b"\x00\xfe")
            report = watch.next()
            self.assertEqual((report["key_base64"], report["value_base64"]), ("dy//", "AP4="))

    def test_each_signal_ends_it_with_0(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with Watch(self.uri, self.key("k")) as watch:
                watch.next()
                self.assertEqual(watch.end(number), (DONE, b""))

    def test_a_reader_that_goes_away_ends_it(self):
        with Watch(self.uri, self.key("k")) as watch:
            watch.next()
            watch.process.stdout.close()
            written = lambda: self.ends(DONE, "set", self.key("k"), "x") != b""
            harness.wait_until(lambda: written() and watch.process.poll() == 128 + signal.SIGPIPE,
                               "the end of a watch that nobody reads")
            watch.process.stdout = None

    def test_a_stopped_broker_is_a_gap_with_its_times(self):
        key = self.key("gap")
        with Watch(self.uri, key) as watch:
            watch.next()
            node = self.ends(DONE, "locate", key).decode().split("\t")[1].strip()
            self.dev.stop(node)
            try:
                harness.wait_until(lambda: sheaf(*self.get(key)).returncode == FAILED,
                                   "a broker that does not answer")
                readable = select.select([watch.process.stderr], [], [], harness.LONGEST)[0]
                self.assertTrue(readable, "the loss is reported on standard error")
            finally:
                self.dev.resume(node)
            gap = watch.until("gap")
            self.assertEqual(gap["key"], key)
            self.assertTrue(TIME.fullmatch(gap["from"]) and TIME.fullmatch(gap["until"]))
            self.assertLess(gap["from"], gap["until"])
            harness.wait_until(lambda: sheaf(*self.get(key)).returncode != FAILED, "recovery")
            self.ends(DONE, "set", key, "2")
            self.assertEqual(watch.until("set")["value"], "2")

    def get(self, key):
        return ["--servers", self.uri, "--timeout", "500ms", "get", key]


class NobodyToWatch(Case):
    def test_a_node_that_is_not_there_ends_it_with_3(self):
        done = sheaf("--servers", "mqtt://127.0.0.1:1", "--timeout", "300ms", "watch", "k")
        self.assertEqual((done.returncode, done.stdout), (FAILED, b""))
        self.assertIn(b"127.0.0.1:1", done.stderr)

    def test_what_is_wrong_is_one_sentence(self):
        self.refused("--servers", "embedded://1", "watch", says="KEY")
        self.refused("--servers", "embedded://1", "watch", "", says="key")
        done = sheaf("--servers", "memcached://127.0.0.1:1", "watch", "k")
        self.assertEqual(done.returncode, USAGE)
        self.assert_sentences(done.stderr)
