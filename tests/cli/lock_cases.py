"""Tests of `sheaf lock` for every kind of endpoint. A test case that mixes them in has `dev` and
`uri`."""

import json
import os
import signal
import subprocess
import sys
import time

from harness import DONE, NEGATIVE, program_words, wait_until

NOT_ACQUIRED, LOST = 75, 76
PYTHON = sys.executable
# Prints that it runs, and ends when its standard input does.
WAITING = [PYTHON, "-c", "import sys; print('runs', flush=True); sys.stdin.read()"]


class LockCases:
    token = rb""  # what the program finds in SHEAF_FENCING_TOKEN

    def lock(self, name, *options, command):
        return self.run_on("lock", name, *options, "--", *command)

    def start(self, name, *options, command=None):
        """Starts a command under a lock. It is held on return, until the standard input is
        closed."""
        process = subprocess.Popen(
            program_words("--servers", self.uri, "lock", name, *options, "--",
                          *(command or WAITING)),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), b"runs\n")
        return process

    def ended(self, process, code):
        if code == LOST:
            process.wait(timeout=60)  # ends before its standard input is closed
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, code, said)
        return said

    def test_the_program_runs_with_the_token_and_its_exit_code_is_passed_on(self):
        for code in (0, 1, 42):
            done = self.lock("codes", command=["sh", "-c", "exit %d" % code])
            self.assertEqual(done.returncode, code, done.stderr)
        done = self.lock("codes", command=["sh", "-c", 'printf %s "$SHEAF_FENCING_TOKEN"'])
        self.assertEqual(done.returncode, DONE)
        self.assertRegex(done.stdout, self.token)
        done = self.lock("codes", command=["sh", "-c", "kill -KILL $$"])
        self.assertEqual(done.returncode, 128 + signal.SIGKILL)

    def test_arguments_and_streams_belong_to_the_program(self):
        done = self.run_on("lock", "args", "--", "sh", "-c", 'cat; printf "%s|" "$@"', "sh",
                           "--json", "", "[a]", "--", stdin=b"in ")
        self.assertEqual(done.stdout, b"in --json||[a]|--|")

    def test_a_program_that_cannot_be_started(self):
        self.assertEqual(self.lock("none", command=["no-such-program-here"]).returncode, 127)
        self.assertEqual(self.lock("none", command=["/"]).returncode, 126)
        self.ends(NEGATIVE, "get", "none")

    def test_a_machine_reads_why_no_program_has_run(self):
        holder = self.start("taken")
        done = self.run_on("--json", "lock", "taken", "--wait", "0ms", "--", "true")
        self.assertEqual(done.returncode, NOT_ACQUIRED, done.stderr)
        self.assertEqual(json.loads(done.stdout), {"key": "taken", "locked": False})
        self.ended(holder, DONE)
        done = self.run_on("--json", "lock", "taken", "--", "no-such-program-here")
        self.assertEqual(done.returncode, 127)
        self.assertIn("no-such-program-here", json.loads(done.stdout)["error"]["text"])

    def test_the_lock_is_free_afterwards(self):
        self.lock("free", command=["true"])
        self.ends(NEGATIVE, "get", "free")

    def test_one_that_is_held_is_waited_for_and_no_longer(self):
        holder = self.start("busy")
        for wait in ("0ms", "700ms"):
            begin = time.monotonic()
            done = self.lock("busy", "--wait", wait, "--timeout", "30s", command=["true"])
            self.assertEqual(done.returncode, NOT_ACQUIRED, done.stderr)
            self.assertLess(time.monotonic() - begin, 10)
            self.assertIn(b"busy", done.stderr)
        waiter = subprocess.Popen(
            program_words("--servers", self.uri, "--timeout", "500ms", "lock", "busy", "--wait",
                          "60s", "--", "true"), stderr=subprocess.PIPE)
        wait_until(lambda: waiter.poll() is None, "the waiter runs")
        holder.stdin.close()
        holder.stdin = None
        self.ended(holder, DONE)
        self.ended(waiter, DONE)

    def test_signals_are_passed_on(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
            script = ("import signal, sys\n"
                      "signal.signal(%d, lambda *_: sys.exit(7))\n"
                      "print('runs', flush=True)\n"
                      "while True: signal.pause()" % number)
            process = self.start("signals", command=[PYTHON, "-c", script])
            process.send_signal(number)
            self.ended(process, 7)

    def test_a_signal_ends_the_waiting(self):
        self.start("long")
        waiter = subprocess.Popen(
            program_words("--servers", self.uri, "lock", "long", "--wait", "10m", "--", "true"),
            stderr=subprocess.PIPE)
        wait_until(lambda: b"SigBlk:\t0000000000000000" not in
                   open("/proc/%d/status" % waiter.pid, "rb").read(), "its signals are taken")
        waiter.send_signal(signal.SIGTERM)
        self.ended(waiter, 128 + signal.SIGTERM)

    def test_a_lost_lock_ends_the_program(self):
        process = self.start("lost", "--lease", "1s")
        self.ends(DONE, "set", "lost", "thief")
        self.assertIn(b"lost", self.ended(process, LOST))
        self.assertEqual(self.ends(DONE, "get", "lost"), b"thief")

    def test_a_stopped_holder_loses_the_lock(self):
        process = self.start("stopped", "--lease", "1s")
        os.kill(process.pid, signal.SIGSTOP)
        done = self.lock("stopped", "--wait", "30s", command=["true"])
        self.assertEqual(done.returncode, DONE, done.stderr)
        os.kill(process.pid, signal.SIGCONT)
        self.ended(process, LOST)
