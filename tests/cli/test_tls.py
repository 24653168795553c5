"""`sheaf nodes` over TLS: version, cipher, when certificates expire, and the user."""

import json
import os
import re
import subprocess
import tempfile

import harness
from harness import DONE


def make_credentials(folder, *names):
    """Each name is NAME=DAYS; see tests/support/tls/make_credentials.cpp."""
    subprocess.run([os.environ["SHEAF_MAKE_CREDENTIALS"], folder, *names], check=True)


class NodesOverTls(harness.Case):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.place = folder.name
        make_credentials(cls.place, "server=10", "client=400", "brief=3")
        cls.broker = harness.locked_broker(cls.place, "line4", "secret-word",
                                           "certfile %s/server.pem\nkeyfile %s/server.key\n"
                                           "cafile %s/ca.pem\nrequire_certificate true\n"
                                           "plugin %s\n" % (cls.place, cls.place, cls.place,
                                                            os.environ["SHEAF_PLUGIN"]))
        cls.addClassCleanup(cls.broker.end)

    def nodes(self, certificate, *words):
        self.uri = "mqtts://line4:secret-word@%s?connect_timeout=10s&tls_ca=%s/ca.pem" \
                   "&tls_cert=%s/%s.pem&tls_key=%s/%s.key" % (
                       self.broker.node, self.place, self.place, certificate, self.place,
                       certificate)
        done = self.run_on("--timeout", "30s", "nodes", *words)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertNotIn(b"secret-word", done.stdout + done.stderr)
        return done

    def test_a_table_shows_the_certificates_end_and_the_user(self):
        first, row, gap, head, below = self.nodes("client").stdout.decode().splitlines()
        self.assertRegex(first, r"\ANODE  +HEALTH  +ROUND TRIP  +POOL  +CLOCK\Z")
        self.assertEqual((gap, head.split()[0]), ("", "NODE"))
        self.assertEqual(row.split()[0], below.split()[0])
        self.assertRegex(head, r"  TLS  +CERTIFICATE  +USER\Z")
        self.assertRegex(below, r"  TLSv1\.[23] [A-Z0-9_-]+  ends 20\d\d-\d\d-\d\d  line4\Z")

    def test_json_has_the_times(self):
        report = json.loads(self.nodes("client", "--json").stdout)
        self.assertRegex(report["tls"], r"\ATLSv1\.")
        for name in ("certificate_end", "own_certificate_end"):
            self.assertRegex(report[name], r"\A20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z\Z")
        self.assertLess(report["certificate_end"], report["own_certificate_end"])
        self.assertEqual(report["user"], "line4")

    def test_a_certificate_that_ends_soon_is_a_sentence_on_standard_error(self):
        def warnings(certificate):
            lines = self.nodes(certificate).stderr.decode().splitlines()
            return [line for line in lines if "certificate" in line]
        servers = r"\Asheaf: warning: the certificate of %s ends .* UTC, in 10 days\.\Z" \
                  % re.escape(self.broker.node)
        said = warnings("client")
        self.assertEqual(len(said), 1, said)
        self.assertRegex(said[0], servers)
        said = warnings("brief")
        self.assertEqual(len(said), 2, said)
        self.assertRegex(said[0], servers)
        self.assertRegex(said[1], r"\Asheaf: warning: our certificate \(tls_cert\) ends .* UTC, "
                                  r"in 3 days\.\Z")


class NodesWithoutTls(harness.Case):
    def test_there_is_nothing_to_say_of_it(self):
        out = self.ends(DONE, "nodes")
        for word in (b"TLS", b"CERTIFICATE", b"USER"):
            self.assertNotIn(word, out)
