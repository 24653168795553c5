"""`sheaf dev --redis`: a cluster of redis-servers."""

import os

import harness
from dev_cluster import Cluster
from harness import FAILED, Dev, sheaf


class Redis(Cluster, harness.OnServers, harness.CaseWithFolder):
    kind = "redis"

    def test_it_ends_when_no_server_is_left(self):
        with Dev(redis=1) as dev:
            dev.kill(dev.nodes[0])
            dev.process.wait(timeout=harness.LONGEST)
            self.assertEqual(dev.end()[0], FAILED)
        self.assertIn(b"no server is left.", dev.notes)
        self.assert_sentences(dev.notes)

    def test_the_program_that_the_environment_names_is_run(self):
        nowhere = os.path.join(self.folder.name, "nowhere")
        for kind in ("redis", "valkey", "garnet"):
            environment = {**os.environ, kind.upper() + "_SERVER": nowhere}
            done = sheaf("dev", "--" + kind, "1", env=environment)
            self.assertEqual((done.returncode, done.stdout), (FAILED, b""))
            self.assert_sentences(done.stderr)
            self.assertIn(nowhere.encode(), done.stderr)
