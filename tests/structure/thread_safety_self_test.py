"""Shows that the check of thread safety can fail. self_test.py runs it."""

import json
import os
import shutil
import tempfile
import unittest

import thread_safety

CLANG = next(filter(None, (shutil.which("clang++-%d" % n) for n in (19, *range(40, 19, -1)))), None)


@unittest.skipUnless(CLANG, "clang 19 or later is not installed")
class ThreadSafety(unittest.TestCase):
    ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    HEADER = """#pragma once
#include "base/mutex.h"
struct A {
  sheaf::sync::Mutex mutex;
  int a SHEAF_GUARDED_BY(mutex) = 0;
  void add() SHEAF_REQUIRES(mutex) { ++a; }
  %s
};
"""
    LOCKED = "void f(A& a) { const sheaf::sync::MutexLock lock(a.mutex); a.add(); ++a.a; }\n"

    def messages(self, text, member=""):
        """The messages about a tree with this text, and with this member added to a class."""
        with tempfile.TemporaryDirectory() as root:
            files = {"socket/a.h": self.HEADER % member,
                     "socket/a.cpp": '#include "socket/a.h"\n' + text}
            for path in ("base/mutex.h", "base/clock.h"):
                with open(os.path.join(self.ROOT, path), encoding="utf-8") as real:
                    files[path] = real.read()
            entry = {"directory": root, "file": "socket/a.cpp", "command": "g++ -I" + root}
            files["compile_commands.json"] = json.dumps([entry])
            for path, content in files.items():
                os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as out:
                    out.write(content)
            results = thread_safety.run(root, root, CLANG)
            return "".join(text for _, code, text in results if code != 0)

    def test_what_is_guarded_needs_its_mutex(self):
        self.assertEqual(self.messages(self.LOCKED), "")
        self.assertIn("requires holding mutex", self.messages("void f(A& a) { ++a.a; }\n"))
        self.assertIn("requires holding mutex", self.messages("void f(A& a) { a.add(); }\n"))
        self.assertIn("was not held", self.messages("void f(A& a) { a.mutex.unlock(); }\n"))
        self.assertIn("still held", self.messages("void f(A& a) { a.mutex.lock(); }\n"))

    def test_functions_in_headers_count(self):
        found = self.messages(self.LOCKED, "int get() { return a; }")
        self.assertIn("requires holding mutex", found)
