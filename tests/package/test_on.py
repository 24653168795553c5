"""tests/on.sh: what it accepts, what it prints, and that it leaves nothing. Scripts of this test
replace all programs that would need root or a network. It finds only those, and a few of the
shell's.

    test_on.py SOURCE
"""

import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

source = sys.argv[1]
SECONDS = 60
TOOLS = ("awk bash cat chmod cp date dirname env flock grep ln mkdir mktemp mv nproc rm "
         "tail tee true").split()
SCRIPTS = {
    "id": "echo ${TEST_ID:-0}",
    "apt-get": "exit 1",
    "apt-config": "echo \"proxy='http://proxy.example:3142'\"",
    "dpkg-query": "echo installed",
    "hostname": "exit 0",
    "mount": 'case "$*" in *" dev "*/dev) for at; do :; done; rm -rf "$at"/*; esac',
    "setpriv": 'while [ "$1" != env ]; do shift; done; exec "$@"',
    "debootstrap": '''
[ -z "${TEST_NO_MIRROR:-}" ] || { echo "E: no mirror"; exit 1; }
mkdir -p "$3/etc/apt/apt.conf.d" "$3/srv" "$3/proc" "$3/sys" "$3/dev"
echo "$2 $4" > "$3/made_of"
''',
    "git": '''
case "$*" in
  *rev-parse*) [ -z "${TEST_NO_GIT:-}" ] || exit 128; echo 0123456789ab ;;
  *status*) echo "${TEST_CHANGES:-}" ;;
  clone*)
    for folder; do :; done
    mkdir -p "$folder/samples" "$folder/tests/package"
    echo 'echo packages' > "$folder/tests/package/install.sh"
    echo 'echo quick start' > "$folder/samples/quickstart.sh"
    { echo 'echo "arguments: $*"'
      echo 'echo "7 tests were skipped"; echo "1234 passed, 0 failed"'
      echo "${TEST_FAILS:-}"; } > "$folder/tests/run.sh"
    chmod +x "$folder/samples/quickstart.sh" "$folder"/tests/run.sh "$folder"/tests/*/*.sh ;;
esac
''',
    # Runs the last argument, a line of shell, in the clone. Instead of running apt, it prints what
    # the test has set.
    "chroot": '''
root=$1
for line; do :; done
case "$line" in
  *apt-get*) cp -r "$root/etc" "$TEST_SEEN"; echo "${TEST_APT:-}"; exit 0 ;;
  -dumpfullversion) echo 14.2.0; exit 0 ;;
  mosquitto) echo 2.0.21-1; exit 0 ;;
esac
cd "$root/srv/sheaf" && exec bash -c "${line#*; }"
''',
}


