#!/usr/bin/env python3
"""Checks the whole tree against the rules of rules.py.

check.py ROOT BUILD [SKIPPED_FOLDER...]: BUILD holds compile_commands.json and links.txt.
"""

import os
import sys

sys.dont_write_bytecode = True

import batches  # noqa: E402
import classes  # noqa: E402
import compiled  # noqa: E402
import forms  # noqa: E402
import rules  # noqa: E402
import security  # noqa: E402
import source  # noqa: E402
import words  # noqa: E402

# These are compiled by builds of their own: the consumer test, and the fuzz targets (preset fuzz),
# which a glob finds.
OTHER_BUILDS = ["tests/consumer/", "tests/fuzz/"]


def problems(root, build, skipped):
    files = source.load(root)
    for module in (rules.TREE_RULES, classes.RULES, words.RULES, batches.RULES,
                   forms.FORM_RULES, security.RULES_OF_SECURITY):
        for rule in module:
            yield from rule(files)
    built = {path for path, _ in compiled.commands(root, build)}
    yield from rules.dead_sources(files, built, OTHER_BUILDS + skipped)
    with open(os.path.join(build, "links.txt"), encoding="utf-8") as links:
        yield from rules.link_targets(links.read())


def main():
    root, build, *skipped = sys.argv[1:]
    found = list(problems(root, build, skipped))
    for line in found:
        print(line)
    print("%d problems" % len(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
