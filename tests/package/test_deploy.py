"""The files of samples/deploy: a real broker runs each of their configurations, and whatever they
contain twice is the same.

    test_deploy.py SOURCE VERSION MOSQUITTO PLUGIN SHEAF MAKE_CREDENTIALS
"""

import os
import queue
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

try:
    import yaml
except ImportError:  # a Python other than Debian's finds Debian's packages there
    sys.path.append("/usr/lib/python3/dist-packages")
    import yaml

source, version, mosquitto, plugin, sheaf, make_credentials = sys.argv[1:7]
deploy = os.path.join(source, "samples/deploy")
SECONDS = 60

# /etc/mosquitto/mosquitto.conf of Debian 12, which reads the folder conf.d at its end.
DEBIAN = """\
pid_file /run/mosquitto/mosquitto.pid

persistence true
persistence_location /var/lib/mosquitto/

log_dest file /var/log/mosquitto/mosquitto.log

include_dir /etc/mosquitto/conf.d
"""


def shipped(name):
    with open(os.path.join(deploy, name), encoding="utf-8") as file:
        return file.read()


def options(configuration):
    """The effective lines of a mosquitto.conf, in their order."""
    return [line for line in configuration.splitlines() if line and not line.startswith("#")]


def with_line(text, line, other):
    """`text` with `other` instead of `line`, which must occur exactly once."""
    lines = text.split("\n")
    if lines.count(line) != 1:
        raise AssertionError("not exactly one line is: " + line)
    return "\n".join(other if each == line else each for each in lines)


def kubernetes():
    """Objects of kubernetes.yaml by kind."""
    return {each["kind"]: each for each in yaml.safe_load_all(shipped("kubernetes.yaml"))}


def kubernetes_configuration():
    return kubernetes()["ConfigMap"]["data"]["mosquitto.conf"]


def pod():
    return kubernetes()["StatefulSet"]["spec"]["template"]["spec"]


def compose():
    return yaml.safe_load(shipped("compose.yaml"))


class Machine:
    """A folder that takes the place of the root of a machine with the packages installed, and a
    port that no other process gets: it is bound, but no process listens there."""

    def __init__(self, case):
        folder = tempfile.TemporaryDirectory()
        case.addCleanup(folder.cleanup)
        self.root = folder.name
        self.case = case
        for place in ("etc/mosquitto/conf.d", "run/mosquitto", "var/lib/mosquitto",
                      "var/log/mosquitto", "usr"):
            os.makedirs(self.path(place))
        triplet = subprocess.run(["dpkg-architecture", "-qDEB_HOST_MULTIARCH"], check=True,
                                 capture_output=True, text=True).stdout.strip()
        where = self.path("usr/lib", triplet, "sheaf")
        os.makedirs(where)
        os.symlink(plugin, os.path.join(where, "libsheaf_statestore.so"))
        reserved = socket.socket()
        case.addCleanup(reserved.close)
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reserved.bind(("127.0.0.1", 0))
        self.port = reserved.getsockname()[1]
        self.uri = "mqtt://127.0.0.1:%d" % self.port

    def path(self, *words):
        return os.path.join(self.root, *words)

    def write(self, name, text):
        """Writes a file of the machine. Paths in it lead into the folder."""
        text = re.sub(r"(?m)^(\w+(?: file)?) /(etc|run|usr|var)/", r"\1 %s/\2/" % self.root, text)
        with open(self.path(name), "w", encoding="utf-8") as out:
            out.write(text)
        return self.path(name)

    def broker(self, configuration, listener="listener 1883"):
        """A broker with this whole mosquitto.conf, until the test ends."""
        configuration = with_line(configuration, listener,
                                  "listener %d 127.0.0.1" % self.port)
        return Broker(self.case, self.write("etc/mosquitto/mosquitto.conf", configuration))

    def debian_broker(self, addition):
        """Debian's broker with a file in its folder conf.d."""
        self.write("etc/mosquitto/conf.d/sheaf-store.conf", addition)
        return Broker(self.case, self.write("etc/mosquitto/mosquitto.conf", DEBIAN))

    def sheaf(self, *words, uri=None):
        return subprocess.run([sheaf, "--timeout", "30s", "--servers", uri or self.uri, *words],
                              capture_output=True, text=True, timeout=SECONDS, check=False)


