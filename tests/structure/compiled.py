"""The sources that a build compiles, from its compile_commands.json. A source that is compiled in a
batch (cmake/SheafUnity.cmake) gets the command of the batch, applied to itself."""

import json
import os
import re
import shlex

PRECOMPILED = re.compile(r"cmake_pch\.hxx")
ONLY_IN_BATCHES = ("-Winvalid-pch", "-Wno-subobject-linkage")


def alone(words):
    """The words of a command, without those that only batches need."""
    kept, skip = [], False
    for at, word in enumerate(words):
        if skip:
            skip = False
        elif word == "-include" and PRECOMPILED.search(words[at + 1]):
            skip = True
        elif word not in ONLY_IN_BATCHES:
            kept.append(word)
    return kept


def members(batch):
    with open(batch, encoding="utf-8") as text:
        return re.findall(r'^#include "(.*\.cpp)"$', text.read(), re.MULTILINE)


def commands(root, build):
    """Every source that is compiled: its path from the root and the words of its command."""
    root, build = os.path.realpath(root), os.path.realpath(build)
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as entries:
        for entry in json.load(entries):
            file = os.path.realpath(os.path.join(entry["directory"], entry["file"]))
            words = alone(shlex.split(entry["command"]))
            in_batches = file.startswith(os.path.join(build, "unity") + os.sep)
            for path in members(file) if in_batches else [os.path.relpath(file, root)]:
                full = os.path.join(root, path)
                yield path, [full if os.path.realpath(w) == file else w for w in words]
