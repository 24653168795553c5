"""`sheaf lock` and `sheaf get --fence` with real brokers."""

import subprocess
import time

from harness import DONE, FAILED, NEGATIVE, USAGE, OnDev, program_words, sheaf
from lock_cases import LockCases


class Locks(LockCases, OnDev):
    token = rb"^\d+:\d+:"

    dev_servers = {"brokers": 1}

    def test_a_node_that_is_not_reached(self):
        begin = time.monotonic()
        done = sheaf("--servers", "mqtt://127.0.0.1:1", "lock", "x", "--wait", "1s", "--", "true")
        self.assertEqual(done.returncode, FAILED)
        self.assertIn(b"127.0.0.1:1", done.stderr)
        self.assertLess(time.monotonic() - begin, 20)

    def test_programs_count_under_the_lock(self):
        count = (
            'n=$("$0" --servers "$1" get n --fence "$SHEAF_FENCING_TOKEN");'
            'case $? in'
            ' 0) "$0" --servers "$1" set n $((n + 1)) --fence "$SHEAF_FENCING_TOKEN";;'
            ' 1) "$0" --servers "$1" set n 1 --if-absent --fence "$SHEAF_FENCING_TOKEN";;'
            ' *) exit 9;; esac')
        words = program_words()[0]
        running = [subprocess.Popen(
            program_words("--servers", self.uri, "lock", "count", "--wait", "60s", "--", "sh", "-c",
                          count, words, self.uri), stdout=subprocess.DEVNULL) for _ in range(8)]
        self.assertEqual([process.wait(timeout=120) for process in running], [DONE] * 8)
        self.assertEqual(self.ends(DONE, "get", "n"), b"8")

    def test_a_fenced_read_refuses_older_tokens(self):
        first = self.ends(DONE, "set", "turn", "a").strip()
        self.ends(DONE, "set", "kept", "v", "--fence", first)
        second = self.ends(DONE, "set", "turn", "b").strip()
        self.assertEqual(self.ends(DONE, "get", "kept", "--fence", second, "--ttl", "1h"), b"v")
        self.ends(FAILED, "set", "kept", "late", "--fence", first)
        self.ends(FAILED, "get", "kept", "--fence", first)
        self.ends(NEGATIVE, "get", "absent", "--fence", second)
        self.assertEqual(self.ends(DONE, "get", "kept"), b"v")

    def test_what_is_not_allowed_is_one_sentence(self):
        for words in (["lock"], ["lock", "x"], ["lock", "x", "--"],
                      ["lock", "x", "--lease", "99ms", "--", "true"],
                      ["lock", "x", "--lease", "25h", "--", "true"],
                      ["lock", "x", "--wait", "soon", "--", "true"],
                      ["get", "x", "--ttl", "1s"], ["get", "x", "--fence", ""]):
            done = self.run_on(*words)
            self.assertEqual(done.returncode, USAGE, words)
            self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
