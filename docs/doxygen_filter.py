#!/usr/bin/env python3
"""Prints a public header as Doxygen is to read it: doxygen_filter.py HEADER (see docs/Doxyfile).

In a header one `///` comment may stand for several functions, up to the next blank line. Doxygen
knows no such groups, so each further function of the same name gets a copy of the comment, in its
own line. The inline namespace is left out, because programs do not write it. The dots of a range,
`1 .. 64`, become a dash, because Doxygen takes them for the end of a sentence. Line numbers stay as
they are.
"""

import re
import sys

INLINE_NAMESPACE = re.compile(r"inline namespace \w+ \{|\}  // namespace v\d+")
FUNCTION = re.compile(r"(?!.*= (?:default|delete);)[^(~]*\b(operator\W+|\w+)\(")
DOTS = re.compile(r" \.\.(?= |$)")


def filtered(lines):
    comment, name, before = [], "", ""  # the comment above, whose it is, the line before
    for line in lines:
        text = line.strip()
        code = text if text.startswith("///") else text.split("//")[0].rstrip()
        if INLINE_NAMESPACE.fullmatch(text):
            line = ""
        elif text.startswith("///"):
            comment = (comment if before.startswith("///") else []) + [text[3:].strip()]
            name = ""
        elif not text:
            comment = []
        elif FUNCTION.match(code) and (before.startswith("///") or before.endswith((";", "}"))):
            if comment and FUNCTION.match(code).group(1) == name:
                line = "/** %s */ %s" % (" ".join(comment), text)
            name = FUNCTION.match(code).group(1)
        before = code
        line = DOTS.sub(" –", line)
        yield line


def main():
    sys.stdout.reconfigure(encoding="utf-8")
    with open(sys.argv[1], encoding="utf-8") as header:
        for line in filtered(header.read().splitlines()):
            print(line)


if __name__ == "__main__":
    main()
