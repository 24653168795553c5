"""Builds a part of the library twice, with the release preset, in two folders and without ccache,
and compares the results byte by byte. The part is the files that SHEAF_CHECK names and what is
compiled in from third-party headers.

    test_rebuild.py SOURCE COMPILER
"""

import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

source, compiler = sys.argv[1:3]
FOLDERS = ["base", "client", "cluster", "cmake", "extras", "include", "node", "protocol", "socket",
           "store"]
FILES = ["CMakeLists.txt", "CMakePresets.json", "README.md", "CHANGELOG.md", "LICENSE"]
THIRD_PARTIES = ["base/hash.cpp", "base/strict_json.cpp"]
QUEUE = "protocol/output_queue.cpp"
PLACES = "-fmacro-prefix-map="
SECONDS = 600


def run(*words, **more):
    done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False,
                          stdin=subprocess.DEVNULL, **more)
    if done.returncode != 0:
        raise AssertionError("%s: %d\n%s%s" % (" ".join(words), done.returncode,
                                               done.stdout[-4000:], done.stderr[-4000:]))
    return done.stdout


def part():
    """The sources that are built."""
    found = list(THIRD_PARTIES)
    for layer in ("base", "protocol"):
        for folder, _, names in os.walk(os.path.join(source, layer)):
            for name in sorted(names):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    if name.endswith(".cpp") and re.search(r"\bSHEAF_CHECK\(", file.read()):
                        found.append(os.path.relpath(path, source))
    return sorted(set(found))


def objects(folder, files):
    """The objects of the sources, as the batches of the build in `folder`."""
    batches = {}
    for batch in glob.glob(os.path.join(folder, "unity/*/**/*.cpp"), recursive=True):
        with open(batch, encoding="utf-8") as text:
            for source_file in re.findall(r'#include "(.*)"', text.read()):
                batches[source_file] = os.path.relpath(batch, folder)
    return sorted({"CMakeFiles/sheaf_%s_objects.dir/%s.o" %
                   (file.split("/")[0], batches.get(file, file)) for file in files})


class Tree:
    """A configured copy of the sources; its build is in `build`."""

    def __init__(self, folder):
        for name in FOLDERS:
            shutil.copytree(os.path.join(source, name), os.path.join(folder, name))
        for name in FILES:
            shutil.copy(os.path.join(source, name), folder)
        self.build = os.path.join(folder, "build/release")
        run("cmake", "--preset", "release", "-DCMAKE_CXX_COMPILER=" + compiler,
            "-DSHEAF_CCACHE=OFF", "-DSHEAF_CLI=OFF", "-DSHEAF_PLUGIN=OFF", "-DSHEAF_SAMPLES=OFF",
            "-DSHEAF_INSTALL=OFF", cwd=folder)

    def compile(self, names):
        run("cmake", "--build", self.build, "--parallel", "2", "--target", *names)
        run(compiler, "-shared", "-o", "part.so", *names, cwd=self.build)

    def command(self, name):
        with open(os.path.join(self.build, "compile_commands.json"), encoding="utf-8") as file:
            return next(shlex.split(entry["command"]) for entry in json.load(file)
                        if name in entry["command"])

    def bytes(self, name):
        with open(os.path.join(self.build, name), "rb") as file:
            return file.read()


def differing(names):
    return [name for name in names if trees[0].bytes(name) != trees[1].bytes(name)]


class Rebuild(unittest.TestCase):
    def test_the_same_sources_give_the_same_bytes_in_any_folder(self):
        files = part()
        self.assertGreater(len(files), 8)
        names = objects(trees[0].build, files)
        for tree in trees:
            tree.compile(names)
        self.assertEqual(differing(names + ["part.so"]), [])
        built = trees[0].bytes("part.so")
        self.assertTrue(b"protocol/output_queue.cpp\0" in built, "SHEAF_CHECK names no file")
        self.assertFalse(os.path.dirname(trees[0].build).encode() in built, "names its folder")

    def test_paths_as_ccache_gives_them_make_no_difference(self):
        name, = objects(trees[0].build, [QUEUE])
        trees[0].compile([name])
        folder = os.path.dirname(os.path.dirname(trees[1].build))
        words = [word if word.startswith(PLACES) else re.sub("^(-I)?" + re.escape(folder) + "(/|$)",
                                                              r"\g<1>../..\2", word)
                 for word in trees[1].command(name)]
        self.assertIn("-I../..", words)
        words[words.index("-o") + 1] = "near.o"
        run(*words, cwd=trees[1].build)
        self.assertTrue(trees[0].bytes(name) == trees[1].bytes("near.o"))

    def test_without_the_flag_it_fails(self):
        name, = objects(trees[0].build, [QUEUE])
        for tree in trees:
            words = [word for word in tree.command(name) if not word.startswith(PLACES)]
            words[words.index("-o") + 1] = "plain.o"
            run(*words, cwd=tree.build)
        self.assertEqual(differing(["plain.o"]), ["plain.o"])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as work:
        trees = [Tree(os.path.join(work, "first")), Tree(os.path.join(work, "another/place"))]
        unittest.main(argv=sys.argv[:1], verbosity=2)
