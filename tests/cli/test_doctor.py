"""`sheaf doctor`: what is right is said step by step, and what is wrong at the step where it is."""

import json
import os
import re
import socket
import tempfile
import threading

from harness import DONE, FAILED, Case, sheaf

ORDER = ["name", "addresses", "port", "TLS", "login", "protocol", "role", "store", "clock",
         "rights", "latency"]


class Talker:
    """A server whose answers are a function of what it has received in one piece. It closes a
    connection after an answer of no bytes."""

    def __init__(self, answer):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.node = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.answer = answer
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.talk, args=(peer,), daemon=True).start()

    def talk(self, peer):
        with peer:
            try:
                while True:
                    said = peer.recv(65536)
                    answer = self.answer(said) if said else b""
                    if not answer:
                        return
                    peer.sendall(answer)
            except OSError:
                return

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def once(says):
    """Answers by the same bytes, whatever it is asked."""
    return lambda said: says


def redis(**replies):
    """Answers each command by its reply, and by OK if it has none."""
    def answer(said):
        names = re.findall(rb"\*\d+\r\n\$\d+\r\n([A-Za-z]+)\r\n", said)
        return b"".join(replies.get(name.decode().upper(), b"+OK") + b"\r\n" for name in names)
    return answer


def broker(said):
    """A broker of MQTT 5 without a store: grants everything, and has no subscriber."""
    answers = {0x10: b"\x20\x03\0\0\0", 0x80: b"\x90\x05\xff\xff\0\1\1",
               0x30: b"\x40\x04\0\1\x10\0"}
    return answers.get(said[0] & 0xF0, b"")


class Doctor(Case):
    def findings(self, uri, *words, code=FAILED):
        done = sheaf("--timeout", "20s", "--json", "doctor", uri, *words)
        self.assertEqual(done.returncode, code, (done.stdout, done.stderr))
        found = [json.loads(line) for line in done.stdout.splitlines()]
        steps = [finding["step"] for finding in found]
        self.assertEqual(steps, sorted(steps, key=ORDER.index), "one server, in order")
        return found

    def fails_at(self, step, part, uri, *words):
        """The step is the last one, it says `part`, and all before it are not wrong."""
        found = self.findings(uri, *words)
        self.assertEqual((found[-1]["step"], found[-1]["ok"]), (step, False), found)
        self.assertIn(part, found[-1]["text"])
        self.assertTrue(all(each["ok"] is not False for each in found[:-1]), found)
        self.assertRegex(found[-1]["text"], r"\. [A-Z].*\.\Z", "what is wrong; what to do")

    def is_well(self, uri, *steps):
        found = self.findings(uri, code=DONE)
        self.assertEqual([each["step"] for each in found if each["ok"]], list(steps), found)

    # ---- the name, the port

    def test_a_name_that_is_not_known(self):
        self.fails_at("name", "no.such.host.invalid cannot be resolved",
                      "redis://no.such.host.invalid")

    def test_a_port_where_nothing_listens(self):
        with socket.socket() as bound:
            bound.bind(("127.0.0.1", 0))
            port = bound.getsockname()[1]
            for scheme in ("redis", "memcached", "mqtt"):
                self.fails_at("port", "Connection refused", "%s://127.0.0.1:%d" % (scheme, port))

    def test_a_path_where_there_is_no_socket(self):
        with tempfile.TemporaryDirectory() as folder:
            self.fails_at("port", "No such file",
                          "memcached://" + os.path.join(folder, "m.sock"))

    # ---- TLS, the login

    def test_a_server_without_tls(self):
        for scheme in ("rediss", "memcacheds", "mqtts"):
            with Talker(once(b"")) as server:
                self.fails_at("TLS", "TLS", "%s://%s" % (scheme, server.node))

    def test_a_login_that_is_refused(self):
        wrong = b"-WRONGPASS invalid username-password pair or user is disabled.\r\n"
        for uri, answer, part in (("redis://ann:word@%s", once(wrong), "WRONGPASS"),
                                  ("redis://%s", redis(HELLO=b"-NOAUTH log in"), "NOAUTH"),
                                  ("memcached://%s", once(b"CLIENT_ERROR unauthenticated\r\n"),
                                   "requires a user name and a password"),
                                  ("mqtt://%s", once(b"\x20\x03\0\x86\0"), "refused")):
            with Talker(answer) as server:
                self.fails_at("login", part, uri % server.node)

    # ---- the protocol, the role, the store

    def test_a_server_of_another_kind(self):
        http = b"HTTP/1.1 400 Bad Request\r\n\r\n"
        for says, scheme, part in ((http, "redis", "an HTTP server"),
                                   (http, "mqtt", "an HTTP server"),
                                   (http, "memcached", "an HTTP server"),
                                   (b"-ERR unknown command\r\n", "memcached", "a Redis server"),
                                   (b"\x15\x03\x01\0\x02\x02\x46", "redis", "expects TLS"),
                                   (b"", "mqtt", "it may expect TLS")):
            with Talker(once(says)) as server:
                self.fails_at("protocol", part, "%s://%s" % (scheme, server.node))

    def test_a_proxy_without_cluster(self):
        with Talker(redis(HELLO=b"-ERR unknown command", INFO=b"-ERR unknown command",
                          PING=b"+PONG", CLUSTER=b"-ERR unknown command 'CLUSTER'")) as server:
            self.fails_at("role", "routing=ring", "redis://" + server.node)

    def test_a_broker_without_a_store(self):
        with Talker(broker) as server:
            self.fails_at("store", "no state store answers", "mqtt://" + server.node)

    # ---- rights

    def test_a_user_without_rights(self):
        with Talker(redis(HELLO=b"-ERR unknown command", INFO=b"-NOPERM no", PING=b"+PONG",
                          SET=b"-NOPERM this user has no permissions")) as server:
            self.fails_at("rights", "NOPERM", "redis://%s?routing=ring" % server.node)

    # ---- what works

    def test_engines_in_the_process_are_well(self):
        self.is_well("embedded://1", "name", "login", "protocol", "store", "clock", "rights",
                     "latency")

    def test_the_text_has_a_line_for_each_step(self):
        done = sheaf("doctor", "embedded://1")
        self.assertEqual((done.returncode, done.stderr), (DONE, b""))
        lines = done.stdout.decode().splitlines()
        self.assertEqual(lines[0], "embedded:0")
        self.assertRegex(lines[1], r"\A  name       ok   ")
        self.assertLessEqual(max(map(len, lines)), 80)
