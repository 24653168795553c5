"""`sheaf dev --tls --token`: programs of a pod find their broker, and no call of theirs fails while
everything is replaced."""

import base64
import json
import os
import signal
import ssl
import subprocess
import time

import harness
from harness import DONE, Dev, program_words, sheaf, wait_until
from lock_cases import NOT_ACQUIRED
from pod_client import NOT_AUTHORIZED, PodClient, Refused, read_file
from test_watch import Watch


def variables(dev):
    """The environment for a program that knows only what a pod has."""
    pod = {name: value for name, value in dev.environment.items() if name.startswith("AIO_")}
    return {**{name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}, **pod}


class Pod(harness.CaseWithFolder):
    def start(self, *words):
        dev = Dev(*words, brokers=1)
        self.addCleanup(dev.end)
        return dev, variables(dev)

    def run_in(self, environment, code, *words):
        done = sheaf("--timeout", "30s", *words, env=environment)
        self.assertEqual(done.returncode, code, (words, done.stderr))
        return done.stdout

    def assert_shared(self, environment):
        """A program of sheaf and one of an SDK use the same keys, locks and watches."""
        with PodClient(environment) as client:
            self.run_in(environment, DONE, "set", "from-sheaf", "1")
            self.assertEqual(client.ask("GET", "from-sheaf"), b"$1\r\n1\r\n")
            self.assertEqual(client.ask("SET", "from-sdk", "2"), b"+OK\r\n")
            self.assertEqual(self.run_in(environment, DONE, "get", "from-sdk"), b"2")
            # Locks.
            self.assertEqual(client.ask("SET", "press7", "holder", "NEX", "PX", "600000"),
                             b"+OK\r\n")
            self.run_in(environment, NOT_ACQUIRED, "lock", "press7", "--wait", "0ms", "--", "true")
            self.assertEqual(client.ask("VDEL", "press7", "holder"), b":1\r\n")
            self.run_in(environment, DONE, "lock", "press7", "--", "true")
            # Watches.
            self.assertEqual(client.ask("KEYNOTIFY", "line4"), b"+OK\r\n")
            self.run_in(environment, DONE, "set", "line4", "a")
            self.assertIn(b"$1\r\na\r\n", client.next_notification())
            with Watch(None, "line4", environment=environment) as watch:
                self.assertEqual(watch.next()["value"], "a")
                client.ask("SET", "line4", "b")
                self.assertEqual(watch.next()["value"], "b")

    def test_a_program_of_sheaf_and_one_of_an_sdk_share_keys_locks_and_watches(self):
        dev, environment = self.start("--tls", "--token")
        self.assertTrue(dev.uri.startswith("mqtts://127.0.0.1:"), dev.uri)
        self.assert_shared(environment)
        report = json.loads(self.run_in(environment, DONE, "nodes", "--json"))
        self.assertEqual((report["settings"], report["health"]), ("AIO_BROKER_HOSTNAME", "up"))
        self.assertEqual(sheaf("--servers", dev.uri, "get", "from-sdk").stdout, b"2")
        folder = os.path.dirname(environment["AIO_TLS_CA_FILE"])
        self.run_in({**environment, "AIO_TLS_CA_FILE": folder}, DONE, "get", "from-sdk")

    def test_each_of_tls_and_token_works_alone(self):
        for option, scheme in ("--tls", "mqtts"), ("--token", "mqtt"):
            dev, environment = self.start(option)
            self.assertTrue(dev.uri.startswith(scheme + "://127.0.0.1:"), dev.uri)
            self.assertEqual("AIO_SAT_FILE" in environment, option == "--token")
            self.assertEqual("AIO_TLS_CA_FILE" in environment, option == "--tls")
            self.assert_shared(environment)
            dev.end()

    def test_only_a_token_lets_a_client_in(self):
        _, environment = self.start("--token")
        token = read_file(environment["AIO_SAT_FILE"])
        for wrong in ({"token": token[:-1]}, {"token": token[:-1] + b"?"}, {"token": b"\n"},
                      {"token": None}, {"token": None, "user": b"ann"}, {"user": b"ann"}):
            with self.assertRaises(Refused, msg=wrong) as refusal, PodClient(environment, **wrong):
                pass
            self.assertEqual(refusal.exception.args[0], NOT_AUTHORIZED, wrong)
        with PodClient(environment) as client:
            with self.assertRaises(Refused):
                client.show(b"wrong")

    def test_a_reload_refuses_no_session_whose_client_is_away(self):
        """Mosquitto 2.0 crashes after it has refused one."""
        dev, environment = self.start("--token", "--rotate", "0", "--verbose")
        with PodClient(environment, "away"):
            pass
        dev.wait_for_note(b"Client away closed its connection")
        os.kill(dev.pids[dev.nodes[0]], signal.SIGHUP)
        dev.wait_for_note(b"Reloading config")
        with PodClient(environment, "next"):
            dev.wait_for_note(b" as next ")
        self.assertNotIn(b"Client away disconnected", dev.notes)

    def test_the_token_says_when_it_ends(self):
        for rotate, least, most in ("0", 360 * 86_400, 366 * 86_400), ("300", 600, 660):
            dev, environment = self.start("--token", "--rotate", rotate)
            claims = read_file(environment["AIO_SAT_FILE"]).split(b".")[1]
            claims = json.loads(base64.urlsafe_b64decode(claims + b"=" * (-len(claims) % 4)))
            self.assertEqual(claims["aud"], ["aio-internal"])
            self.assertGreaterEqual(claims["exp"] - claims["iat"], least)
            self.assertLessEqual(claims["exp"] - claims["iat"], most)
            dev.end()

    def test_a_shell_takes_the_environment_from_a_file_and_a_command_has_it(self):
        script = ('unset SHEAF_SERVERS; test -z "$AIO_MQTT_USERNAME" && "$0" set k v >/dev/null &&'
                  '. "$(dirname "$(dirname "$AIO_SAT_FILE")")/env" && "$0" get k && exit 7')
        caller = {**os.environ, "AIO_MQTT_USERNAME": "ann", "AIO_BROKER_HOSTNAME": "nowhere"}
        done = sheaf("dev", "--tls", "--token", "--", "sh", "-c", script, harness.program,
                     env=caller)
        self.assertEqual((done.returncode, done.stdout), (7, b"v"), done.stderr)
        self.assertEqual(self.left_behind(), [])

    def test_what_is_printed_is_the_uri_and_then_the_lines_of_a_shell(self):
        process = subprocess.Popen(program_words("dev", "--tls", "--token", "--rotate", "0"),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        uri = process.stdout.readline()
        self.assertTrue(uri.startswith(b"mqtts://127.0.0.1:"), uri)
        lines = [process.stdout.readline() for _ in range(8)]
        names = [line.split(b"=")[0] for line in lines]
        self.assertEqual(names[0], b"export SHEAF_SERVERS")
        self.assertIn(b"export AIO_TLS_CA_FILE", names)
        self.assertTrue(names[-1].startswith(b"unset AIO_TLS_CERT_FILE "), names)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=harness.LONGEST)
        self.assertEqual((process.returncode, out), (DONE, b""))
        self.assertIn(b"/env` gives a shell the environment.\n", err)
        self.assertEqual(self.left_behind(), [])

    def test_twenty_rotations_under_load_fail_no_call(self):
        _, environment = self.start("--tls", "--token", "--rotate", "1")
        bench = subprocess.Popen(
            program_words("--json", "bench", "--time", "10m", "--rate", "200", "--keys", "50",
                          "--reads", "50"),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
        self.addCleanup(bench.communicate)
        self.addCleanup(bench.kill)
        seen = {"token": [], "bundle": [], "certificate": []}
        calls = 0
        with PodClient(environment, "stays") as stays, \
                Watch(None, "watched", environment=environment) as watch:
            self.assertIsNone(watch.next()["value"])
            wait_until(lambda: min(map(len, seen.values())) > 20 or
                       self.use_all(environment, stays, watch, seen), "twenty rotations", 300)
            calls = len(seen["token"])
        self.assertGreater(calls, 20)
        self.assert_old_ones_are_refused(environment, seen)
        bench.send_signal(signal.SIGINT)
        out, err = bench.communicate(timeout=harness.LONGEST)
        self.assertEqual(bench.returncode, DONE, err)
        reports = [json.loads(line) for line in out.splitlines()]
        operations = {each["operation"]: each for each in reports if "operation" in each}
        for each in operations.values():
            self.assertEqual(each["failures"], {}, (each, err))
        self.assertGreater(sum(each["count"] for each in operations.values()), 500)

    def use_all(self, environment, stays, watch, seen):
        """Old connections and new ones, of sheaf and of an SDK. Notes what is new."""
        token = read_file(environment["AIO_SAT_FILE"])
        bundle = read_file(environment["AIO_TLS_CA_FILE"])
        if token not in seen["token"]:
            stays.show(token)
        value = b"%d" % time.monotonic_ns()
        self.assertEqual(stays.ask("SET", "watched", value), b"+OK\r\n")
        self.assertEqual(watch.next()["value"], value.decode())
        with PodClient(environment, "comes and goes") as client:
            self.assertIn(value, client.ask("GET", "watched"))
            certificate = client.certificate()
        self.assertEqual(self.run_in(environment, DONE, "get", "watched"), value)
        for name, now in ("token", token), ("bundle", bundle), ("certificate", certificate):
            if now not in seen[name]:
                seen[name].append(now)

    def assert_old_ones_are_refused(self, environment, seen):
        with self.assertRaises(Refused) as refusal, \
                PodClient(environment, token=seen["token"][-4]):
            pass
        self.assertEqual(refusal.exception.args[0], NOT_AUTHORIZED)
        with self.assertRaises(ssl.SSLCertVerificationError), \
                PodClient(environment, bundle=seen["bundle"][-5]):
            pass