class OnAFreshMachine(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.roots = os.path.join(self.folder, "roots")
        self.seen = os.path.join(self.folder, "seen")
        programs = os.path.join(self.folder, "programs")
        os.makedirs(programs)
        for tool in TOOLS:
            os.symlink(shutil.which(tool), os.path.join(programs, tool))
        for name, text in SCRIPTS.items():
            path = os.path.join(programs, name)
            with open(path, "w", encoding="utf-8") as script:
                script.write("#!%s\n%s\n" % (shutil.which("bash"), text))
            os.chmod(path, 0o755)
        self.environment = {"PATH": programs, "HOME": self.folder, "SHEAF_ROOTS": self.roots,
                            "TEST_SEEN": self.seen}

    def start(self, *words, **environment):
        process = subprocess.Popen([os.path.join(source, "tests/on.sh"), *words], text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE,
                                   env={**self.environment, **environment})
        self.addCleanup(process.kill)
        return process

    def run_on(self, *words, **environment):
        process = self.start(*words, **environment)
        out, err = process.communicate(timeout=SECONDS)
        return process.returncode, out, err

    def left(self):
        return sorted(os.path.basename(p) for p in glob.glob(os.path.join(self.roots, "*"))
                      if os.path.isdir(p))

    def test_what_it_does_not_understand_it_refuses_in_a_sentence(self):
        for words, sentence in [((), "which release?"), (("buster",), "no root of 'buster'"),
                                (("--fast", "sid"), "no option --fast"),
                                (("--mirror",), "--mirror needs a value"),
                                (("sid", "quick", "all"), "nothing follows quick")]:
            with self.subTest(words=words):
                code, out, err = self.run_on(*words)
                self.assertEqual((code, out), (2, ""))
                self.assertIn(sentence, err)
        self.assertEqual(self.left(), [])

    def test_help_says_what_runs_and_what_cannot_be_tried(self):
        code, out, err = self.run_on("--help")
        self.assertEqual((code, err), (0, ""))
        for words in ("samples/quickstart.sh", "tests/run.sh", "systemd", "Garnet", "SHEAF_ROOTS",
                      "--mirror", "--ccache"):
            self.assertIn(words, out)
        self.assertLessEqual(max(map(len, out.splitlines())), 80)

    def test_without_root_or_a_git_tree_it_says_so(self):
        code, _, err = self.run_on("sid", TEST_ID="1000")
        self.assertEqual((code, err.count("\n")), (1, 1))
        self.assertIn("needs root", err)
        code, _, err = self.run_on("sid", TEST_NO_GIT="yes")
        self.assertEqual((code, err.count("\n")), (1, 1))
        self.assertIn("no git tree", err)
        self.assertEqual(self.left(), [])

    def test_the_commands_are_those_of_the_readme(self):
        with open(os.path.join(source, "README.md"), encoding="utf-8") as readme:
            shell = re.search(r"```sh\n(.*?)```", readme.read(), re.DOTALL).group(1)
        wanted = [line.split("#")[0].strip() for line in shell.splitlines()]
        code, out, _ = self.run_on("trixie")
        self.assertEqual(code, 0)
        ran = re.findall(r"^== trixie: (\S+)$", out, re.MULTILINE)
        self.assertEqual(ran, [command for command in wanted if command in ran])
        self.assertEqual(len(ran), 2)

    def test_the_last_line_is_a_row_of_a_table(self):
        code, out, _ = self.run_on("trixie", "quick")
        self.assertEqual(code, 0)
        self.assertIn("\nquick start\n", out)
        self.assertRegex(out.splitlines()[-1],
                         r"^\| trixie, \d{4}-\d\d-\d\d \| g\+\+ 14\.2\.0, Mosquitto 2\.0\.21 \| "
                         r"`samples/quickstart.sh`: 0 min, `tests/run.sh quick`: 0 min, "
                         r"\d+ cores \| "
                         r"1234 passed, 0 failed, 7 skipped \|$")

    def test_all_is_the_whole_suite_and_the_packages(self):
        code, out, _ = self.run_on("trixie", "all")
        self.assertEqual(code, 0)
        self.assertRegex(out, r"\nquick start\n(.*\n)*arguments: all\n(.*\n)*packages\n")

    def test_what_fails_ends_it(self):
        code, out, _ = self.run_on("trixie", "all", TEST_FAILS="exit 3")
        self.assertEqual(code, 3)
        self.assertIn("`tests/run.sh all`: 0 min, exit code 3", out.splitlines()[-1])
        self.assertNotIn("packages", out)

    def test_a_command_is_a_line_of_shell_and_its_exit_code_is_kept(self):
        code, out, _ = self.run_on("sid", "echo", "one two;", "exit 7")
        self.assertEqual(code, 7)
        self.assertIn("\none two\n", out)
        self.assertIn("exit code 7", out.splitlines()[-1])
        self.assertIn("| no tests |", out.splitlines()[-1])

    def test_what_is_not_committed_is_said(self):
        self.assertIn("not committed", self.run_on("sid", "true", TEST_CHANGES=" M a")[2])
        self.assertNotIn("not committed", self.run_on("sid", "true")[2])

    def test_the_root_is_made_once_a_day_and_copied_for_each_run(self):
        self.assertIn("Making a root", self.run_on("bookworm", "touch /dev/null; > mark")[2])
        made = self.left()
        self.assertRegex(" ".join(made), r"^bookworm\.\d{4}-\d\d-\d\d$")
        code, _, err = self.run_on("bookworm", "[ ! -e mark ]")
        self.assertEqual((code, err), (0, ""))
        older = os.path.join(self.roots, "bookworm.2001-01-01")
        os.rename(os.path.join(self.roots, made[0]), older)
        self.assertIn("Making a root", self.run_on("bookworm", "true")[2])
        self.assertEqual(self.left(), made)

    def test_packages_come_from_the_mirror(self):
        self.run_on("--mirror", "http://mirror.example/debian", "trixie", "true")
        with open(os.path.join(self.seen, "apt/sources.list"), encoding="utf-8") as sources:
            self.assertEqual(sources.read().splitlines(),
                             ["deb http://mirror.example/debian trixie main",
                              "deb http://mirror.example/debian trixie-updates main",
                              "deb http://mirror.example/debian-security trixie-security main"])
        self.assertEqual(os.listdir(os.path.join(self.seen, "apt/apt.conf.d")), ["90proxy"])

    def test_a_mirror_that_is_out_of_date_is_said(self):
        _, _, err = self.run_on("sid", "true", TEST_APT="E: Release file for X is expired")
        self.assertIn("out of date", err)

    def test_a_root_that_cannot_be_made_leaves_nothing(self):
        code, _, err = self.run_on("sid", TEST_NO_MIRROR="yes")
        self.assertEqual(code, 1)
        self.assertIn("E: no mirror", err)
        self.assertIn("the root of sid could not be made", err)
        self.assertEqual(self.left(), [])

    def test_a_signal_ends_it_with_all_that_it_started(self):
        gate = os.path.join(self.folder, "gate")
        os.mkfifo(gate)
        process = self.start("sid", "echo begun; cat < '%s'" % gate)
        while process.stdout.readline() != "begun\n":
            pass
        process.send_signal(signal.SIGTERM)
        with open(gate, "w", encoding="utf-8"):
            pass  # ends nothing here, because there is no namespace
        process.communicate(timeout=SECONDS)
        self.assertEqual(process.returncode, 143)
        self.assertNotIn("run", [name.split(".")[0] for name in self.left()])

    def test_what_a_killed_run_left_goes_with_the_next(self):
        os.makedirs(os.path.join(self.roots, "run.abcdef/root"))
        open(os.path.join(self.roots, "run.abcdef/lock"), "w", encoding="utf-8").close()
        self.run_on("sid", "true")
        self.assertNotIn("run.abcdef", self.left())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
