#!/usr/bin/env python3
"""Compares docs/errors.md with the sentences in the library's sources.

errors.py ROOT: prints what the page lacks, and what the sources no longer say.
errors.py ROOT --fix: writes the tables of outcomes and reasons, removes sentences that the sources
no longer have, and adds those that are new at the end, for a person to explain.

A sentence of the page is made of string literals of one source file, with placeholders between
them: words in capitals that the page's first table explains. Each literal that reads as a part of a
sentence, because it has a small letter and a blank, is in a sentence of the page.
"""

import collections
import os
import re
import sys
import textwrap

sys.dont_write_bytecode = True

import source  # noqa: E402

PAGE = "docs/errors.md"
# The library. The store's plugin speaks in its broker's log, the program at its command line.
LIBRARY = ("base/", "client/", "cluster/", "extras/", "include/", "node/", "protocol/", "socket/",
           "store/durable/", "store/engine/", "store/pipe/", "store/server/")
# Files whose literals are parts of sentences of other files.
SHARED = ("base/refusal.cpp", "base/server_names.h", "base/text.cpp",
          "cluster/config/config_check.h", "cluster/config/config_options.cpp",
          "cluster/moving/sender.cpp", "protocol/connection_life.cpp")
# What has a blank and belongs to no error and no event: a file, and which of its literals.
OTHER_TEXTS = {
    "base/checks.cpp": r"",  # ends the process
    "base/result.cpp": r"",  # is written into the page whole
    "base/text.cpp": r" (?:ns|us|ms|s)$",
    "client/list/store_register.cpp": r"sheaf list $",  # the holder of a list's lock
    "client/runtime/features.cpp": r"(?!failover=|:// does|; only| does$)",  # names of features
    "client/runtime/prometheus.cpp": r"",  # help of metrics
    "cluster/config/config_options.cpp": r".*\.$|durability|acknowledged",  # help of options
    "extras/discovery/fleet_inquiry.cpp": r"config get |get Amazon|CONFIG |VALUE ",
    "extras/migration/stage_file.cpp": r"[{,]\n",  # the file itself
    "extras/migration/stage_rules.h": r"\0",  # a placeholder that servers store
    "node/certificate_warnings.cpp": r"%",
    "protocol/memcached/header.cpp":  # an answer, and the names of statuses
        r"ERROR |key (?:not|exists)|value too|invalid arg|not |wrong v|authent|unknown (?:com|st)"
        r"|out of|internal|temporary",
    "protocol/memcached/meta_lines.cpp": r"",  # requests
    "protocol/memcached/meta_replies.cpp": r"",  # looked for in answers, as in the next one
    "protocol/memcached/meta_session.cpp": r"Too many|cannot increment",
    "protocol/memcached/meta_writer.cpp": r"set login",
    "protocol/mqtt5/reason_code.cpp": r"",  # the names of the standard
    "protocol/memcached/session.cpp": r"memcached $",  # a server's name
    "protocol/operation.h": r"",  # names of operations
    "protocol/resp/changes/change.cpp": r"local |if ",  # scripts
    "protocol/resp/cluster/server_facts.cpp": r"(?:Redis|Valkey|Garnet) $",  # names of servers
    "protocol/resp/wire/server_error.cpp": r"",  # looked for in answers
    "protocol/speaker.cpp": r"(?:ERROR|CLIENT_ERROR|SERVER_ERROR|HTTP/|-[A-Z]+|SSH-|220)[\s/-]",
    "protocol/statestore/errors.cpp": r"(?:timestamp|fencing|quota|key|store) ",
    "socket/tls/tls_context.cpp": r"private key$",  # the label in a file
    "socket/tls/tls_notes.cpp": r"%",
    "store/durable/sqlite_file.cpp": r"[ ;]*(?:[A-Z]+ )+",
}
COLUMNS = 100
HOW = "run tests/structure/errors.py ROOT --fix, then write cause and remedy into " + PAGE
FIELDS = ("Comes as", "Cause", "Remedy")
NEW = "## New sentences"
BEGIN, END = "<!-- from the sources -->", "<!-- end -->"


