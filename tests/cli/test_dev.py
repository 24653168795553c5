"""`sheaf dev`: what it starts, prints and leaves."""

import json
import os
import re
import signal
import socket
import subprocess

import harness
from harness import DONE, FAILED, Dev, is_alive, raw, sheaf, wait_until


class Development(harness.CaseWithFolder):
    def assert_gone(self, dev):
        wait_until(lambda: not any(is_alive(pid) for pid in dev.pids.values()), "brokers end")
        for node in dev.nodes:
            done = sheaf("--servers", "mqtt://" + node, "get", "k", "--timeout", "300ms")
            self.assertEqual(done.returncode, FAILED)

    def test_the_uri_stands_alone_on_one_line_when_the_brokers_answer(self):
        process = subprocess.Popen(raw(harness.program, "dev", "--brokers", "2"),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        uri = process.stdout.readline().decode()
        self.assertRegex(uri, r"\Amqtt://127\.0\.0\.1:\d+,127\.0\.0\.1:\d+\n\Z")
        self.assertEqual(sheaf("--servers", uri.strip(), "nodes").returncode, DONE)
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=harness.LONGEST)
        self.assertEqual((process.returncode, out), (DONE, b""))

    def test_the_process_of_every_broker_is_printed_before_the_uri(self):
        """samples/quickstart.sh reads these lines."""
        with Dev(brokers=2) as dev:
            dev.wait_for_note(b"Ctrl-C")
            printed = re.findall(rb"broker (\S+) runs as process (\d+)\.\n", dev.notes)
            self.assertEqual({node.decode(): int(pid) for node, pid in printed}, dev.pids)

    def test_each_signal_that_ends_it_ends_its_brokers_and_removes_its_folder(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            dev = Dev(brokers=2)
            self.assertEqual(len(self.left_behind()), 1)
            self.assertEqual(dev.end(number), (DONE, b""))
            self.assertFalse(any(is_alive(pid) for pid in dev.pids.values()))
            self.assertEqual(self.left_behind(), [])
            self.assert_gone(dev)

    def test_a_stopped_broker_ends_too(self):
        dev = Dev(brokers=2)
        dev.stop(dev.nodes[0])
        self.assertEqual(dev.end()[0], DONE)
        self.assert_gone(dev)
        self.assertEqual(self.left_behind(), [])

    def test_brokers_do_not_outlive_a_dev_that_is_killed(self):
        dev = Dev(brokers=2)
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

    def test_a_program_has_their_uri_and_its_exit_code_is_that_of_dev(self):
        script = 'echo "$SHEAF_SERVERS"; "$0" set k v >/dev/null && "$0" get k; exit 7'
        done = sheaf("dev", "--brokers", 2, "--", "sh", "-c", script, harness.program)
        uri, value = done.stdout.decode().splitlines()
        self.assertRegex(uri, r"^mqtt://127.0.0.1:\d+,127.0.0.1:\d+$")
        self.assertEqual((value, done.returncode, done.stderr), ("v", 7, b""))
        self.assertEqual(self.left_behind(), [])

    def test_a_program_that_is_not_there_ends_it(self):
        done = sheaf("dev", "--brokers", 1, "--", "no-such-program")
        self.assertEqual(done.returncode, 127)
        self.assertIn(b"no-such-program could not be started", done.stderr)
        done = sheaf("--json", "dev", "--brokers", 1, "--", "no-such-program")
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

    def test_several_at_once_do_not_meet(self):
        with Dev(brokers=3) as one, Dev(brokers=3) as two:
            self.assertFalse(set(one.nodes) & set(two.nodes))
            self.assertEqual(sheaf("--servers", one.uri, "set", "k", "one").returncode, DONE)
            self.assertEqual(sheaf("--servers", two.uri, "get", "k").returncode, harness.NEGATIVE)

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
