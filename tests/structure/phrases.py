"""Phrases that comments and pages do not use, because a reader has to read them twice.

Only prose counts: no code, no string literals, no fenced blocks, no text in backticks, double
quotes or angle brackets, and no targets of links.
"""

import io
import posixpath
import re
import tokenize

from source import LITERALS

# A sentence begins at the beginning of a paragraph, an item or a cell, or after another.
BEGINS = r"(?:^(?:(?:[-*>]|\d+\.) )?\s*|(?<=[.!?:] )|(?<=\| ))"
ENDS = r"(?=\s*(?:[.;:,)|]|$))"

# What is refused, and what to write instead.
PHRASES = [(re.compile(pattern), better) for pattern, better in (
    (BEGINS + r"Of (?!course\b)[a-z]", "a subject, such as \"A node that ...\""),
    (r"(?<=\bthat )(?:is|are|was|were) none\b(?! of\b)|(?<=\bthat was there )is none\b"
     r"|(?<!\bthere )\b(?:is|are|was|were) none" + ENDS, "\"is not one\", or what it is instead"),
    (r"\b(?:be|is|are|was|were|been) had\b", "\"is available\", \"can be taken\", \"gets\""),
    (r"\banew\b", "\"again\""),
    (r"\b[Ww]hoever\b", "the subject, such as \"a caller that\""),
    (r"\b[Nn]obody\b", "\"no caller\", \"no one else\", \"nothing\""),
    (r"\b[Ww]hom\b", "the subject, or \"that\""),
    (r"\bfor good" + ENDS, "\"permanently\""),
    (r"\bas good as (?:none|nothing)\b", "\"no\", \"nearly none\""),
    (r"\b[Hh]ears? of\b", "\"learns of\", \"notices\""),
    (r"\b(?:go|goes|went|going|gone) on(?=[.:;,]|$| (?:as|with|while|until|after|\w+ing)\b)",
     "\"continues\""),
    (r"\b[Ww]hat (?:it|that|this|all|each) comes to\b", "\"the result\""),
    (r"\blives on" + ENDS, "\"outlives\", \"continues\""),
    (r"\bin earnest\b", "\"in production\", \"really\""),
    (r"\b[Bb]eside\b", "\"besides\", \"with\", \"next to\", \"in addition to\""),
    (r"\btells (?:that|whether|if|what|how|when|who)\b", "\"says\", \"reports\""),
    (r"\bstands\b(?! (?:for|in|out)\b)", "\"is\""),
)]

# Only at the beginning of a comment in a program.
FIRST_WORDS = [(re.compile(pattern), better) for pattern, better in (
    (r"^Whether\b", "\"True if\""),
    (r"^Who\b(?!.*\?)", "the subject, such as \"A caller that\""),
)]


class Prose:
    """A paragraph as one line; `starts` has the offset and the number of each of its lines."""

    def __init__(self, on_code):
        self.text, self.starts, self.on_code = "", [], on_code

    def add(self, number, text):
        self.text += " " if self.text else ""
        self.starts.append((len(self.text), number))
        self.text += text

    def line_at(self, offset):
        return max(number for start, number in self.starts if start <= offset)


ITEM = re.compile(r"(?:[-*|>]|#+|\d+\.) ")


def paragraphs(lines, on_code):
    """`lines` are (number, column, text). Those that follow each other in one column are one
    paragraph, up to an empty one, an item of a list, a row of a table or a heading."""
    prose, before = None, None
    for number, column, text in lines:
        text = text.strip()
        if prose and (before != (number - 1, column) or not text or ITEM.match(text)):
            yield prose
            prose = None
        before = (number, column)
        if text:
            prose = prose or Prose(on_code)
            prose.add(number, text)
    if prose:
        yield prose


def comments_of_cpp(text):
    """(number, column, text) of each line of a comment. An empty text separates it from what came
    before, because code is between them."""
    for match in LITERALS.finditer(text):
        found = match.group(0)
        if not found.startswith("/"):
            continue
        number = text.count("\n", 0, match.start()) + 1
        column = match.start() - text.rfind("\n", 0, match.start())
        if text[match.start() - column + 1:match.start()].strip():
            yield number, column, ""
        for line in re.sub(r"\*/$", "", found).split("\n"):
            yield number, column, re.sub(r"^\s*/?[/*]+<?", "", line)
            number += 1


def comments_of_python(text):
    """The same for comments and documentation strings."""
    fresh = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            if token.line[:token.start[1]].strip():
                yield token.start[0], token.start[1], ""
            yield token.start[0], token.start[1], token.string.lstrip("#!")
        elif token.type == tokenize.STRING and fresh and token.string.startswith('"""'):
            for offset, line in enumerate(token.string.strip('"').split("\n")):
                yield token.start[0] + offset, token.start[1], line
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            fresh = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def comments_of_scripts(text):
    """The same for files whose comments begin with #. Only whole lines count."""
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"\s*#(?!!)", line):
            yield number, line.index("#"), line.strip().lstrip("#")


def lines_of_page(text):
    """The same for the lines of a page outside of fenced blocks."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"\s*```", line):
            fenced = not fenced
        elif not fenced:
            yield number, 0, line


READERS = {".md": lines_of_page, ".cpp": comments_of_cpp, ".h": comments_of_cpp,
           ".c": comments_of_cpp, ".py": comments_of_python, ".sh": comments_of_scripts,
           ".txt": comments_of_scripts, ".cmake": comments_of_scripts, ".in": comments_of_scripts,
           ".conf": comments_of_scripts, ".yaml": comments_of_scripts}
NAMED = re.compile(r"`[^`]*`|\"[^\"]*\"|\]\([^)]*\)|<\S[^<>]*>")


def prose_of(file):
    end = posixpath.splitext(file.path)[1]
    reader = READERS.get(end)
    if reader is None or re.search(r"\b(?:symbols|links)\w*\.txt$", file.path):
        return
    for prose in paragraphs(reader(file.text), end in (".h", ".cpp", ".c", ".py")):
        # What is quoted keeps its length, so that offsets stay right, and no word of it is seen.
        prose.text = NAMED.sub(lambda found: "x" * len(found.group(0)), prose.text)
        prose.text = prose.text.replace("**", "  ").replace("*", " ")
        yield prose


def retired_phrases(files):
    """Retired phrases do not return in comments and pages."""
    for file in files:
        for prose in prose_of(file):
            for pattern, better in PHRASES + (FIRST_WORDS if prose.on_code else []):
                for match in pattern.finditer(prose.text):
                    yield "%s:%d: \"%s\": write %s" % (
                        file.path, prose.line_at(match.start()), match.group(0).strip(), better)


RULES = [retired_phrases]
