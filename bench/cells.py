#!/usr/bin/env python3
"""Measures sheaf and its peers in every cell: each work on each number of servers with each number
of threads, on an idle and on a busy machine, in each placement of servers and clients. Writes
OUT_DIR/cells.jsonl, a line for each cell, and from it cells.md and cells.svg. A cell that is in the
file already is not measured again.

Exit status 0; 1: a cell could not be measured; 2: bad option, or no program was built.
"""

import argparse
import os
import subprocess
import sys
import time

import cells_report
from cells_report import PROGRAMS

STARTS = 1.5  # seconds until the servers of a cell are up
SCHEDULE = ("openings", "rounds", "milliseconds")
PLACEMENTS = ("free", "same", "split")


def numbers(least, most):
    """The type of an option that lists numbers."""
    def read(text):
        try:
            values = [int(part) for part in text.split(",")]
        except ValueError:
            values = [least - 1]
        if not all(least <= value <= most for value in values):
            raise argparse.ArgumentTypeError("'%s' is not a list of numbers from %d to %d"
                                             % (text, least, most))
        return values
    return read


def names(known):
    """The type of an option that lists some of the known names."""
    def read(text):
        values = text.split(",")
        if not set(values) <= set(known):
            raise argparse.ArgumentTypeError("'%s' is not a list of %s" % (text, ", ".join(known)))
        return values
    return read


def number(most):
    """The type of an option that is one number."""
    def read(text):
        if not text.isdecimal() or not 1 <= int(text) <= most:
            raise argparse.ArgumentTypeError("'%s' is not a number from 1 to %d" % (text, most))
        return int(text)
    return read


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("build_dir", metavar="BUILD_DIR")
    add("out_dir", metavar="OUT_DIR")
    add("--programs", type=names(PROGRAMS), default=list(PROGRAMS), help="of " + ",".join(PROGRAMS))
    add("--work", type=lambda text: text.split(","), default=["get", "set", "10", "100", "1000"],
        help="get, set, or a number: a get of that many keys; default: %(default)s")
    add("--servers", type=numbers(1, 64), default=[1, 4, 8])
    add("--threads", type=numbers(1, 32), default=[1, 2, 4, 8, 32])
    add("--busy", type=numbers(0, 64), default=[0, 2], help="processes that only compute meanwhile")
    add("--placement", type=names(PLACEMENTS), help="default: all that the processors allow",
        default=list(PLACEMENTS[:2 if len(os.sched_getaffinity(0)) == 1 else 3]))
    add("--openings", type=number(1_000), default=6)
    add("--rounds", type=number(10_000), default=4)
    add("--milliseconds", type=number(60_000), default=100)
    add("--quick", action="store_true", help="two short rounds: does it still work?")
    add("--report", action="store_true", help="only write cells.md and cells.svg")
    options = parser.parse_args()
    if options.quick:
        options.openings, options.rounds, options.milliseconds = 1, 2, 5
    return parser, options


def path_of(options, program):
    return os.path.join(options.build_dir, "bench", program)


def wanted_cells(options):
    """The keys of the cells, in an order in which the conditions of one cell follow each other."""
    return [(program, work, servers, threads, busy, placement)
            for program in options.programs if os.access(path_of(options, program), os.X_OK)
            for work in options.work for servers in options.servers for threads in options.threads
            for placement in options.placement for busy in options.busy]


def contestants(program, work, servers):
    row = PROGRAMS[program]
    batch = work.isdecimal() and servers == 1
    return list(row.peers) + [row.spin, row.sleep] + (list(row.batch_peers) if batch else [])


def command(options, cell):
    """What measures a cell."""
    program, work, servers, threads, busy, placement = cell
    if program == "redis_compare":
        cluster = servers > 1
        where = ["--cells", "%s%s/%d" % ("cluster-" if cluster else "", work, threads)]
        where += ["--primaries", str(servers)]
    else:
        where = ["--work", work, "--servers", str(servers), "--threads", str(threads)]
    schedule = [word for name in SCHEDULE for word in ("--" + name, str(getattr(options, name)))]
    return ([path_of(options, program), "--peers", ",".join(contestants(program, work, servers))]
            + where + schedule + ["--busy", str(busy), "--placement", placement,
                                  "--json", cells_report.file_in(options.out_dir, "jsonl")])


def seconds_of(options, cell):
    rounds = options.openings * (options.rounds + 1.25) * len(contestants(*cell[:3]))
    return STARTS + rounds * options.milliseconds / 1000


def measure(options, cells):
    """Measures the cells. Returns how many could not be measured."""
    failed = 0
    start = time.monotonic()
    planned = sum(seconds_of(options, cell) for cell in cells)
    done = 0
    print("%d cells, about %.0f minutes" % (len(cells), planned / 60), flush=True)
    for number_of, cell in enumerate(cells, 1):
        ran = subprocess.run(command(options, cell), stdout=subprocess.DEVNULL, check=False)
        if ran.returncode == 2:
            sys.exit(2)  # the program has named the option
        failed += ran.returncode != 0
        done += seconds_of(options, cell)
        left = (time.monotonic() - start) * (planned / done - 1)
        print("%d of %d: %s, %s, %d server(s), %d thread(s), %d busy, %s%s; %.0f minutes left"
              % (number_of, len(cells), *cell, ": FAILED" if ran.returncode else "", left / 60),
              flush=True)
    return failed


def main():
    parser, options = parse()
    os.makedirs(options.out_dir, exist_ok=True)
    failed = 0
    if not options.report:
        known = cells_report.read(options.out_dir)
        schedule = tuple(getattr(options, name) for name in SCHEDULE)
        for cell in known.values():
            if tuple(cell[name] for name in SCHEDULE) != schedule:
                parser.error("OUT_DIR has cells of another schedule: "
                             + " ".join("--%s %d" % (name, cell[name]) for name in SCHEDULE))
        wanted = wanted_cells(options)
        if not wanted:
            parser.error("BUILD_DIR/bench has none of " + ", ".join(options.programs))
        failed = measure(options, [cell for cell in wanted if cell not in known])
    cells_report.write(options.out_dir)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
