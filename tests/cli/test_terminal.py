"""The program as a person sees it: on a terminal, in a shell with completion, in its manual."""

import errno
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import tempfile
import termios
import time
import unittest

import harness
from harness import DONE, FAILED, USAGE, raw, sheaf

URI = "embedded://1"


def on_terminal(*words, answer=b"", until=b"", **more):
    """Runs the program on a terminal of its own; returns what that showed and the exit code. The
    terminal's settings must be restored afterwards. `answer` is keys, or a signal."""
    control, terminal = pty.openpty()
    before = termios.tcgetattr(terminal)
    process = subprocess.Popen(raw(harness.program, *words), stdin=terminal, stdout=terminal,
                               stderr=terminal, start_new_session=True, close_fds=True,
                               preexec_fn=lambda: own(terminal), **more)
    os.close(terminal)
    shown = b""
    end = time.monotonic() + harness.LONGEST
    while time.monotonic() < end:
        if answer and until in shown:
            if isinstance(answer, bytes):
                os.write(control, answer)
            else:
                process.send_signal(answer)
            answer = b""
        if not select.select([control], [], [], 1)[0]:
            continue
        try:
            some = os.read(control, 65536)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            some = b""
        if not some:
            break
        shown += some
    code = process.wait(harness.LONGEST)
    after = termios.tcgetattr(control)
    os.close(control)
    if after != before:
        raise AssertionError("settings: %r, and before %r" % (after, before))
    return shown.replace(b"\r\n", b"\n"), code


def own(terminal):
    """Makes it the session's terminal, which /dev/tty is."""
    import fcntl
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)


class Terminal(unittest.TestCase):
    def setUp(self):
        folder = harness.tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        # A store that a second process can open.
        self.uri = "embedded://1?data=" + os.path.join(folder.name, "store")

    def set(self, value):
        done = sheaf("--servers", self.uri, "set", "k", "-", stdin=value)
        if b"SHEAF_DURABLE" in done.stderr or b"SQLite" in done.stderr:
            self.skipTest("this build has no stores with files")
        self.assertEqual(done.returncode, DONE, done.stderr)

    def test_a_value_cannot_control_it_and_a_line_ends_it(self):
        self.set("caf\u00e9 \x1b[2J\x9b end\n".encode() + b"tail")
        shown, code = on_terminal("--servers", self.uri, "get", "k")
        self.assertEqual((shown.decode(), code),
                         ("caf\u00e9 \\x1B[2J\\xC2\\x9B end\ntail\n", DONE))

    def test_bytes_that_are_no_text_are_shown_as_numbers(self):
        self.set(b"\xff\xe9!")
        self.assertEqual(on_terminal("--servers", self.uri, "get", "k"),
                         (b"\\xFF\\xE9!\n", DONE))

    def test_raw_is_as_it_is(self):
        self.set(b"\x1b[1mbold\x1b[0m")
        self.assertEqual(on_terminal("--servers", self.uri, "get", "k", "--raw"),
                         (b"\x1b[1mbold\x1b[0m", DONE))
        self.assertEqual(sheaf("--servers", self.uri, "get", "k").stdout, b"\x1b[1mbold\x1b[0m")

    def test_colours_are_for_terminals_and_for_those_who_want_them(self):
        dead = ("--servers", "mqtt://127.0.0.1:1", "--timeout", "100ms", "nodes")
        for environment, wanted in (({}, True), ({"NO_COLOR": "1"}, False),
                                    ({"TERM": "dumb"}, False)):
            shown, _ = on_terminal(*dead, env={"TERM": "xterm", **environment})
            self.assertEqual(b"\x1b[31m127.0.0.1:1" in shown, wanted, shown)
            self.assertEqual(b"\x1b[1;31msheaf:" in shown, wanted, shown)
        done = sheaf(*dead)
        self.assertNotIn(b"\x1b", done.stdout + done.stderr)

    def test_an_error_is_explained_below_its_sentence(self):
        dead = ("--servers", "mqtt://127.0.0.1:1,127.0.0.1:2", "--timeout", "20s", "mget", "a", "b")
        shown, code = on_terminal(*dead, env={"TERM": "dumb"})
        self.assertEqual(code, FAILED)
        lines = shown.decode().splitlines()
        sentences = [line for line in lines if line.startswith("sheaf: ")]
        self.assertEqual(len(sentences), 2)
        self.assertEqual(lines[0], sentences[0])
        explanation = lines[1:-1]  # once, below the first
        self.assertTrue(all(line.startswith("  ") for line in explanation), shown)
        self.assertLessEqual(max(map(len, explanation)), 80)
        text = " ".join(" ".join(explanation).split())
        self.assertIn("Nothing was sent: it is safe to repeat. Check its name or address", text)
        self.assertNotIn("Connection refused", text)

    def test_only_people_get_explanations(self):
        dead = ("--servers", "mqtt://127.0.0.1:1", "--timeout", "20s", "get", "k")
        done = sheaf(*dead)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (FAILED, 1))
        shown, _ = on_terminal("--json", *dead)
        self.assertNotIn(b"safe to repeat", shown)
        shown, _ = on_terminal("--servers", URI, "get", "")  # the sentence says what to do
        self.assertEqual(len(shown.splitlines()), 1, shown)

    def test_top_gives_it_back(self):
        shown, code = on_terminal("--servers", URI, "top", "--count", "1")
        self.assertEqual(code, DONE, shown)
        for key in (b"q", b"\x03"):  # the second is Ctrl-C
            shown, code = on_terminal("--servers", URI, "top", answer=key, until=b"embedded:0")
            self.assertEqual(code, DONE, shown)
            self.assertTrue(shown.endswith(b"\x1b[?25h\x1b[?1049l"), shown)

    def test_the_password_is_asked_for_without_an_echo(self):
        shown, code = on_terminal("--servers", "redis://ann@127.0.0.1:1", "--ask-password",
                                  "--timeout", "50ms", "get", "k", answer=b"s3cret-word\n",
                                  until=b"Password: ")
        self.assertEqual(code, 3, shown)
        self.assertTrue(shown.startswith(b"Password: \n"), shown)
        self.assertNotIn(b"s3cret", shown)

    def test_a_signal_at_the_password_ends_it_with_the_echo_back(self):
        asks = ("--servers", "redis://ann@127.0.0.1:1", "--ask-password")
        # watch and lock wait for signals, but not before they are connected.
        for words in (("get", "k"), ("watch", "k"), ("lock", "l", "--", "true")):
            for answer, number in ((b"s3\x03", signal.SIGINT), (signal.SIGTERM, signal.SIGTERM),
                                   (signal.SIGHUP, signal.SIGHUP)):
                shown, code = on_terminal(*asks, *words, answer=answer, until=b"Password: ")
                self.assertEqual((shown, code), (b"Password: \n", -number), words)

    def test_without_a_terminal_no_password_can_be_asked_for(self):
        done = subprocess.run(raw(harness.program, "--servers", "redis://ann@127.0.0.1:1",
                                  "--ask-password", "get", "k"), stdin=subprocess.DEVNULL,
                              capture_output=True, start_new_session=True, check=False,
                              timeout=harness.LONGEST)
        self.assertEqual(done.returncode, USAGE)
        self.assertIn(b"--ask-password needs a terminal", done.stderr)


