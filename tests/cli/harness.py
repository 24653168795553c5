"""Runs the built program as a user would: arguments, standard input, output, exit code, signals."""

import glob
import itertools
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
from unittest import mock

DONE, NEGATIVE, USAGE, FAILED = 0, 1, 2, 3
LONGEST = 120  # seconds; a hanging program fails its test instead of stopping the suite
CLUSTERS = ("redis", "valkey", "garnet")  # kinds of servers that form one
PROGRAMS = {"brokers": "mosquitto", "memcached": "memcached", "redis": "redis-server",
            "valkey": "valkey-server", "garnet": "garnet-server"}

# How many servers the tests of a process share; a cluster has as many replicas.
SHARED = {"brokers": 3, "memcached": 5, "redis": 3, "valkey": 3, "garnet": 2}

program = None  # path of the built program, set by main()
running = {}    # what shared() has started, by kind


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
    """Calls `true()` until it holds. Each call starts a process or asks a server, which is pause
    enough."""
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


def record_starts(name, count):
    """tests/run.sh counts the lines of the file."""
    if "SHEAF_TEST_STARTS" in os.environ:
        with open(os.environ["SHEAF_TEST_STARTS"], "a", encoding="utf-8") as file:
            file.write((name + "\n") * count)


def ask_redis(node, *words):
    """Sends one command to a server; returns its reply, without the first character, as text."""
    with connect(node) as server:
        server.sendall(b"*%d\r\n" % len(words))
        for word in raw(*words):
            server.sendall(b"$%d\r\n%s\r\n" % (len(word), word))
        with server.makefile("rb") as replies:
            first = replies.readline()
            if not first.startswith(b"$") or first == b"$-1\r\n":
                return first[1:-2].decode()
            return replies.read(int(first[1:])).decode()


def ask_memcached(node, command):
    """Sends one command to a server; returns the lines of its reply. Only keys and statistics are
    followed by more."""
    with connect(node) as server, server.makefile("rb") as replies:
        server.sendall(command + b"\r\n")
        lines = [replies.readline()]
        while lines[-1].startswith((b"key=", b"STAT ")):
            lines.append(replies.readline())
        return lines


def connect(node):
    host, port = node.split(":")
    return socket.create_connection((host, int(port)), timeout=LONGEST)


