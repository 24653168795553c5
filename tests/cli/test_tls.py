"""`sheaf nodes` over TLS: version, cipher, when certificates expire, and the user; and with nothing
but the environment of a pod of Azure IoT Operations."""

import json
import os
import re
import shutil
import subprocess
import tempfile

import harness
from harness import DONE, sheaf


def make_credentials(folder, *names):
    """Each name is NAME=DAYS[:PASSPHRASE]; see tests/support/tls/make_credentials.cpp."""
    subprocess.run([os.environ["SHEAF_MAKE_CREDENTIALS"], folder, *names], check=True)


class NodesOverTls(harness.Case):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.place = folder.name
        make_credentials(cls.place, "server=10", "client=400", "brief=3", "locked=400:pass phrase")
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

    def file(self, name, text=""):
        """The path of a file in the folder; with a text it is written first."""
        path = os.path.join(self.place, name)
        if text:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return path

    def settings(self):
        """By their names in a connection string, with the names of their variables."""
        host, port = self.broker.node.split(":")
        os.makedirs(self.file("bundle"), exist_ok=True)
        shutil.copy(self.file("ca.pem"), self.file("bundle"))
        return {
            "HostName": ("AIO_BROKER_HOSTNAME", host), "TcpPort": ("AIO_BROKER_TCP_PORT", port),
            "CaFile": ("AIO_TLS_CA_FILE", self.file("bundle")),
            "CertFile": ("AIO_TLS_CERT_FILE", self.file("locked.pem")),
            "KeyFile": ("AIO_TLS_KEY_FILE", self.file("locked.key")),
            "KeyPasswordFile": ("AIO_TLS_KEY_PASSWORD_FILE",
                                self.file("passphrase", "\n pass phrase\n")),
            "Username": ("AIO_MQTT_USERNAME", "line4"),
            "PasswordFile": ("AIO_MQTT_PASSWORD_FILE", self.file("password", "secret-word\n"))}

    def nodes_in(self, environment, *words):
        """With these variables and no others."""
        done = sheaf("--timeout", "30s", "nodes", *words, env=environment)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return done.stdout

    def test_the_variables_of_a_pod_are_enough(self):
        environment = dict(self.settings().values())
        report = json.loads(self.nodes_in(environment, "--json"))
        self.assertEqual((report["node"], report["user"], report["health"]),
                         (self.broker.node, "line4", "up"))
        self.assertEqual(report["settings"], "AIO_BROKER_HOSTNAME")
        last = self.nodes_in(environment).splitlines()[-1]
        self.assertEqual(last, b"settings from AIO_BROKER_HOSTNAME")
        self.uri = "mqtts://line4:secret-word@%s?tls_ca=%s&tls_cert=%s&tls_key=%s" % (
            self.broker.node, self.file("ca.pem"), self.file("client.pem"), self.file("client.key"))
        named = self.ends(DONE, "--timeout", "30s", "nodes", "--json", env=environment)
        self.assertNotIn("settings", json.loads(named))

    def test_so_is_a_connection_string(self):
        text = ";".join("%s=%s" % (name, value) for name, (_, value) in self.settings().items())
        report = json.loads(self.nodes_in({"ConnectionStrings__Default": text}, "--json"))
        self.assertEqual((report["user"], report["settings"]),
                         ("line4", "ConnectionStrings__Default"))

    def test_the_mounts_of_a_connector_name_the_broker(self):
        mount = os.path.dirname(self.file(
            "config/MQTT_CONNECTION_CONFIGURATION",
            '{"host": "%s", "tls": {"mode": "Enabled"}}' % self.broker.node))
        self.settings()
        environment = {"CONNECTOR_CONFIGURATION_MOUNT_PATH": mount,
                       "BROKER_TLS_TRUST_BUNDLE_CACERT_MOUNT_PATH": self.file("bundle"),
                       "BROKER_SAT_MOUNT_PATH": self.file("token", "a-token\n")}
        done = sheaf("ring", "--json", env=environment)
        self.assertEqual((done.returncode, json.loads(done.stdout)["node"]),
                         (DONE, self.broker.node), done.stderr)
        environment["BROKER_TLS_TRUST_BUNDLE_CACERT_MOUNT_PATH"] = mount
        done = sheaf("ring", env=environment)
        self.assertEqual(done.returncode, harness.USAGE)
        self.assertIn(b"tls_ca %s has no certificate in PEM form" % mount.encode(), done.stderr)


class NodesWithoutTls(harness.Case):
    def test_there_is_nothing_to_say_of_it(self):
        out = self.ends(DONE, "nodes")
        for word in (b"TLS", b"CERTIFICATE", b"USER"):
            self.assertNotIn(word, out)
