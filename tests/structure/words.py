"""Rules about pages and words. Each takes the files and yields "path:line: what is wrong" lines."""

import functools
import posixpath
import re

from rules import is_public
from source import PRODUCT

MAX_COLUMNS = 100
GLOSSARY = "docs/glossary.md"

# The project's own words, in addition to those of the field. Each has a row in the glossary.
OWN_WORDS = [
    "baton", "claim", "context", "crowd", "drive", "event log", "extra connection", "gap", "head",
    "hedged read", "hole", "idle hook", "join", "journal", "keeper", "lane", "leader", "linger",
    "listener", "park", "path", "pending operation", "plan", "probe", "procedure", "promoted",
    "ramp", "register", "registry", "release backoff", "rest", "runtime", "seam", "segment", "sink",
    "slot", "tenure", "turn", "window", "work",
]

# Words that were replaced by those of the field. No identifier and no file name has them; a retired
# term of two words is written with a blank.
RETIRED_WORDS = [
    "board", "courtesy", "crowned", "deed", "dismiss", "finding session", "guest", "hub", "hurry",
    "let go", "looked at", "news", "other way", "pilot", "piloted", "roster", "seat", "seats",
    "side path", "spell", "spelled", "summon", "summoned", "summoner",
]


def pages(files):
    return [f for f in files if f.path.endswith(".md")]


def wrapped_pages(files):
    """Pages have 100 columns. Only tables may be wider."""
    for file in pages(files):
        for number, text in enumerate(file.lines, 1):
            if len(text) > MAX_COLUMNS and not text.lstrip().startswith("|"):
                yield "%s:%d: %d columns" % (file.path, number, len(text))


LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([^)]*))?\)")
NAMED_IN_PAGE = re.compile(r"`([\w./-]+\.(?:h|cpp|md|py|cmake|sh))`")
NAMED_IN_COMMENT = re.compile(r"(?<![\w./<-])([\w-][\w/-]*\.(?:h|cpp|md|py))\b")


MEMBER_IN_PAGE = re.compile(r"\b[A-Z]\w+::(~?[a-z_]\w*)")
RULE_OR_HEADING = re.compile(r"([\w/.-]+\.md), (?:([A-Z]\d+)|\"([^\"]+)\")")


def members(files):
    """A class member that a page names exists in the code."""
    names = {name for file in files if file.is_cpp for name in re.findall(r"\w+", file.code)}
    for file in pages(files):
        for number, text in enumerate(file.lines, 1):
            for member in MEMBER_IN_PAGE.findall(text):
                if member.lstrip("~") not in names:
                    yield "%s:%d: there is no member %s" % (file.path, number, member)


def cited_rules(files):
    """A numbered rule or a heading of a page that a comment cites exists."""
    known = {f.path: f for f in files}
    for file in (f for f in files if f.is_cpp):
        for page, rule, heading in RULE_OR_HEADING.findall(re.sub(r"\n\s*//+", "", file.text)):
            text = known[page].text if page in known else ""
            if not re.search(r"^- %s\. " % rule if rule else r"^#+ %s$" % re.escape(heading), text,
                             re.M):
                yield "%s:1: %s has no %s" % (file.path, page, rule or heading)


def references(files):
    """A file that a page or a comment names, and a heading that a link leads to, exists."""
    known = {f.path: f for f in files}
    names = {posixpath.basename(path) for path in known} | {
        path[path.index("include/") + len("include/"):] for path in known if is_public(path)}
    for file in files:
        for number, text in enumerate(file.lines, 1):
            for name in named_files(file, text):
                if name not in known and name not in names:
                    yield "%s:%d: there is no %s" % (file.path, number, name)
            for target, heading in LINK.findall(text) if file.path.endswith(".md") else []:
                path = posixpath.normpath(posixpath.join(posixpath.dirname(file.path), target))
                page = known.get(path if target else file.path)
                folder = any(other.startswith(path + "/") for other in known)
                if page is None and not folder or heading and heading not in headings(page):
                    yield "%s:%d: the link leads nowhere: %s" % (file.path, number, target)


