#!/usr/bin/env python3
"""end_to_end.py PROGRAM MODULE...: runs the tests of each module against the built program.

MODULE.CLASS runs only that class, MODULE.CLASS.TEST only that test.
"""

import os
import sys
import unittest

sys.dont_write_bytecode = True

import harness  # noqa: E402


def main():
    program, *modules = sys.argv[1:]
    harness.program = os.path.abspath(program)
    suite = unittest.defaultTestLoader.loadTestsFromNames(modules)
    # As GoogleTest does, for tests/servers/table.py.
    print("[==========] Running %d tests from %d modules." % (suite.countTestCases(), len(modules)),
          flush=True)
    try:
        result = unittest.TextTestRunner(verbosity=2).run(suite)
    finally:
        harness.end_shared()
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
