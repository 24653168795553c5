"""`sheaf dev --garnet`: a cluster of garnet-servers, if they are installed."""

import unittest

import harness
from dev_cluster import Cluster, missing

MISSING = missing("garnet", __name__)


@unittest.skipIf(MISSING, MISSING)
class Garnet(Cluster, harness.OnServers, harness.CaseWithFolder):
    kind = "garnet"