def named_files(file, text):
    if file.path.endswith(".md"):
        return NAMED_IN_PAGE.findall(text)
    comment = text.find("//") if file.is_cpp else -1
    return NAMED_IN_COMMENT.findall(text[comment:]) if comment >= 0 else []


def headings(page):
    """The anchors of a page's headings, as the usual renderers make them."""
    lines = page.lines if page else []
    found = [text.lstrip("#").strip().lower() for text in lines if text.startswith("#")]
    return {re.sub(r"[^\w -]", "", text).replace(" ", "-") for text in found}


def words_of(name):
    """The words of an identifier or a path, in small letters: LookedAt -> looked at."""
    found = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)
    return [word.lower() for word in found]


def has_words(words, wanted):
    """True if the words of `wanted` are consecutive in `words`."""
    size = len(wanted)
    return any(words[i:i + size] == wanted for i in range(len(words) - size + 1))


def retired_words(files, retired=None):
    """Retired words do not return in the identifiers and file names of the product."""
    wanted = [word.split() for word in (RETIRED_WORDS if retired is None else retired)]

    @functools.cache  # most names occur many times
    def retired_in(name):
        words = words_of(name)
        return [" ".join(each) for each in wanted if has_words(words, each)]

    for file in (f for f in files if f.is_cpp and f.path.startswith(PRODUCT)):
        names = [(1, file.path)]
        for number, text in enumerate(file.code.split("\n"), 1):
            names += [(number, name) for name in re.findall(r"[A-Za-z_]\w*", text)]
        for number, name in names:
            for word in retired_in(name):
                yield "%s:%d: %s: the word \"%s\" is retired" % (file.path, number, name, word)


def constants(files):
    """Constants are in snake_case, as everything else, without a prefix."""
    for file in (f for f in files if f.is_cpp):
        for number, text in enumerate(file.code.split("\n"), 1):
            for name in re.findall(r"\bk[A-Z]\w*\b", text):
                yield "%s:%d: %s: a constant is in snake_case" % (file.path, number, name)


def glossary_rows(files):
    """(line, word) of each row; a row may have several words with commas between them."""
    for file in (f for f in files if f.path == GLOSSARY):
        for number, text in enumerate(file.lines, 1):
            cells = re.match(r"\|\s*([^|]+?)\s*\|", text)
            if cells and cells.group(1) != "word" and not set(cells.group(1)) <= set("-"):
                yield number, cells.group(1)


def glossary(files, own=None):
    """Every own word has a row, all words of rows are used, rows are in order."""
    own = OWN_WORDS if own is None else own
    rows = list(glossary_rows(files))
    known = {word for _, row in rows for word in row.split(", ")}
    for word in own:
        if word not in known:
            yield "%s:1: no row for \"%s\"" % (GLOSSARY, word)
    names = [row.lower() for _, row in rows]
    for (number, row), before in zip(rows[1:], names):
        if row.lower() <= before:
            yield "%s:%d: \"%s\" does not stand in the order of the alphabet" % (
                GLOSSARY, number, row)
    used = used_text(files)
    for number, row in rows:
        for word in row.split(", "):
            if not re.search(r"\b%s" % re.escape(word.lower()), used):
                yield "%s:%d: nobody uses the word \"%s\"" % (GLOSSARY, number, word)


def used_text(files):
    """All words of the product and the pages; identifiers are split into their words."""
    texts = []
    for file in files:
        if file.is_cpp and file.path.startswith(PRODUCT):
            # A term of two words may be split over two lines of a comment.
            text = re.sub(r"\n\s*//+", " ", file.text)
            texts.append(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).replace("_", " "))
        elif file.path.endswith(".md") and file.path != GLOSSARY:
            texts.append(file.text)
    return re.sub(r"\s+", " ", " ".join(texts)).lower()


RULES = [wrapped_pages, references, members, cited_rules, retired_words, constants, glossary]
