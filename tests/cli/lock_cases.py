"""Tests of `sheaf lock` for every kind of endpoint, for a test case on servers to mix in."""

import contextlib
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


def end_group(process):
    """Ends the process and the program that it has started, which has the same streams."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


class LockCases:
    token = rb""  # what the program finds in SHEAF_FENCING_TOKEN
    # Counts in the key $2.
    counting = ('n=$("$0" --servers "$1" get "$2");'
                'case $? in'
                ' 0) "$0" --servers "$1" set "$2" $((n + 1));;'
                ' 1) "$0" --servers "$1" set "$2" 1 --if-absent;;'
                ' *) exit 9;; esac')

    def setUp(self):
        super().setUp()
        self.name = self.key("{l}lock")

    def lock(self, *options, command):
        return self.run_on("lock", self.name, *options, "--", *command)

    def start(self, *options, command=None):
        """Starts a command under the lock. It is held on return, until the standard input is
        closed."""
        process = subprocess.Popen(
            program_words("--servers", self.uri, "lock", self.name, *options, "--",
                          *(command or WAITING)),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True)
        self.addCleanup(process.communicate)
        self.addCleanup(end_group, process)
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
            done = self.lock(command=["sh", "-c", "exit %d" % code])
            self.assertEqual(done.returncode, code, done.stderr)
        done = self.lock(command=["sh", "-c", 'printf %s "$SHEAF_FENCING_TOKEN"'])
        self.assertEqual(done.returncode, DONE)
        self.assertRegex(done.stdout, self.token)
        done = self.lock(command=["sh", "-c", "kill -KILL $$"])
        self.assertEqual(done.returncode, 128 + signal.SIGKILL)

    def test_arguments_and_streams_belong_to_the_program(self):
        done = self.run_on("lock", self.name, "--", "sh", "-c", 'cat; printf "%s|" "$@"', "sh",
                           "--json", "", "[a]", "--", stdin=b"in ")
        self.assertEqual(done.stdout, b"in --json||[a]|--|")

    def test_a_program_that_cannot_be_started(self):
        self.assertEqual(self.lock(command=["no-such-program-here"]).returncode, 127)
        self.assertEqual(self.lock(command=["/"]).returncode, 126)
        self.ends(NEGATIVE, "get", self.name)

    def test_a_machine_reads_why_no_program_has_run(self):
        holder = self.start()
        done = self.run_on("--json", "lock", self.name, "--wait", "0ms", "--", "true")
        self.assertEqual(done.returncode, NOT_ACQUIRED, done.stderr)
        self.assertEqual(json.loads(done.stdout), {"key": self.name, "locked": False})
        self.ended(holder, DONE)
        done = self.run_on("--json", "lock", self.name, "--", "no-such-program-here")
        self.assertEqual(done.returncode, 127)
        self.assertIn("no-such-program-here", json.loads(done.stdout)["error"]["text"])

    def test_the_lock_is_free_afterwards(self):
        self.lock(command=["true"])
        self.ends(NEGATIVE, "get", self.name)

    def test_one_that_is_held_is_waited_for_and_no_longer(self):
        holder = self.start()
        for wait in ("0ms", "700ms"):
            begin = time.monotonic()
            done = self.lock("--wait", wait, "--timeout", "30s", command=["true"])
            self.assertEqual(done.returncode, NOT_ACQUIRED, done.stderr)
            self.assertLess(time.monotonic() - begin, 10)
            self.assertIn(self.name.encode(), done.stderr)
        waiter = subprocess.Popen(
            program_words("--servers", self.uri, "--timeout", "500ms", "lock", self.name,
                          "--wait", "60s", "--", "true"), stderr=subprocess.PIPE)
        wait_until(lambda: waiter.poll() is None, "the waiter runs")
        holder.stdin.close()
        holder.stdin = None
        self.ended(holder, DONE)
        self.ended(waiter, DONE)

    def test_signals_are_passed_on(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
            # A handler could run right before pause(), which then waits forever.
            script = ("import signal, sys\n"
                      "signal.pthread_sigmask(signal.SIG_BLOCK, [%d])\n"
                      "print('runs', flush=True)\n"
                      "signal.sigwait([%d])\n"
                      "sys.exit(7)" % (number, number))
            process = self.start(command=[PYTHON, "-c", script])
            process.send_signal(number)
            self.ended(process, 7)

    def test_a_signal_ends_the_waiting(self):
        self.start()
        waiter = subprocess.Popen(
            program_words("--servers", self.uri, "lock", self.name, "--wait", "10m", "--", "true"),
            stderr=subprocess.PIPE)
        wait_until(lambda: b"SigBlk:\t0000000000000000" not in
                   open("/proc/%d/status" % waiter.pid, "rb").read(), "its signals are taken")
        waiter.send_signal(signal.SIGTERM)
        self.ended(waiter, 128 + signal.SIGTERM)

    def test_a_lost_lock_ends_the_program(self):
        process = self.start("--lease", "5s")
        self.ends(DONE, "set", self.name, "thief")
        self.assertIn(b"the lock %s is lost" % self.name.encode(), self.ended(process, LOST))
        self.assertEqual(self.ends(DONE, "get", self.name), b"thief")

    def test_a_stopped_holder_loses_the_lock(self):
        process = self.start("--lease", "5s")
        os.kill(process.pid, signal.SIGSTOP)
        done = self.lock("--wait", "30s", command=["true"])
        self.assertEqual(done.returncode, DONE, done.stderr)
        os.kill(process.pid, signal.SIGCONT)
        self.ended(process, LOST)

    def test_programs_count_under_the_lock(self):
        key = self.key("{l}n")
        words = ["sh", "-c", self.counting, program_words()[0], self.uri, key]
        running = [subprocess.Popen(
            program_words("--servers", self.uri, "lock", self.name, "--wait", "60s", "--", *words),
            stdout=subprocess.DEVNULL) for _ in range(8)]
        self.assertEqual([process.wait(timeout=120) for process in running], [DONE] * 8)
        self.assertEqual(self.ends(DONE, "get", key), b"8")
