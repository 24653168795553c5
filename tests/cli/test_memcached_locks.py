"""`sheaf lock` on real memcached servers, which compare no tokens."""

import subprocess

from harness import DONE, OnDev, program_words
from lock_cases import LockCases


class MemcachedLocks(LockCases, OnDev):
    token = rb"^\d+$"

    dev_servers = {"memcached": 3}

    def test_programs_count_under_the_lock(self):
        count = (
            'n=$("$0" --servers "$1" get n);'
            'case $? in'
            ' 0) "$0" --servers "$1" set n $((n + 1));;'
            ' 1) "$0" --servers "$1" set n 1 --if-absent;;'
            ' *) exit 9;; esac')
        words = program_words()[0]
        running = [subprocess.Popen(
            program_words("--servers", self.uri, "lock", "count", "--wait", "60s", "--", "sh", "-c",
                          count, words, self.uri), stdout=subprocess.DEVNULL) for _ in range(8)]
        self.assertEqual([process.wait(timeout=120) for process in running], [DONE] * 8)
        self.assertEqual(self.ends(DONE, "get", "n"), b"8")

    def test_a_name_that_memcached_cannot_hold_is_refused_in_a_sentence(self):
        done = self.lock("k" * 251, command=["true"])
        self.assertNotEqual(done.returncode, DONE)
        self.assertIn(b"250 bytes", done.stderr)
        self.assertEqual(done.stderr.count(b"\n"), 1)
