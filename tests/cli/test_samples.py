"""The samples on memcached servers: each does what it shows, or says in one sentence why it
cannot."""

import json
import os
import subprocess

import harness
from harness import DONE, LONGEST, USAGE


class OnMemcached(harness.OnServers):
    kind = "memcached"

    def ends_with(self, code, sample, *words):
        done = subprocess.run([os.path.join(os.environ["SHEAF_SAMPLES"], sample), *words],
                              capture_output=True, timeout=LONGEST, check=False, text=True)
        self.assertEqual(done.returncode, code, (sample, done.stdout, done.stderr))
        return done

    def test_what_memcached_can_do_ends_well(self):
        for sample in ("batch_read", "error_handling", "multi_broker_cache", "work_list"):
            self.assertEqual(self.ends_with(DONE, sample, self.uri).stderr, "")

    def test_quickstart_leaves_out_what_memcached_cannot_do(self):
        done = self.ends_with(DONE, "quickstart", self.uri)
        for says in ("do not check fencing tokens", "no key can be watched", "Done: every value"):
            self.assertIn(says, done.stdout)

    def test_what_starts_its_own_servers_takes_none(self):
        done = self.ends_with(USAGE, "stale_after_return", self.uri)
        self.assertIn("takes no servers", done.stderr)
        done = self.ends_with(USAGE, "stale_after_return", "/no/such/program")
        self.assertIn("`/no/such/program dev --memcached 3` started no servers", done.stderr)

    def test_a_cache_asks_its_source_once_for_each_key(self):
        self.assertIn("round 2: 0 of 40 from the source",
                      self.ends_with(DONE, "multi_broker_cache", self.uri).stdout)

    def test_the_standby_takes_over_and_hears_what_is_not_protected(self):
        done = self.ends_with(DONE, "active_standby", self.uri)
        self.assertIn("pump B is active", done.stdout)
        self.assertIn("no server here checks fencing tokens", done.stdout)
        self.assertIn("the key says: pump B", done.stdout)

    def refuses(self, says, sample, *words):
        done = self.ends_with(USAGE, sample, *words)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(says, done.stderr)

    def test_what_memcached_cannot_do_is_said_in_one_sentence(self):
        self.refuses("do not check fencing tokens", "fenced_writes", self.uri)
        self.refuses("do not report changes", "thermostat", self.uri)
        self.refuses("do not report changes", "thermostat", "follow", self.uri)
        if os.path.exists(os.path.join(os.environ["SHEAF_SAMPLES"], "asio_all")):  # needs asio
            self.refuses("do not report changes", "asio_all", self.uri)

    def test_each_request_is_a_span_that_a_collector_reads(self):
        lines = self.ends_with(DONE, "tracing", self.uri).stdout.splitlines()
        spans = [json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
                 for line in lines]
        self.assertEqual(spans[0]["name"], "set 127.0.0.1")
        self.assertEqual(len({span["traceId"] for span in spans}), 1)
        self.assertEqual(len({span["parentSpanId"] for span in spans}), 1)
        for span in spans:
            self.assertLess(int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"]))
            values = {one["key"]: one["value"] for one in span["attributes"]}
            self.assertEqual(values["db.system.name"]["stringValue"], "memcached")
            self.assertIn(values["db.operation.name"]["stringValue"], ("set", "get", "get_many"))
            self.assertIn(":" + values["server.port"]["intValue"], self.uri)

    def test_a_set_point_is_written_where_nobody_can_follow_it(self):
        self.ends_with(DONE, "thermostat", "set", "21.5", self.uri)
        self.assertEqual(self.ends(DONE, "get", "living\\setPoint"), b"21.5")
