"""cmake/deps.sh: which packages it asks for, also on releases that have other ones. Lists of this
test replace what apt knows and what is installed.

    test_deps.py SOURCE
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

source = sys.argv[1]
SCRIPTS = {
    "apt-cache": '''
case $1 in
  pkgnames) grep "^$2" "$TEST_KNOWN" ;;
  show) shift; for name; do grep -qx "$name" "$TEST_KNOWN" || exit 100; done ;;
esac
''',
    "apt-get": '''
for word; do
  case $word in
    update) [ -z "${TEST_NEW:-}" ] || cp "$TEST_NEW" "$TEST_KNOWN"; exit ;;
    -* | DPkg::*) ;;
    install) ;;
    *) grep -qx "$word" "$TEST_KNOWN" || { echo "E: no $word"; exit 100; }
       echo "$word" >>"$TEST_INSTALLED" ;;
  esac
done
''',
    "dpkg-query": '''
for name; do :; done
grep -qx "$name" "$TEST_INSTALLED" && echo installed
''',
    "id": "echo 0",
    "tee": "cat >/dev/null",
    "chmod": "exit 0",
}


class Dependencies(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        programs = os.path.join(self.folder, "programs")
        os.makedirs(programs)
        for tool in "awk cat cp env grep rm sort".split():
            os.symlink(shutil.which(tool), os.path.join(programs, tool))
        for name, text in SCRIPTS.items():
            path = os.path.join(programs, name)
            with open(path, "w", encoding="utf-8") as script:
                script.write("#!%s\n%s" % (shutil.which("bash"), text))
            os.chmod(path, 0o755)
        self.environment = {"PATH": programs}
        for name in ("KNOWN", "INSTALLED"):
            self.environment["TEST_" + name] = os.path.join(self.folder, name)
            self.write(name, [])

    def write(self, name, packages):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write("".join(package + "\n" for package in packages))

    def install(self, *packages, **environment):
        """Returns the exit code, what is then installed, and the output."""
        done = subprocess.run([shutil.which("bash"), "-uc",
                               '. "$0/cmake/deps.sh"; sheaf_install "$@"', source, *packages],
                              env={**self.environment, **environment}, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        with open(self.environment["TEST_INSTALLED"], encoding="utf-8") as installed:
            return done.returncode, installed.read().split(), done.stderr

    def test_what_is_there_is_not_installed_again(self):
        self.write("INSTALLED", ["g++", "cmake"])
        self.assertEqual(self.install("g++", "cmake"), (0, ["g++", "cmake"], ""))

    def test_what_is_missing_is_installed(self):
        self.write("KNOWN", ["g++", "cmake", "clang-19", "clang-21", "clang-format-19"])
        code, installed, _ = self.install("g++", "clang-19", "clang-format-19")
        self.assertEqual((code, installed), (0, ["g++", "clang-19", "clang-format-19"]))

    def test_without_clang_19_it_is_the_newest_and_nothing_that_formats(self):
        self.write("KNOWN", ["clang-9", "clang-21", "clang-22", "clang-tools-30",
                             "clang-format-22", "clang-tidy-22", "libclang-rt-21-dev",
                             "libclang-rt-22-dev", "libclang-rt-22-dev-wasm32"])
        wanted = ("clang-19", "clang-format-19", "clang-tidy-19", "libclang-rt-19-dev")
        code, installed, _ = self.install(*wanted)
        self.assertEqual((code, installed), (0, ["clang-22", "libclang-rt-22-dev"]))
        self.assertEqual(self.install(*wanted), (0, installed, ""))

    def test_lists_that_are_not_there_are_fetched_before_a_name_is_chosen(self):
        self.write("new", ["g++", "clang-23"])
        code, installed, _ = self.install("g++", "clang-19",
                                          TEST_NEW=os.path.join(self.folder, "new"))
        self.assertEqual((code, installed), (0, ["g++", "clang-23"]))

    def test_what_no_release_has_is_named(self):
        self.write("KNOWN", ["g++"])
        code, _, said = self.install("g++", "nowhere")
        self.assertEqual(code, 1)
        self.assertIn("E: no nowhere\nCould not install: g++ nowhere\n", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
