"""The table and the heat map of the cells that cells.py has measured."""

import collections
import json
import math
import os
import statistics

# The peers, the two contestants of sheaf, and what a build needs in order to have the program. The
# peers of batches are additional ones in gets of many keys from a single server.
Program = collections.namedtuple("Program", "title peers batch_peers spin sleep needs")
PROGRAMS = {
    "memcached_compare": Program("memcached", ("lib-text", "lib-binary"), (), "sheaf-meta",
                                 "sheaf-meta-sleep", "libmemcached and memcached"),
    "redis_compare": Program("Redis", ("hiredis",), ("hiredis-mget",), "sheaf", "sheaf-sleep",
                             "hiredis and redis-server"),
}
KEY = ("program", "work", "servers", "threads", "busy", "placement")
WAITS = ("spin", "sleep")
NOTE = "spin: the default; sleep: spin=false; busy N: next to N processes that only compute."
FIGURES = {"p99": "p99_us", "p99.9": "p999_us", "CPU": "cpu_us", "servers' CPU": "servers_us",
           "calls": "system_calls", "allocs": "allocations"}

Condition = collections.namedtuple("Condition", "placement busy waits")


def file_in(folder, ending):
    return os.path.join(os.path.abspath(folder), "cells." + ending)


def read(folder):
    """Key -> cell. The last measurement of a cell counts."""
    if not os.path.exists(file_in(folder, "jsonl")):
        return {}
    with open(file_in(folder, "jsonl"), encoding="utf-8") as file:
        cells = [json.loads(line) for line in file]
    return {tuple(cell[name] for name in KEY): cell for cell in cells}


def compare(cell, waits):
    """sheaf / the better peer: the ratio of their rates, and of each figure. None if either was
    not measured."""
    names = PROGRAMS[cell["program"]]
    mine = cell["contestants"].get(names.spin if waits == "spin" else names.sleep)
    ratios = {peer: mine["ratios"].get(peer) for peer in names.peers + names.batch_peers
              } if mine else {}
    ratios = {peer: ratio for peer, ratio in ratios.items() if ratio}
    if not ratios:
        return None
    better = min(ratios, key=ratios.get)
    theirs = cell["contestants"][better]
    figures = {title: mine[name] / theirs[name] for title, name in FIGURES.items()
               if mine.get(name) and theirs.get(name)}
    return {"rate": ratios[better], **figures}


def by_row(cells):
    """(program, work, servers, threads) -> condition -> what compare() says. Rows and conditions
    are sorted."""
    rows = {}
    for key in sorted(cells, key=rank):
        for waits in WAITS:
            found = compare(cells[key], waits)
            if found:
                condition = Condition(key[5], key[4], waits)
                rows.setdefault(key[:4], {})[condition] = found
    return rows, sorted({c for row in rows.values() for c in row}, key=order)


def rank(key):
    program, work, servers, threads, *rest = key
    return (program, *work_rank(work), servers, threads, *rest)


def work_rank(work):
    return (int(work), "") if work.isdecimal() else (0, work)


def order(condition):
    return condition.placement, condition.busy, WAITS.index(condition.waits)


def load(busy):
    return "busy %d" % busy if busy else "idle"


def title_of(condition):
    return ", ".join([condition.waits, load(condition.busy), condition.placement])


def work_title(work):
    return "get of %s" % work if work.isdecimal() else work


def missing(cells):
    """Sentences about contestants that no cell has."""
    for name, program in PROGRAMS.items():
        found = {each for cell in cells.values() if cell["program"] == name
                 for each in cell["contestants"]}
        absent = [each for each in (*program.peers, program.spin, program.sleep)
                  if each not in found]
        if absent:
            yield "Left out: %s of `%s`, which is built with %s." % (", ".join(absent), name,
                                                                     program.needs)


def table(rows):
    head, *others = rows
    lines = [head, ["---"] * len(head), *others]
    return ["| " + " | ".join(line) + " |" for line in lines] + [""]


def number(value):
    return "" if value is None else "%.2f" % value


def summary(rows, conditions):
    """For each program and condition: what its cells are like."""
    yield ["", "condition", "cells", "median", "least", "below 0.95", "below 1.0", *FIGURES]
    for name, program in PROGRAMS.items():
        for condition in conditions:
            found = [row[condition] for key, row in rows.items()
                     if key[0] == name and condition in row]
            if not found:
                continue
            rates = [each["rate"] for each in found]
            below = [sum(rate < limit for rate in rates) for limit in (0.95, 1)]
            figures = [[each[title] for each in found if title in each] for title in FIGURES]
            yield [program.title, title_of(condition), str(len(found)),
                   number(statistics.median(rates)), number(min(rates)), *map(str, below),
                   *(number(statistics.median(each) if each else None) for each in figures)]


