"""Runs the built program as a user would: arguments, standard input, output, exit code, signals."""

import glob
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

DONE, NEGATIVE, USAGE, FAILED = 0, 1, 2, 3
LONGEST = 120  # seconds; a hanging program fails its test instead of stopping the suite

program = None  # path of the built program, set by main()


def raw(*words):
    return [word if isinstance(word, bytes) else os.fsencode(str(word)) for word in words]


def sheaf(*words, stdin=b"", **more):
    """Runs the program to its end; `out` and `err` are bytes."""
    return subprocess.run(raw(program, *words), input=stdin, capture_output=True, timeout=LONGEST,
                          check=False, **more)


def program_words(*words):
    """For subprocess.Popen."""
    return raw(program, *words)


def wait_until(true, what, seconds=60):
    """Calls `true()` until it holds. Each call starts a process, which is pause enough."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise AssertionError("not within %d s: %s" % (seconds, what))


def is_alive(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


class Dev:
    """`sheaf dev` as a context; `--json` prints the processes of its servers. `others` is one of
    memcached, redis, valkey and garnet, with how many."""

    def __init__(self, *words, brokers=3, **others):
        (kind, count), = others.items() or [("brokers", brokers)]
        self.process = subprocess.Popen(
            raw(program, "dev", "--json", "--" + kind, count, *words),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.notes = b""
        line = self.process.stdout.readline()
        report = json.loads(line or b"{}")
        if "uri" not in report:
            raise AssertionError("dev did not start: %r" % self.process.communicate()[1])
        self.uri = report["uri"]
        processes = report["servers" if others else "brokers"]
        self.pids = {each["node"]: each["pid"] for each in processes}
        self.nodes = list(self.pids)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def wait_for_note(self, text):
        """Reads standard error until it has `text`."""
        end = time.monotonic() + LONGEST
        while text not in self.notes:
            readable, _, _ = select.select([self.process.stderr], [], [], end - time.monotonic())
            chunk = os.read(self.process.stderr.fileno(), 65536) if readable else b""
            if not chunk:
                raise AssertionError("no %r in %r" % (text, self.notes))
            self.notes += chunk

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        out, notes = self.process.communicate(timeout=LONGEST)
        self.notes += notes
        return self.process.returncode, out

    def stop(self, node):
        os.kill(self.pids[node], signal.SIGSTOP)

    def resume(self, node):
        os.kill(self.pids[node], signal.SIGCONT)

    def kill(self, node):
        os.kill(self.pids[node], signal.SIGKILL)


class LockedBroker:
    """A mosquitto, as a context, that requires the password of `user`. `listener` has lines for its
    listener."""

    def __init__(self, folder, user, password, listener=""):
        passwords = os.path.join(folder, "passwords")
        subprocess.run(["mosquitto_passwd", "-c", "-b", passwords, user, password], check=True,
                       stderr=subprocess.DEVNULL)
        # Reserved as `sheaf dev` does it: bound but not listening.
        self.reserved = socket.socket()
        self.reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.reserved.bind(("127.0.0.1", 0))
        self.node = "127.0.0.1:%d" % self.reserved.getsockname()[1]
        configuration = os.path.join(folder, "mosquitto.conf")
        with open(configuration, "w", encoding="utf-8") as out:
            out.write("user root\n" if os.geteuid() == 0 else "")
            out.write("listener %s 127.0.0.1\nallow_anonymous false\nlog_dest stderr\n"
                      "password_file %s\n%s" % (self.node.rsplit(":", 1)[1], passwords, listener))
        path = os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin"
        # A plugin built with a sanitizer needs its runtime to be loaded first.
        preload = os.environ.get("SHEAF_BROKER_PRELOAD")
        more = {"LD_PRELOAD": preload, "ASAN_OPTIONS": "detect_leaks=0"} if preload else {}
        self.process = subprocess.Popen([shutil.which("mosquitto", path=path), "-c", configuration],
                                        stderr=subprocess.PIPE, env={**os.environ, **more})

    def __enter__(self):
        for line in self.process.stderr:
            if line.endswith(b" running\n"):
                return self
        raise AssertionError("mosquitto did not start")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate(timeout=LONGEST)
        self.reserved.close()


class Case(unittest.TestCase):
    """A test against `uri`."""

    uri = "embedded://3"

    def run_on(self, *words, stdin=b"", **more):
        return sheaf("--servers", self.uri, *words, stdin=stdin, **more)

    def ends(self, code, *words, stdin=b"", **more):
        """Runs on `uri`, expects the exit code `code`, and returns standard output."""
        done = self.run_on(*words, stdin=stdin, **more)
        self.assertEqual(done.returncode, code, (words[:2], done.stdout[:500], done.stderr[:500]))
        if code in (USAGE, FAILED):
            self.assert_sentences(done.stderr)
        return done.stdout

    def assert_sentences(self, err):
        """Expects lines for people, each a printable sentence after the program's name."""
        self.assertTrue(err.endswith(b".\n"), err)
        for line in err.splitlines():
            self.assertTrue(line.startswith(b"sheaf: "), err)
            self.assertTrue(line.decode("ascii").isprintable(), err)

    def refused(self, *words, says, stdin=b""):
        """Expects exit code 2, one sentence, and nothing on standard output."""
        done = sheaf(*words, stdin=stdin)
        self.assertEqual(done.returncode, USAGE, (words, done.stderr))
        self.assertEqual(done.stdout, b"")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assert_sentences(done.stderr)
        self.assertIn(says, done.stderr.decode())


class OnDev(Case):
    """Tests on servers that `sheaf dev` runs for all of them."""

    dev_words = ()
    dev_servers = {}  # as Dev takes them

    @classmethod
    def setUpClass(cls):
        cls.dev = Dev(*cls.dev_words, **cls.dev_servers)
        cls.uri = cls.dev.uri

    @classmethod
    def tearDownClass(cls):
        cls.dev.end()


class CaseWithFolder(Case):
    """Temporary files are put in a folder of the test's own, which is removed with the test."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.before = os.environ.get("TMPDIR")
        os.environ["TMPDIR"] = self.folder.name
        self.addCleanup(self.restore)

    def restore(self):
        if self.before is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = self.before

    def left_behind(self):
        return glob.glob(os.path.join(self.folder.name, "*"))
