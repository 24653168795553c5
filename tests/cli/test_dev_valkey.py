"""`sheaf dev --valkey`: a cluster of valkey-servers, if they are installed."""

import unittest

import harness
from dev_cluster import Cluster, missing

MISSING = missing("valkey", __name__)


@unittest.skipIf(MISSING, MISSING)
class Valkey(Cluster, harness.OnServers, harness.CaseWithFolder):
    kind = "valkey"