# ---- what the sources say

class Literal:
    """A literal without escapes, with the string literals that directly follow it. `before` is the
    code between it and the literal before it."""

    def __init__(self, path, line, text, before):
        self.path, self.line, self.text, self.before = path, line, text, before

    def is_said(self):
        other = OTHER_TEXTS.get(self.path)
        return bool(re.search("[a-z]", self.text) and " " in self.text
                    and not (other is not None and re.match(other, self.text)))


ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}


def unescaped(text):
    return re.sub(r"\\(.)", lambda m: ESCAPES.get(m.group(1), m.group(1)), text, flags=re.S)


def blanked(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def literals(file):
    """All literals of a file but raw strings and those that only the compiler says."""
    text = re.sub(r"^[ \t]*#[^\n]*|\bstatic_assert\([^;]*;", blanked, file.text, flags=re.M)
    text = source.LITERALS.sub(lambda m: blanked(m) if m.group(0)[0] in "/R" else m.group(0), text)
    found, end = [], 0
    for match in source.LITERALS.finditer(text):
        before, said = text[end:match.start()], unescaped(match.group(0)[1:-1])
        if found and not before.strip():
            found[-1].text += said
        else:
            line = text.count("\n", 0, match.start()) + 1
            found.append(Literal(file.path, line, said, before))
        end = match.end()
    return found


def drafts(said):
    """Sentences of the literals of a file, as far as they can be guessed, for a person to mend:
    (sentence, its literals)."""
    groups = []
    for literal in said:
        before = literal.before
        if not groups or re.search(r"[;{}?]|\breturn\b| : |\|\|", before) or before.strip() in ",:":
            groups.append([])
        groups[-1].append(literal)
    for group in groups:
        yield " ".join(" TEXT ".join(each.text for each in group).split()), group


# ---- what the page says

class Section:
    def __init__(self, title, line):
        self.title, self.line, self.fields, self.items = title, line, {}, []

    def sentences(self):
        return [(line, sentence) for line, item in self.items for sentence in item]


def sections_of(page):
    """The sections of the third level, with their fields and the sentences of their items."""
    found, text = [], re.sub(r"(?s)%s.*?%s" % (BEGIN, END), blanked, page)
    for match in re.finditer(r"(?ms)^(?:(### )|(- )|(%s): |(##? ))(.*?)(?=\n\n|\n- |\n#|\Z)"
                             % "|".join(FIELDS), text):
        title, item, field, above, body = match.groups()
        line = text.count("\n", 0, match.start()) + 1
        if title:
            found.append(Section(body, line))
        elif above:
            found.append(Section(None, line))
        elif item and found[-1].title:
            found[-1].items.append((line, [" ".join(each.split())
                                           for each in re.findall("`([^`]*)`", body)]))
        elif field:
            found[-1].fields[field] = " ".join(body.split())
    return [section for section in found if section.title]


def placeholders(page):
    """The words of the page's first table."""
    return re.findall(r"(?m)^\| `([A-Z_]+)` \|", page)


class Pieces:
    """The literals of one file, which sentences are made of."""

    def __init__(self, own, shared, words):
        self.own = own
        self.texts = {each.text for each in own + shared if each.text}
        self.first = {each.text.strip() for each in own
                      if " " in each.text and each.text.strip()}
        self.words = words
        self.used = set()

    def ways(self, sentence):
        """(begin, end, literal or "" for a placeholder) of everything that fits somewhere."""
        size = len(sentence)
        for text in self.texts:
            for part in {text, text.lstrip(), text.rstrip(), text.strip()} - {""}:
                for at in find_all(sentence, part):
                    end = at + len(part)
                    cut_left, cut_right = not text.startswith(part), not text.endswith(part)
                    if text.strip() == part and text != part:
                        cut_left, cut_right = text[0] == " ", text[-1] == " "
                    if (at == 0 or not cut_left) and (end == size or not cut_right):
                        yield at, end, text
        for word in self.words:
            for match in re.finditer(r"(?<![A-Z_])%s(?![A-Z_])( ?)" % word, sentence):
                yield match.start(), match.end(1), ""  # the blank may be of another file
                yield match.start(), match.start(1), ""

    def make(self, sentence):
        """True if the sentence is made of pieces. Notes which ones."""
        if not any(text in sentence for text in self.first):
            return False  # as nearly all
        ways = list(self.ways(sentence))
        begun, left = {0}, {len(sentence)}
        for at, end, _ in sorted(ways):
            if at in begun:
                begun.add(end)
        for at, end, _ in sorted(ways, key=lambda way: -way[1]):
            if end in left:
                left.add(at)
        if 0 not in left:
            return False
        self.used |= {text for at, end, text in ways if at in begun and end in left}
        return True


def splits(left, right):
    """True if a word ends in the one text and goes on in the other."""
    before, after = left[-1:], right[:1]
    return before.isalnum() and after.isalnum() and not (before.islower() and after.isupper())


def find_all(text, part):
    """Where a part is in a text, not within a word."""
    at = text.find(part)
    while at >= 0:
        end = at + len(part)
        if not (splits(text[:at], part) or splits(part, text[end:])):
            yield at
        at = text.find(part, at + 1)


# ---- the tables of outcomes and reasons

def enumerators(header, name):
    """(name, comment) of an enumeration of include/sheaf/result.h."""
    body = re.search(r"enum class %s [^{]*\{(.*?)\};" % name, header, re.S).group(1)
    return re.findall(r"(\w+),?\s*///< (.*)", body)


def words_of(cpp, name):
    return dict(re.findall(r'(?:case |\{)%s::(\w+)(?::\s*return|,) "([^"]*)"[;}]' % name, cpp))


def tables(files):
    header, cpp = files["include/sheaf/result.h"].text, files["base/result.cpp"].text
    cpp = re.sub(r'"\s*\n\s*"', "", cpp)
    advice = {name: (cause, remedy) for name, cause, remedy in re.findall(
        r'\{Reason::(\w+),\s*"([^"]*)",\s*"([^"]*)"\}', cpp)}
    rows = ["| outcome | what it means |", "|---|---|"]
    words = words_of(cpp, "Outcome")
    rows += ["| `%s` | %s |" % (words[name], text) for name, text in enumerators(header, "Outcome")]
    rows += ["", "| reason | cause | remedy |", "|---|---|---|"]
    words = words_of(cpp, "Reason")
    for name, comment in enumerators(header, "Reason"):
        cause, remedy = advice.get(name, (comment, "The text says it."))
        rows.append("| `%s` | %s | %s |" % (words[name], cause, remedy))
    return "%s\n\n%s\n\n%s" % (BEGIN, "\n".join(rows), END)


# ---- comparing

class Comparison:
    def __init__(self, root):
        self.files = {file.path: file for file in source.load(root)}
        self.page = self.files[PAGE].text
        self.sections = sections_of(self.page)
        self.said = {path: literals(file) for path, file in self.files.items()
                     if file.is_cpp and path.startswith(LIBRARY)}
        shared = [each for path in SHARED for each in self.said.get(path, [])]
        words = placeholders(self.page)
        self.pieces = {path: Pieces(said, shared, words) for path, said in self.said.items()}
        self.gone = [(line, sentence) for section in self.sections
                     for line, sentence in section.sentences() if not self.is_said(sentence)]

    def is_said(self, sentence):
        return any([pieces.make(sentence) for pieces in self.pieces.values()])

    def missing(self):
        """The literals that no sentence of the page has. A shared one may be in any sentence."""
        everywhere = set().union(*(pieces.used for pieces in self.pieces.values()))
        for path, said in sorted(self.said.items()):
            used = everywhere if path in SHARED else self.pieces[path].used
            yield from (each for each in said if each.is_said() and each.text not in used)

    def problems(self):
        if tables(self.files) not in self.page:
            yield "%s:1: the tables differ from base/result.cpp: run errors.py ROOT --fix" % PAGE
        for each in self.missing():
            yield "%s:%d: %s is not in %s: %s" % (each.path, each.line, repr(each.text), PAGE, HOW)
        for line, sentence in self.gone:
            yield "%s:%d: the library does not say this: %s" % (PAGE, line, sentence)
        yield from self.problems_of_page()

    def problems_of_page(self):
        times = collections.Counter(text for each in self.sections for _, text in each.sentences())
        for section in self.sections:
            for field in FIELDS:
                if section.fields.get(field, "?") == "?":
                    yield "%s:%d: write \"%s: ...\" below \"%s\"" % (
                        PAGE, section.line, field, section.title)
            for word in re.findall("`([^`]*)`", section.fields.get("Comes as", "")):
                if "| `%s` |" % word not in tables(self.files) and word not in ("event", "log"):
                    yield "%s:%d: there is no outcome or reason %s" % (PAGE, section.line, word)
            if not section.items:
                yield "%s:%d: no sentence: remove the section" % (PAGE, section.line)
            for line, sentence in section.sentences():
                if times[sentence] > 1:
                    yield "%s:%d: this is listed twice: %s" % (PAGE, line, sentence)
        if NEW in self.page:
            yield "%s: move the new sentences to where they belong" % PAGE

    def fixed(self):
        """The page with new tables, without what is gone, and with what is new at its end."""
        page = re.sub(r"(?s)%s.*?%s" % (BEGIN, END), lambda _: tables(self.files), self.page)
        lines = page.split("\n")
        gone = {sentence for _, sentence in self.gone}
        for section in reversed(sections_of(page)):
            for line, item in reversed(section.items):
                left = [sentence for sentence in item if sentence not in gone]
                lines[line - 1:end_of_item(lines, line)] = item_of(left)
        missing = collections.defaultdict(list)
        for each in self.missing():
            missing[each.path].append(each)
        text = "\n".join(lines).rstrip("\n") + "\n"
        if missing and NEW not in text:
            text += "\n%s\n" % NEW
        for path, new in missing.items():
            text += "\n### %s\n\n%s\n\n" % (path, "\n\n".join("%s: ?" % each for each in FIELDS))
            for sentence, group in drafts(self.said[path]):
                if any(each in new for each in group):
                    text += "\n".join(item_of([sentence])) + "\n"
        return text


def item_of(sentences):
    """The lines of an item with these sentences; none without sentences. A sentence is in one line
    if it fits, so that it is found."""
    lines = []
    for sentence in sentences:
        span = "`%s`;" % sentence if sentence is not sentences[-1] else "`%s`" % sentence
        if lines and len(lines[-1]) + 1 + len(span) <= COLUMNS:
            lines[-1] += " " + span
        else:
            lines += textwrap.wrap(("  " if lines else "- ") + span, COLUMNS,
                                   subsequent_indent="  ", break_long_words=False,
                                   break_on_hyphens=False)
    return lines


def end_of_item(lines, line):
    """The number of the last line of the item that begins in `line`."""
    while line < len(lines) and lines[line].startswith("  "):
        line += 1
    return line


def main():
    root = sys.argv[1]
    if "--fix" in sys.argv[2:]:
        text = Comparison(root).fixed()
        with open(os.path.join(root, PAGE), "w", encoding="utf-8") as page:
            page.write(text)
    compared = Comparison(root)
    found = ["tests/structure/errors.py:1: there is no " + path
             for path in (*SHARED, *OTHER_TEXTS) if path not in compared.files]
    found += compared.problems()
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