class LongCommands(unittest.TestCase):
    def test_an_interruption_ends_them_with_a_count(self):
        process = subprocess.Popen(raw(harness.program, "--servers", URI, "mget", "-"),
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        process.stdin.write(b"".join(b"key%d\n" % i for i in range(4096)))
        process.stdin.flush()
        harness.wait_until(lambda: sleeps_in_read(process.pid), "the wait for more keys")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=harness.LONGEST)
        self.assertEqual(process.returncode, 128 + signal.SIGINT, err)
        self.assertIn(b"interrupted: 4,096 keys were read", err)

    def test_absent_keys_are_counted(self):
        done = sheaf("--servers", URI, "mget", "-", stdin=b"a\nb\nc\n")
        self.assertEqual((done.returncode, done.stdout), (DONE, b""))
        self.assertEqual(done.stderr, b"sheaf: 3 of 3 keys are absent.\n")
        done = sheaf("--servers", URI, "mget", "-", "--json", stdin=b"a\nb\na\n")
        self.assertEqual(done.stdout.count(b'"value":null'), 3)
        self.assertEqual(done.stderr, b"")

    def test_many_keys_are_removed_at_once(self):
        done = sheaf("--servers", URI, "del", "a", "b", "--json")
        self.assertEqual(done.stdout.count(b'"removed":false'), 2, done.stderr)
        self.assertEqual(done.returncode, DONE)


def sleeps_in_read(pid):
    try:
        with open("/proc/%d/wchan" % pid, encoding="ascii") as file:
            return "pipe" in file.read()
    except OSError:
        return False