class Dev:
    """`sheaf dev` as a context; `--json` prints the processes of its servers. `servers` is one of
    brokers, memcached, redis, valkey and garnet, with how many."""

    def __init__(self, *words, **servers):
        (self.kind, count), = servers.items()
        self.process = subprocess.Popen(
            raw(program, "dev", "--json", "--" + self.kind, count, *words),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.notes = b""
        line = self.process.stdout.readline()
        report = json.loads(line or b"{}")
        if "uri" not in report:
            raise AssertionError("dev did not start: %r" % self.process.communicate()[1])
        self.uri = report["uri"]
        self.environment = report.get("environment", {})
        processes = report["brokers" if self.kind == "brokers" else "servers"]
        self.pids = {each["node"]: each["pid"] for each in processes}
        record_starts(PROGRAMS[self.kind], len(self.pids))
        self.nodes = list(self.pids)
        self.primaries = self.nodes[:count]
        # What each server of a cluster says about it when the URI has been printed.
        self.first_words = {node: (ask_redis(node, "CLUSTER", "INFO"),
                                   ask_redis(node, "INFO", "replication"))
                            for node in self.nodes if self.kind in CLUSTERS}

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

    def empty(self):
        """Removes all values, except from brokers, whose store has no command for that."""
        for node in self.primaries:
            if self.kind in CLUSTERS:
                ask_redis(node, "FLUSHALL")
            elif self.kind == "memcached":
                wait_until(lambda: flushed(node), "%s is empty" % node)


def flushed(node):
    """Removes what a memcached has. The items of this second that were copied with their version
    may stay. It counts the others until its crawler has been there."""
    ask_memcached(node, b"flush_all")
    ask_memcached(node, b"lru_crawler crawl all")
    return b"STAT curr_items 0\r\n" in ask_memcached(node, b"stats")


def shared(kind):
    """The servers that all tests of this process share. The first that needs them starts them."""
    if kind not in running:
        replicas = ("--replicas", 1) if kind in CLUSTERS else ()
        running[kind] = Dev(*replicas, **{kind: SHARED[kind]})
    return running[kind]


def end_shared():
    while running:
        running.popitem()[1].end()


def reserved_port():
    """A socket whose port no other process gets, because it is bound, as `sheaf dev` does it. It
    does not listen: a connection is refused until a server listens on this port."""
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(("127.0.0.1", 0))
    return reserved


class Server:
    """A server of a test's own, as a context, on a free port. `words` makes its command line for
    this port. It is ready when it prints `ready`; without, at once."""

    def __init__(self, words, ready=b"", **environment):
        self.reserved = reserved_port()
        port = self.reserved.getsockname()[1]
        self.node = "127.0.0.1:%d" % port
        self.process = subprocess.Popen(
            raw(*words(port)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env={**os.environ, **environment})
        record_starts(os.path.basename(self.process.args[0].decode()), 1)
        if ready and not any(ready in line for line in self.process.stdout):
            raise AssertionError("it did not start: %r" % self.process.args)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        self.process.kill()
        self.process.communicate(timeout=LONGEST)
        self.reserved.close()


def installed(name):
    """The path of a server program; None if there is none."""
    path = os.environ["PATH"] + ":/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin"
    return shutil.which(name, path=path)


def locked_broker(folder, user, password, listener=""):
    """A mosquitto that requires the password of `user`. `listener` has lines for its listener."""
    passwords, configuration = (os.path.join(folder, name) for name in ("passwords", "conf"))

    def words(port):
        subprocess.run(["mosquitto_passwd", "-c", "-b", passwords, user, password], check=True,
                       stderr=subprocess.DEVNULL)
        with open(configuration, "w", encoding="utf-8") as out:
            out.write("user root\n" if os.geteuid() == 0 else "")
            out.write("listener %d 127.0.0.1\nallow_anonymous false\nlog_dest stderr\n"
                      "password_file %s\n%s" % (port, passwords, listener))
        return [installed("mosquitto"), "-c", configuration]

    # A plugin built with a sanitizer needs its runtime to be loaded first.
    preload = os.environ.get("SHEAF_BROKER_PRELOAD")
    more = {"LD_PRELOAD": preload, "ASAN_OPTIONS": "detect_leaks=0"} if preload else {}
    return Server(words, b" running\n", **more)


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


class OnServers(Case):
    """Tests on servers that all tests of this process share. Each test begins with empty servers,
    except with brokers, where it uses keys that key() makes. A test may stop a server if it resumes
    it."""

    kind = "brokers"
    patience = "30s"  # the machine may be busy
    numbers = itertools.count(1)

    @classmethod
    def setUpClass(cls):
        cls.dev = shared(cls.kind)
        cls.uri = cls.dev.uri

    def setUp(self):
        super().setUp()
        self.empty()
        self.prefix = "t%d/" % next(self.numbers)

    def empty(self):
        self.dev.empty()

    def run_on(self, *words, **more):
        if "--timeout" not in words:
            words = ("--timeout", self.patience, *words)
        return super().run_on(*words, **more)

    def key(self, name):
        """A key that no other test uses."""
        return self.prefix.encode() + name if isinstance(name, bytes) else self.prefix + name


class OnOwnServers(OnServers):
    """Tests that end or configure servers, or let them count: the class has `count` of its own,
    with `words` for dev."""

    count = 1
    words = ()
    patience = "3s"

    @classmethod
    def setUpClass(cls):
        cls.dev = Dev(*cls.words, **{cls.kind: cls.count})
        cls.addClassCleanup(cls.dev.end)
        cls.uri = cls.dev.uri

    def empty(self):
        """Not these: one may be gone."""


class CaseWithFolder(Case):
    """Temporary files are put in a folder of the test's own, which is removed with the test."""

    def setUp(self):
        super().setUp()
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        environment = mock.patch.dict(os.environ, TMPDIR=self.folder.name)
        environment.start()
        self.addCleanup(environment.stop)

    def left_behind(self):
        return glob.glob(os.path.join(self.folder.name, "*"))

    def run_dev_until(self, number, **servers):
        """Runs dev as a person does until the signal; returns its first line. Its servers answer,
        and nothing is left of them."""
        (kind, count), = servers.items()
        process = subprocess.Popen(raw(program, "dev", "--" + kind, count),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = process.stdout.readline().decode()
        self.assertEqual(sheaf("--servers", line.strip(), "nodes").returncode, DONE)
        self.assertEqual(len(self.left_behind()), 1)
        process.send_signal(number)
        out, err = process.communicate(timeout=LONGEST)
        self.assertEqual((process.returncode, out), (DONE, b""))
        printed = re.findall(rb"(?:broker|server) \S+ runs as process (\d+)\.\n", err)
        self.assertEqual(len(printed), count)
        record_starts(PROGRAMS[kind], count)
        self.assertFalse(any(is_alive(int(pid)) for pid in printed))
        self.assertEqual(self.left_behind(), [])
        return line