def cell_rows(rows, conditions):
    yield ["", "work", "servers", "threads", *map(title_of, conditions)]
    for (program, work, servers, threads), row in rows.items():
        yield [PROGRAMS[program].title, work_title(work), str(servers), str(threads),
               *(number(row[each]["rate"] if each in row else None) for each in conditions)]


def schedules(cells):
    """How the cells were measured."""
    names = ("processors", "openings", "rounds", "milliseconds")
    for values in sorted({tuple(cell[name] for name in names) for cell in cells.values()}):
        yield ", ".join("%d %s" % pair for pair in zip(values, names)) + "."


def write_table(folder, cells, rows, conditions):
    lines = ["# Cells", "", *schedules(cells), *missing(cells), "",
             "Ratios of sheaf's rate to that of the better peer. p99, p99.9 and CPU: medians of",
             "the ratios of sheaf's time to that of the same peer. calls, allocs: the same of",
             "system calls and of allocations.", NOTE, "",
             *table(list(summary(rows, conditions))), *table(list(cell_rows(rows, conditions)))]
    with open(file_in(folder, "md"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines[:-1]) + "\n")


# The heat map: a block for each placement, a line for each work and number of servers.
FIELD = (44, 22)  # width and height
LEFT, TOP, HEAD = 230, 90, 84
ORANGE, NEUTRAL, BLUE = (230, 120, 50), (244, 244, 240), (90, 155, 225)
LEGEND = (0.5, 0.7, 0.85, 0.95, 1.0, 1.05, 1.2, 1.4, 2.0)


def colour(ratio):
    """Neutral at 1.0, full at half and at twice the peer's rate."""
    share = max(-1.0, min(1.0, math.log2(ratio)))
    end = BLUE if share > 0 else ORANGE
    return "#%02x%02x%02x" % tuple(round(a + (b - a) * abs(share)) for a, b in zip(NEUTRAL, end))


def text(x, y, what, more=""):
    return '<text x="%d" y="%d" %s>%s</text>' % (x, y, more, what)


def field(x, y, ratio):
    width, height = FIELD
    return ('<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>'
            % (x, y, width - 1, height - 1, colour(ratio))
            + text(x + width // 2, y + 15, number(ratio), 'text-anchor="middle"'))


def legend():
    yield text(10, 24, "Rate of sheaf / rate of the better peer", 'font-size="16"')
    for i, ratio in enumerate(LEGEND):
        yield field(LEFT + i * FIELD[0], 36, ratio)
    yield text(10, 51, "orange: slower, blue: faster")
    yield text(10, 78, NOTE)


def block(top, placement, lines, columns, ratios):
    """One placement: its heads, and a field for each ratio."""
    yield text(10, top + 20, "placement: " + placement, 'font-weight="bold"')
    heads = [("threads", "waits", "load")]
    heads += [(str(threads), waits, load(busy)) for threads, waits, busy in columns]
    for i, head in enumerate(heads):
        for row, what in enumerate(head):
            yield text(LEFT + i * FIELD[0] - FIELD[0] // 2, top + 38 + 16 * row, what,
                       'text-anchor="middle"')
    for row, (program, work, servers) in enumerate(lines):
        y = top + HEAD + row * FIELD[1]
        label = "%s, %s, %d server%s" % (PROGRAMS[program].title, work_title(work), servers,
                                         "" if servers == 1 else "s")
        yield text(10, y + 15, label)
        for i, column in enumerate(columns):
            ratio = ratios.get((placement, program, work, servers, *column))
            if ratio:
                yield field(LEFT + i * FIELD[0], y, ratio)


def write_map(folder, rows):
    ratios = {}
    for (program, work, servers, threads), row in rows.items():
        for c, found in row.items():
            key = (c.placement, program, work, servers, threads, c.waits, c.busy)
            ratios[key] = found["rate"]
    lines = list(dict.fromkeys(key[:3] for key in rows))
    columns = sorted({key[4:] for key in ratios}, key=lambda c: (c[0], WAITS.index(c[1]), c[2]))
    placements = sorted({key[0] for key in ratios})
    height = HEAD + len(lines) * FIELD[1] + 10
    size = (LEFT + max(len(columns), len(LEGEND)) * FIELD[0] + 10, TOP + len(placements) * height)
    drawn = list(legend())
    for i, placement in enumerate(placements):
        drawn += block(TOP + i * height, placement, lines, columns, ratios)
    with open(file_in(folder, "svg"), "w", encoding="utf-8") as file:
        file.write('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
                   'viewBox="0 0 %d %d" font-family="sans-serif" font-size="12" fill="#202020">\n'
                   '<rect width="100%%" height="100%%" fill="#ffffff"/>\n' % (*size, *size)
                   + "\n".join(drawn) + "\n</svg>\n")


def write(folder):
    """Writes cells.md and cells.svg from cells.jsonl."""
    cells = read(folder)
    rows, conditions = by_row(cells)
    write_table(folder, cells, rows, conditions)
    write_map(folder, rows)
