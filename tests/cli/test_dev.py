"""`sheaf dev`: what it starts, prints and leaves."""

import json
import os
import re
import signal
import socket
import subprocess

import harness
from harness import DONE, FAILED, Dev, is_alive, raw, sheaf, wait_until

NODE = r"127\.0\.0\.1:\d+"


class Development(harness.OnServers, harness.CaseWithFolder):
    def assert_silent(self, nodes):
        for node in nodes:
            done = sheaf("--servers", "mqtt://" + node, "get", "k", "--timeout", "300ms")
            self.assertEqual(done.returncode, FAILED)

    def assert_gone(self, dev):
        wait_until(lambda: not any(is_alive(pid) for pid in dev.pids.values()), "brokers end")
        self.assert_silent(dev.nodes)

    def test_the_uri_stands_alone_on_one_line_and_each_signal_ends_it_with_its_brokers(self):
        for number, count in (signal.SIGTERM, 2), (signal.SIGINT, 1), (signal.SIGHUP, 1):
            line = self.run_dev_until(number, brokers=count)
            self.assertRegex(line, r"\Amqtt://" + ",".join([NODE] * count) + r"\n\Z")
            self.assert_silent(line.strip()[len("mqtt://"):].split(","))

    def test_the_process_of_every_broker_is_printed_before_the_uri(self):
        """samples/quickstart.sh reads these lines."""
        self.dev.wait_for_note(b"Ctrl-C")
        printed = re.findall(rb"broker (\S+) runs as process (\d+)\.\n", self.dev.notes)
        self.assertEqual({node.decode(): int(pid) for node, pid in printed}, self.dev.pids)

    def test_a_stopped_broker_ends_too(self):
        dev = Dev(brokers=1)
        dev.stop(dev.nodes[0])
        self.assertEqual(dev.end()[0], DONE)
        self.assert_gone(dev)
        self.assertEqual(self.left_behind(), [])

    def test_brokers_do_not_outlive_a_dev_that_is_killed(self):
        dev = Dev(brokers=1)
        dev.end(signal.SIGKILL)
        self.assert_gone(dev)

    def test_it_ends_when_no_broker_is_left(self):
        dev = Dev(brokers=1)
        dev.kill(dev.nodes[0])
        dev.process.wait(timeout=harness.LONGEST)
        code, _ = dev.end()
        self.assertEqual(code, FAILED)
        self.assert_sentences(dev.notes)
        self.assertEqual(self.left_behind(), [])

    def test_an_output_that_nobody_reads_ends_it(self):
        process = subprocess.Popen(raw(harness.program, "dev", "--brokers", "1"),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.close()
        process.stdout = None
        _, err = process.communicate(timeout=harness.LONGEST)
        self.assertEqual(process.returncode, 128 + signal.SIGPIPE, err)
        self.assertEqual(self.left_behind(), [])

    def test_a_program_has_brokers_that_no_other_dev_has_and_its_exit_code_is_that_of_dev(self):
        key = self.key("k")
        self.ends(DONE, "set", key, "of the others")
        script = ('echo "$SHEAF_SERVERS"; "$0" get "$1" 2>/dev/null; echo $?;'
                  '"$0" set "$1" v >/dev/null && "$0" get "$1"; exit 7')
        done = sheaf("dev", "--brokers", 1, "--", "sh", "-c", script, harness.program, key)
        uri, absent, value = done.stdout.decode().splitlines()
        self.assertRegex(uri, r"\Amqtt://" + NODE + r"\Z")
        self.assertNotIn(uri[len("mqtt://"):], self.dev.nodes)
        self.assertEqual((absent, value, done.returncode, done.stderr), ("1", "v", 7, b""))
        self.assertEqual(self.ends(DONE, "get", key), b"of the others")
        self.assertEqual(self.left_behind(), [])

    def test_a_program_that_is_not_there_ends_it(self):
        done = sheaf("--json", "dev", "--brokers", 1, "--", "no-such-program")
        self.assertEqual(done.returncode, 127)
        self.assertIn(b"no-such-program could not be started", done.stderr)
        self.assertIn("no-such-program", json.loads(done.stdout)["error"]["text"])
        self.assertEqual(self.left_behind(), [])

    def test_a_port_that_is_given_is_taken_or_refused(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            done = sheaf("dev", "--brokers", 1, "--port", port)
            self.assertEqual(done.returncode, FAILED)
            self.assertIn(b"%d" % port, done.stderr)
        done = sheaf("dev", "--brokers", 1, "--port", port, "--", "sh", "-c", "echo $SHEAF_SERVERS")
        self.assertEqual(done.stdout.decode(), "mqtt://127.0.0.1:%d\n" % port, done.stderr)

    def test_verbose_shows_the_brokers_log(self):
        with Dev("--verbose", brokers=1) as dev:
            dev.wait_for_note(b"mosquitto version")

    def test_what_is_missing_is_named_in_one_sentence(self):
        nowhere = os.path.join(self.folder.name, "nowhere")
        for option in ("--mosquitto", "--plugin"):
            done = sheaf("dev", option, nowhere)
            self.assertEqual((done.returncode, done.stdout), (FAILED, b""))
            self.assertEqual(len(done.stderr.splitlines()), 1)
            self.assert_sentences(done.stderr)
            self.assertIn(nowhere.encode(), done.stderr)

    def test_a_plugin_that_mosquitto_cannot_load_is_reported_with_its_own_words(self):
        wrong = os.path.join(self.folder.name, "wrong.so")
        with open(wrong, "wb") as out:
            out.write(b"not a library")
        done = sheaf("dev", "--brokers", "1", "--plugin", wrong)
        self.assertEqual((done.returncode, done.stdout), (FAILED, b""))
        self.assert_sentences(done.stderr)
        self.assertEqual(self.left_behind(), [wrong])
