"""`sheaf lock` and `sheaf get --fence` with real brokers."""

import time

from harness import DONE, FAILED, NEGATIVE, USAGE, OnServers, sheaf
from lock_cases import LockCases


class Locks(LockCases, OnServers):
    token = rb"^\d+:\d+:"
    counting = (
        'n=$("$0" --servers "$1" get "$2" --fence "$SHEAF_FENCING_TOKEN");'
        'case $? in'
        ' 0) "$0" --servers "$1" set "$2" $((n + 1)) --fence "$SHEAF_FENCING_TOKEN";;'
        ' 1) "$0" --servers "$1" set "$2" 1 --if-absent --fence "$SHEAF_FENCING_TOKEN";;'
        ' *) exit 9;; esac')

    def test_a_node_that_is_not_reached(self):
        begin = time.monotonic()
        done = sheaf("--servers", "mqtt://127.0.0.1:1", "lock", "x", "--wait", "1s", "--", "true")
        self.assertEqual(done.returncode, FAILED)
        self.assertIn(b"127.0.0.1:1", done.stderr)
        self.assertLess(time.monotonic() - begin, 20)

    def test_a_fenced_read_refuses_older_tokens(self):
        turn, kept, absent = (self.key("{f}" + name) for name in ("turn", "kept", "absent"))
        first = self.ends(DONE, "set", turn, "a").strip()
        self.ends(DONE, "set", kept, "v", "--fence", first)
        second = self.ends(DONE, "set", turn, "b").strip()
        self.assertEqual(self.ends(DONE, "get", kept, "--fence", second, "--ttl", "1h"), b"v")
        self.ends(FAILED, "set", kept, "late", "--fence", first)
        self.ends(FAILED, "get", kept, "--fence", first)
        self.ends(NEGATIVE, "get", absent, "--fence", second)
        self.assertEqual(self.ends(DONE, "get", kept), b"v")

    def test_what_is_not_allowed_is_one_sentence(self):
        for words in (["lock"], ["lock", "x"], ["lock", "x", "--"],
                      ["lock", "x", "--lease", "99ms", "--", "true"],
                      ["lock", "x", "--lease", "25h", "--", "true"],
                      ["lock", "x", "--wait", "soon", "--", "true"],
                      ["get", "x", "--ttl", "1s"], ["get", "x", "--fence", ""]):
            done = self.run_on(*words)
            self.assertEqual(done.returncode, USAGE, words)
            self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