class Broker:
    """A mosquitto. Its log goes to standard error in addition to the configured place."""

    def __init__(self, case, configuration):
        # If the test runs as root, another user may not be able to reach the plugin and the
        # folders.
        lines = "log_dest stderr\n" + ("user root\n" if os.geteuid() == 0 else "")
        with open(configuration, encoding="utf-8") as file:
            text = file.read()
        with open(configuration, "w", encoding="utf-8") as out:
            out.write(lines + text)
        self.process = subprocess.Popen([mosquitto, "-c", configuration], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        text=True)
        self.log = []
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self.read)
        self.reader.start()
        case.addCleanup(self.end)
        while not self.log or not self.log[-1].endswith(" running\n"):
            line = self.lines.get(timeout=SECONDS)
            if line is None:
                raise AssertionError("mosquitto did not start:\n" + "".join(self.log))
            self.log.append(line)

    def read(self):
        for line in self.process.stderr:
            self.lines.put(line)
        self.lines.put(None)

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(timeout=SECONDS)
        self.reader.join(timeout=SECONDS)
        self.process.stderr.close()


class OnABroker(unittest.TestCase):
    def done(self, finished, output=None):
        self.assertEqual(finished.returncode, 0, finished.stderr)
        if output is not None:
            self.assertEqual(finished.stdout, output)

    def keeps_its_store(self, start, machine):
        """A value that was set is found, also after a restart of the broker."""
        broker = start()
        self.assertFalse([line for line in broker.log if "Error" in line], broker.log)
        self.done(machine.sheaf("set", "line4/speed", "21.5"))
        self.done(machine.sheaf("get", "line4/speed"), "21.5")
        broker.end()
        start()
        self.done(machine.sheaf("get", "line4/speed"), "21.5")

    def test_debians_broker_starts_with_sheaf_store_conf(self):
        machine = Machine(self)
        addition = with_line(shipped("sheaf-store.conf"), "listener 1883 127.0.0.1",
                             "listener %d 127.0.0.1" % machine.port)
        self.keeps_its_store(lambda: machine.debian_broker(addition), machine)
        # What is not in the store is not kept by the broker either.
        self.assertEqual({name.split("-")[0] for name in
                          os.listdir(machine.path("var/lib/mosquitto"))}, {"sheaf.db"})

    def test_a_container_starts_with_container_conf(self):
        machine = Machine(self)
        self.keeps_its_store(lambda: machine.broker(shipped("container.conf")), machine)

    def test_a_pod_starts_with_the_configuration_of_kubernetes_yaml(self):
        machine = Machine(self)
        self.keeps_its_store(lambda: machine.broker(kubernetes_configuration()), machine)

    def test_the_lines_for_other_machines_want_a_certificate(self):
        machine = Machine(self)
        certificates = machine.path("certificates")
        os.makedirs(certificates)
        subprocess.run([make_credentials, certificates, "broker=10", "press=10"], check=True)
        for name, place in (("ca.pem", "ca_certificates/clients.pem"),
                            ("broker.pem", "certs/broker.pem"), ("broker.key", "certs/broker.key")):
            path = machine.path("etc/mosquitto", place)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            shutil.copy(os.path.join(certificates, name), path)
        text = with_line(shipped("sheaf-store.conf"), "listener 1883 127.0.0.1", "")
        text = with_line(text, "allow_anonymous true", "")
        others = re.search(r"(?m)^# listener 8883\n(# \w+ .*\n)+", text).group(0)
        text = text.replace(others, re.sub("(?m)^# ", "", others))
        text = with_line(text, "listener 8883", "listener %d 127.0.0.1" % machine.port)
        broker = machine.debian_broker(text)
        self.assertFalse([line for line in broker.log if "Error" in line], broker.log)
        stranger = "mqtts://127.0.0.1:%d?tls_ca=%s/ca.pem" % (machine.port, certificates)
        known = stranger + "&tls_cert=%s/press.pem&tls_key=%s/press.key" % (certificates,
                                                                           certificates)
        self.done(machine.sheaf("set", "line4/speed", "21.5", uri=known))
        self.done(machine.sheaf("get", "line4/speed", uri=known), "21.5")
        self.assertNotEqual(machine.sheaf("get", "line4/speed", uri=stranger).returncode, 0)
        self.assertNotEqual(machine.sheaf("get", "line4/speed").returncode, 0)

    def test_the_probes_tell_a_store_that_answers_from_one_that_does_not(self):
        machine = Machine(self)
        broker = machine.broker(shipped("container.conf"))
        probes = [service["healthcheck"]["test"] for service in compose()["services"].values()]
        probes.append(["CMD"] + pod()["containers"][0]["readinessProbe"]["exec"]["command"])

        def codes():
            for first, program, *words in probes:
                self.assertEqual([first, program], ["CMD", "sheaf"])
                words = [word.replace("mqtt://127.0.0.1:1883", machine.uri) for word in words]
                self.assertIn(machine.uri, words)
                yield subprocess.run([sheaf, *words], capture_output=True, timeout=SECONDS,
                                     check=False).returncode

        self.assertEqual(set(codes()), {0})
        broker.end()
        self.assertNotIn(0, set(codes()))


