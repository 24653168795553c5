"""Shows that clang finds members that are used without their mutex. self_test.py runs it."""

import os
import shutil
import subprocess
import unittest

CLANG = next(filter(None, (shutil.which("clang++-%d" % n) for n in (19, *range(40, 19, -1)))), None)


@unittest.skipUnless(CLANG, "clang 19 or later is not installed")
class ThreadSafety(unittest.TestCase):
    ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    CLASS = """#include "base/mutex.h"
struct A {
  sheaf::sync::Mutex mutex;
  int a SHEAF_GUARDED_BY(mutex) = 0;
  void add() SHEAF_REQUIRES(mutex) { ++a; }
  %s
};
"""
    LOCKED = "void f(A& a) { const sheaf::sync::MutexLock lock(a.mutex); a.add(); ++a.a; }\n"

    def messages(self, text, member=""):
        """The messages about this text after the class, which has this member, too."""
        done = subprocess.run([CLANG, "-std=c++23", "-Wthread-safety", "-Werror", "-fsyntax-only",
                               "-I", self.ROOT, "-x", "c++", "-"], input=self.CLASS % member + text,
                              text=True, capture_output=True)
        return done.stderr if done.returncode != 0 else ""

    def test_what_is_guarded_needs_its_mutex(self):
        self.assertEqual(self.messages(self.LOCKED), "")
        self.assertIn("requires holding mutex", self.messages("void f(A& a) { ++a.a; }\n"))
        self.assertIn("requires holding mutex", self.messages("void f(A& a) { a.add(); }\n"))
        self.assertIn("was not held", self.messages("void f(A& a) { a.mutex.unlock(); }\n"))
        self.assertIn("still held", self.messages("void f(A& a) { a.mutex.lock(); }\n"))

    def test_members_that_use_members_are_checked(self):
        self.assertIn("requires holding mutex",
                      self.messages(self.LOCKED, "int get() { return a; }"))
