"""`sheaf dev --garnet`: a cluster of garnet-servers, where they are installed."""

import os
import shutil
import unittest

import harness
from dev_cluster import Cluster

MISSING = not os.environ.get("GARNET_SERVER") and not shutil.which("garnet-server")
REASON = "no garnet-server: it is neither in PATH nor named by GARNET_SERVER"
if MISSING:  # as GoogleTest says it, which tests/run.sh repeats
    print("test_dev_garnet.py:1: Skipped\n" + REASON, flush=True)


@unittest.skipIf(MISSING, REASON)
class Garnet(Cluster, harness.CaseWithFolder):
    kind = "garnet"
