"""Mistakes that people make at the command line, from mistakes.txt: a sentence says at once what is
wrong, where, and what to do."""

import os
import shlex
import socket
import tempfile
import threading
import time
import unittest

import harness
from harness import DONE, installed, sheaf
from test_terminal import on_terminal

MISTAKES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mistakes.txt")
FILES = {"empty": "", "password": "secret\n",
         "cut.json": '{"clusters":\n {"a": {"servers": "embedded://1"},\n }}\n',
         "typo.json": '{"clusters": {"a": {"servers": "embedded://1", "timout": "3s"}}}',
         "two.json": '{"clusters": {"a": {"servers": "embedded://1"},'
                     ' "b": {"servers": "embedded://2"}}}'}

# On an idle machine each sentence comes within a second, which a busy one may make longer. The
# time-out of a command is longer still, so a sentence that waits for it is found.
AT_ONCE = 20
TIMEOUT = "60s"


class Answering:
    """A server that gives the same answer to the first bytes of each connection, and closes it."""

    def __init__(self, answer):
        self.answer = answer
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.node = "127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with client:
                try:
                    if client.recv(4096):
                        client.sendall(self.answer)
                except OSError:
                    pass

    def end(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def mistakes():
    """(number of the line, exit code, words, parts) of each."""
    with open(MISTAKES, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip() and not line.startswith("#"):
                words, parts = line.split(" => ")
                code, words = words.split(" ", 1)
                yield number, int(code), words, parts.strip().split("; ")


class Mistakes(harness.OnServers):
    kind = "redis"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        for name, text in FILES.items():
            with open(os.path.join(folder.name, name), "w", encoding="utf-8") as file:
                file.write(text)
        cls.folder = folder.name
        unused = harness.reserved_port()
        cls.addClassCleanup(unused.close)
        cls.places = {"redis": cls.dev.primaries[0],
                      "unused": "127.0.0.1:%d" % unused.getsockname()[1]}
        for name, answer in (("http", b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"),
                             ("tls", b"\x15\x03\x01\x00\x02\x02\x46")):  # alert: protocol_version
            cls.begin(name, Answering(answer))
        if installed("mosquitto") and installed("mosquitto_passwd"):
            cls.begin("broker", harness.locked_broker(folder.name, "ann", "right"))
        if installed("memcached"):
            # As root it needs the name of a user.
            words = (installed("memcached"), "-l", "127.0.0.1", "-u", "root", "-vv", "-p")
            cls.begin("memcached", harness.Server(lambda port: (*words, port), b"server listening"))

    @classmethod
    def begin(cls, name, server):
        cls.places[name] = server.node
        cls.addClassCleanup(server.end)

    def test_each_gets_a_sentence_that_helps_at_once(self):
        self.ends(DONE, "exec", "--all-nodes", "ACL", "SETUSER", "ann", "on", ">right", "+@all")
        self.addCleanup(self.ends, DONE, "exec", "--all-nodes", "ACL", "DELUSER", "ann")
        environment = {"SHEAF_SERVERS": "embedded://1", "HOME": self.folder,
                       "TERM": "dumb", "PATH": os.environ["PATH"]}
        done, left_out = 0, set()
        for number, code, words, parts in mistakes():
            if words.startswith("migrate") and not self.migrates():
                continue  # the program was built without SHEAF_MIGRATION
            try:
                words = [word.format(**self.places) for word in shlex.split(words)]
                parts = [part.format(**self.places) for part in parts]
            except KeyError as missing:
                left_out.add(missing.args[0])
                continue
            with self.subTest(line=number, words=words):
                self.check(words, code, parts, environment)
            done += 1
        self.assertGreaterEqual(done, 60)
        if left_out:
            raise unittest.SkipTest("without %s the rest cannot be tried" % " and ".join(left_out))

    @staticmethod
    def migrates():
        return sheaf("help", "migrate").returncode == DONE

    def check(self, words, code, parts, environment):
        if "--timeout" not in words and words[:1] != ["dev"]:  # which refuses it
            words = ["--timeout", TIMEOUT, *words]
        began = time.monotonic()
        shown, ended = on_terminal(*words, env=environment, cwd=self.folder)
        took = time.monotonic() - began
        text = " ".join(shown.decode().split())
        if "needs TLS, and this sheaf was built without it" in text:
            return
        self.assertTrue(text.startswith("sheaf: "), text)
        for part in parts:
            self.assertIn(part, text)
        self.assertEqual(ended, code, text)
        self.assertLess(took, AT_ONCE, text)