class Files(unittest.TestCase):
    def test_a_container_has_the_options_of_sheaf_store_conf(self):
        wanted = options(shipped("sheaf-store.conf"))
        wanted[wanted.index("listener 1883 127.0.0.1")] = "listener 1883"
        self.assertEqual(options(shipped("container.conf")),
                         ["log_dest stderr", "log_timestamp false"] + wanted)

    def test_a_pod_has_the_options_of_a_container(self):
        self.assertEqual(options(kubernetes_configuration()), options(shipped("container.conf")))

    def test_the_plugin_is_where_its_package_has_it(self):
        triplet = "x86_64-linux-gnu"
        with open(os.path.join(source, "docs/packages.md"), encoding="utf-8") as page:
            self.assertIn("`/usr/lib/%s/sheaf/libsheaf_statestore.so`" % triplet, page.read())
        for text in (shipped("sheaf-store.conf"), shipped("container.conf")):
            line, = [line for line in options(text) if line.startswith("plugin ")]
            self.assertEqual(line.replace("$LIB", "lib/" + triplet),
                             "plugin /usr/lib/%s/sheaf/libsheaf_statestore.so" % triplet)

    def test_images_have_the_version(self):
        image = "sheaf-store:" + version
        self.assertIn("docker build -t %s " % image, shipped("Dockerfile"))
        for service in compose()["services"].values():
            self.assertEqual(service["image"], image)
        self.assertEqual(pod()["containers"][0]["image"], "registry.example.org/" + image)

    def test_compose_runs_three_brokers_that_share_nothing(self):
        file = compose()
        brokers = list(file["services"].values())
        self.assertEqual(len(brokers), 3)
        self.assertEqual(file["configs"], {"mosquitto": {"file": "./container.conf"}})
        for broker in brokers:
            self.assertEqual(broker["restart"], "unless-stopped")
            self.assertEqual(broker["configs"], [{"source": "mosquitto",
                                                  "target": "/etc/mosquitto/mosquitto.conf"}])
        ports = [port for broker in brokers for port in broker["ports"]]
        self.assertEqual(ports, ["127.0.0.1:%d:1883" % port for port in (1883, 1884, 1885)])
        volumes = [broker["volumes"] for broker in brokers]
        self.assertEqual(volumes, [["%s:/var/lib/mosquitto" % name] for name in file["volumes"]])

    def test_kubernetes_runs_three_brokers_that_share_nothing(self):
        objects = kubernetes()
        self.assertEqual(list(objects), ["Service", "NetworkPolicy", "ConfigMap", "StatefulSet"])
        service, brokers = objects["Service"], objects["StatefulSet"]["spec"]
        self.assertEqual(service["spec"]["clusterIP"], "None")
        self.assertEqual(brokers["serviceName"], service["metadata"]["name"])
        self.assertEqual(brokers["replicas"], 3)
        labels = brokers["template"]["metadata"]["labels"]
        self.assertEqual(brokers["selector"]["matchLabels"], labels)
        self.assertEqual(service["spec"]["selector"], labels)
        self.assertEqual(objects["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"], labels)
        container, = pod()["containers"]
        places = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
        self.assertEqual(places, {"configuration": "/etc/sheaf-store",
                                  "store": "/var/lib/mosquitto"})
        self.assertEqual(container["command"][-1], places["configuration"] + "/mosquitto.conf")
        self.assertEqual(pod()["volumes"],
                         [{"name": "configuration",
                           "configMap": {"name": objects["ConfigMap"]["metadata"]["name"]}}])
        self.assertEqual([each["metadata"]["name"] for each in brokers["volumeClaimTemplates"]],
                         ["store"])

    def test_a_pod_may_do_nothing_but_write_its_store(self):
        user = re.search(r"(?m)^USER (\d+):(\d+)$", shipped("Dockerfile")).groups()
        security = pod()["securityContext"]
        self.assertEqual((str(security["runAsUser"]), str(security["runAsGroup"])), user)
        self.assertTrue(security["runAsNonRoot"])
        # The store refuses its file if the group may write to it.
        self.assertEqual(security["fsGroupChangePolicy"], "OnRootMismatch")
        self.assertEqual(pod()["containers"][0]["securityContext"],
                         {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                          "capabilities": {"drop": ["ALL"]}})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
