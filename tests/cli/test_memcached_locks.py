"""`sheaf lock` on real memcached servers, which compare no tokens."""

from harness import DONE, OnServers
from lock_cases import LockCases


class MemcachedLocks(LockCases, OnServers):
    kind = "memcached"
    token = rb"^\d+$"

    def test_a_name_that_memcached_cannot_hold_is_refused_in_a_sentence(self):
        done = self.run_on("lock", "k" * 251, "--", "true")
        self.assertNotEqual(done.returncode, DONE)
        self.assertIn(b"250 bytes", done.stderr)
        self.assertEqual(done.stderr.count(b"\n"), 1)