class Shells(unittest.TestCase):
    def complete(self, *words):
        """The words that bash offers for the last one. Like bash, it splits words at : and =."""
        script = sheaf("completion", "bash").stdout.decode()
        line = " ".join(("sheaf",) + words)
        parts = ["sheaf"] + [part for word in words
                             for part in re.findall("[:=]+|[^:=]+", word) or [""]]
        script += ("COMP_LINE='%s'; COMP_POINT=%d; COMP_WORDS=(%s); COMP_CWORD=%d; _sheaf\n"
                   "printf '%%s\\n' \"${COMPREPLY[@]}\"\n" %
                   (line + " behind", len(line), " ".join("'%s'" % part for part in parts),
                    len(parts) - 1))
        done = subprocess.run(["bash", "-u", "-c", script], capture_output=True, check=False,
                              timeout=harness.LONGEST, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_bash_completes_commands_actions_and_options(self):
        self.assertEqual(self.complete("mg"), ["mget"])
        self.assertIn("watch", self.complete(""))
        self.assertEqual(self.complete("list", "pu"), ["push"])
        self.assertEqual(self.complete("--json", "list", "dr"), ["drop-holes"])
        self.assertEqual(self.complete("set", "k", "--if-a"),
                         ["--if-absent", "--if-absent-or-equal"])
        self.assertEqual(self.complete("--serv"), ["--servers"])
        self.assertEqual(self.complete("get", "--servers", "m"), [])
        self.assertEqual(self.complete("--timeout", "3s", "nod"), ["nodes"])
        self.assertEqual(self.complete("completion", "z"), ["zsh"])
        self.assertEqual(self.complete("get", "--", "--if"), [])
        self.assertEqual(self.complete("help", "list", "pu"), ["push"])
        self.assertEqual(self.complete("help", "lis"), ["list"])

    def test_bash_completes_values_that_are_known(self):
        self.assertEqual(self.complete("dev", "--spelling", "p"), ["page"])
        self.assertEqual(self.complete("dev", "--spelling=s"), ["sdk"])
        self.assertEqual(self.complete("get", "--until", "d"), [])
        self.assertEqual(self.complete("stats", "sl"), ["slabs"])
        self.assertEqual(self.complete("help", "opt"), ["options"])

    def test_bash_offers_no_option_that_the_command_refuses(self):
        self.assertEqual(self.complete("get", "--ser"), ["--servers"])
        self.assertEqual(self.complete("dev", "--ser"), [])
        self.assertEqual(self.complete("dev", "--js"), ["--json"])
        self.assertEqual(self.complete("dev", "--repl"), ["--replicas"])

    def test_bash_completes_behind_words_that_it_cuts(self):
        self.assertEqual(self.complete("--servers", "redis://r1:7", "gets"), ["getset"])
        self.assertEqual(self.complete("--servers=redis://r1", "gets"), ["getset"])
        self.assertEqual(self.complete("--timeout=3s", "getse"), ["getset"])
        self.assertEqual(self.complete("--timeout="), [])
        self.assertEqual(self.complete("get", "a:b", "--fen"), ["--fence"])

    def test_bash_completes_files_where_options_want_them(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("one", "a:b"):
                with open(os.path.join(folder, name), "w", encoding="utf-8"):
                    pass
            self.assertEqual(self.complete("--config", folder + "/o"), [folder + "/one"])
            self.assertEqual(self.complete("--config=" + folder + "/o"), [folder + "/one"])
            self.assertEqual(self.complete("--config=" + folder + "/a:"), ["b"])
            self.assertEqual(self.complete("ring", "--keys", folder + "/o"), [])
            self.assertEqual(self.complete("ring", "--svg", folder + "/o"), [folder + "/one"])

    def test_bash_completes_the_words_of_migrate(self):
        if sheaf("help", "migrate").returncode == USAGE:
            self.skipTest("the program was built without SHEAF_MIGRATION")
        self.assertEqual(self.complete("migrate", "--until", "d"), ["drain"])
        self.assertEqual(self.complete("migrate", "--con"), [])
        self.assertEqual(self.complete("migrate", "--pass"), ["--password-file"])
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "one"), "w", encoding="utf-8"):
                pass
            self.assertEqual(self.complete("migrate", "--keys", folder + "/o"), [folder + "/one"])

    def test_scripts_are_what_their_shells_read(self):
        for shell in ("bash", "zsh", "fish"):
            if shutil.which(shell) is None:
                continue
            done = subprocess.run([shell, "-n"], input=sheaf("completion", shell).stdout,
                                  capture_output=True, check=False, timeout=harness.LONGEST)
            self.assertEqual((done.returncode, done.stderr), (0, b""), shell)
        self.assertEqual(sheaf("completion", "csh").returncode, USAGE)

    def test_the_manual_page_is_what_man_reads(self):
        page = sheaf("man").stdout
        self.assertTrue(page.startswith(b".TH SHEAF 1"))
        if shutil.which("groff") is None:
            return
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-K", "utf8"], input=page,
                              capture_output=True, check=False, timeout=harness.LONGEST)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn(b"drop", done.stdout)
