#!/usr/bin/env python3
"""end_to_end.py PROGRAM MODULE...: runs the tests of each module against the built program."""

import sys
import unittest

sys.dont_write_bytecode = True

import harness  # noqa: E402


def main():
    harness.program, *modules = sys.argv[1:]
    suite = unittest.defaultTestLoader.loadTestsFromNames(modules)
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
