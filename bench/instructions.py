#!/usr/bin/env python3
"""Counts the instructions of each path of bench/paths with valgrind, and compares them with the
stored ones. Exit status 1 if a path takes 5 % more or less than stored, or is not stored.

instructions.py PROGRAM STORED [--update]: `--update` stores what was counted.
"""

import glob
import os
import re
import subprocess
import sys
import tempfile

ALLOWED = 0.05
ROUNDS = 1000  # of each path, as in paths.cpp


def count(program):
    """Name -> instructions of one round."""
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["valgrind", "-q", "--tool=callgrind",
                        "--callgrind-out-file=" + os.path.join(folder, "out"), program], check=True)
        for path in glob.glob(os.path.join(folder, "out.*")):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            name = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.MULTILINE)
            total = re.search(r"^summary: (\d+)$", text, re.MULTILINE)
            if name and total:
                counts[name.group(1)] = int(total.group(1)) // ROUNDS
    return counts


def read(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.rsplit(None, 1) for line in file if line.strip() and line[0] != "#"]
    return {name: int(number) for name, number in lines}


def write(path, counts):
    with open(path, encoding="utf-8") as file:
        head = [line for line in file if line.startswith("#")]
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(head)
        for name, number in sorted(counts.items()):
            file.write("%-40s %8d\n" % (name, number))


def compare(counts, stored):
    """Sentences about what differs."""
    wrong = ["%s is stored, but was not counted" % name for name in sorted(stored.keys() - counts)]
    for name, number in sorted(counts.items()):
        known = stored.get(name)
        print("%-40s %8d  stored %s" % (name, number, known))
        if known is None:
            wrong.append("%s is not stored" % name)
        elif abs(number - known) > ALLOWED * known:
            wrong.append("%s takes %d instructions, %+.1f %% of the stored %d"
                         % (name, number, 100 * (number / known - 1), known))
    return wrong


def main():
    program, path = sys.argv[1:3]
    counts = count(program)
    if not counts:
        sys.exit("nothing was counted: was %s built without valgrind's headers?" % program)
    if sys.argv[3:] == ["--update"]:
        write(path, counts)
    wrong = compare(counts, read(path))
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    if wrong:
        print("If this is intended: bench/instructions.py PROGRAM STORED --update",
              file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
