"""Reads the tree, and C++ as far as the rules need it: includes, declarations, functions."""

import functools
import glob
import os
import re

FOLDERS = ["include", "base", "protocol", "socket", "node", "cluster", "client", "store", "extras",
           "cli", "samples", "bench", "tests", "docs", "cmake", ".ci"]
# Where the product's code is: the beginnings of paths.
PRODUCT = ("include/", "base/", "protocol/", "socket/", "node/", "cluster/", "client/", "store/",
           "extras/", "cli/")
CPP = (".cpp", ".h")
TEXT = CPP + (".txt", ".cmake", ".in", ".py", ".sh", ".md", ".json", ".conf", ".yaml",
              ".c")
TEXT_NAMES = (".clang-format", ".clang-tidy", ".gitignore", "run", "LICENSE", "Dockerfile")


class File:
    """One file: `path` from the root with slashes, `text`, and `code`, which is the text without
    comments, with empty string literals and the same lines."""

    def __init__(self, path, text):
        self.path = path
        self.text = text
        self.lines = text.split("\n")
        self._code = None

    @property
    def is_cpp(self):
        return self.path.endswith(CPP)

    @property
    def code(self):
        if self._code is None:
            self._code = strip(self.text)
        return self._code

    def includes(self):
        """(line number, name with its brackets or quotes) of every #include."""
        found = re.finditer(r'^[ \t]*#[ \t]*include[ \t]*([<"][^>"\n]+[>"])', self.text, re.M)
        return [(self.text.count("\n", 0, m.start()) + 1, m.group(1)) for m in found]


def load(root):
    """Every text file of the project below `root`: the known folders and the files at the top."""
    files = []
    for top in sorted(os.listdir(root)):
        full = os.path.join(root, top)
        if os.path.isfile(full) and is_text(top):
            files.append(read(root, top))
        elif os.path.isdir(full) and top in FOLDERS:
            for folder, folders, names in os.walk(full):
                folders[:] = sorted(f for f in folders if f != "__pycache__")
                for name in sorted(filter(is_text, names)):
                    files.append(read(root, os.path.relpath(os.path.join(folder, name), root)))
    return files


def include_folders(root):
    """Where public headers are, from the root: those of sheaf, and of the libraries on it."""
    extras = sorted(glob.glob(os.path.join(root, "extras/*/include")))
    return ["include"] + [os.path.relpath(folder, root) for folder in extras]


def is_text(name):
    return name.endswith(TEXT) or name in TEXT_NAMES


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as source:
        return File(path.replace(os.sep, "/"), source.read())


LITERALS = re.compile(
    r'//[^\n]*'                                    # line comment
    r'|/\*.*?\*/'                                  # block comment
    r'|R"(?P<tag>[^ ()\\\t\n]*)\(.*?\)(?P=tag)"'   # raw string
    r'|"(?:\\.|[^"\\\n])*"'                        # string
    r"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'",      # character, not a digit separator
    re.S)


def strip(text):
    def blank(match):
        found = match.group(0)
        newlines = "\n" * found.count("\n")
        return newlines if found.startswith("/") else '""' + newlines
    return LITERALS.sub(blank, text)


class Declaration:
    """A declaration at namespace, class or enum scope. `kind` is type, function, field or
    enumerator. `body` is true if it has one. `scope` has the names of the namespaces and classes
    around it; `in_class` is true if the innermost is a class. Lines count from 1."""

    def __init__(self, kind, head, lines, public, stack, body=False):
        self.kind, self.head, self.public, self.body = kind, head, public, body
        self.first, self.last = lines
        self.scope = tuple(name for scope in stack for name in scope.names)
        self.in_class = stack[-1].kind == "class"


class Scope:
    def __init__(self, kind, public, names=(), declaration=None):
        self.kind, self.public, self.names, self.declaration = kind, public, names, declaration


PREFIX = re.compile(r"^(template\s*<[^{}]*?>(\s*requires\s*\([^{}]*?\))?|\[\[[^]]*\]\]|typedef)\s*")
TYPE = re.compile(r"^(class|struct|union|enum)\b(?!.*\)\s*(const|noexcept|override)?\s*$)", re.S)
IN_INIT_LIST = re.compile(r"\)[\w\s]*(?<!:):(?!:)(.*[,:])?\s*[\w:<>]+\s*$", re.S)


NAME = re.compile(r"^(?:inline\s+)?(?:namespace|class|struct|union)\b(?:\s+SHEAF_\w+)?"
                  r"\s*([\w:]*)")


def names_of(bare):
    """The names that a namespace or class adds to the scope. Inline namespaces add none."""
    if bare.startswith("inline"):
        return ()
    found = NAME.match(bare)
    return tuple(found.group(1).split("::")) if found and found.group(1) else ("",)


def bare_head(head):
    """`head` without template parameters and leading attributes."""
    head = head.strip()
    while PREFIX.match(head):
        head = PREFIX.sub("", head, count=1)
    return head


def classify(bare):
    """The kind of block that opens after a bare head at namespace or class scope."""
    if re.match(r"(inline\s+)?namespace\b", bare) or re.match(r'extern\s*""\s*$', bare):
        return "namespace"
    if TYPE.match(bare):
        return "enum" if bare.startswith("enum") else "class"
    if bare.count("(") != bare.count(")"):
        return "initializer"  # a default argument
    if "(" not in bare or IN_INIT_LIST.search(bare):
        return "initializer"
    assigned = re.search(r"(?<![=!<>])=(?!=)", bare.split("(")[0])
    if assigned and "operator" not in bare and "[" not in bare:
        return "initializer"
    return "function"


class Scanner:
    """Walks stripped code once and collects declarations. Thread rule: one use by one caller."""

    def __init__(self, code):
        # Preprocessor lines (with their continuations) are not declarations.
        self.code = re.sub(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*",
                           lambda m: "\n" * m.group(0).count("\n"), code, flags=re.M)
        self.found = []
        self.stack = [Scope("namespace", True)]
        self.head, self.head_line, self.line = "", 0, 1

    def run(self):
        for char in self.code:
            self.step(char)
            if char == "\n":
                self.line += 1
        if len(self.stack) != 1:
            raise ValueError("braces do not match")
        return self.found

    def step(self, char):
        top = self.stack[-1]
        if top.kind in ("function", "initializer"):
            if char == "{":
                self.stack.append(Scope(top.kind, False))
            elif char == "}":
                self.close()
        elif char == "{":
            self.open()
        elif char == "}":
            self.close()
        elif char == ";" or (char == "," and top.kind == "enum"):
            self.end_statement()
        else:
            self.extend(char)

    def extend(self, char):
        if not self.head.strip():
            self.head, self.head_line = "", self.line
        self.head += char
        label = re.match(r"\s*(public|protected|private)\s*:(?!:)$", self.head)
        if label and self.stack[-1].kind == "class":
            self.stack[-1].public = label.group(1) == "public"
            self.head = ""

    def open(self):
        bare = bare_head(self.head)
        kind = classify(bare)
        if kind == "initializer":
            self.stack.append(Scope(kind, False))
            return
        declaration = None
        if kind != "namespace":
            named = {"class": "type", "enum": "type"}.get(kind, kind)
            declaration = Declaration(named, self.head.strip(), (self.head_line, self.line),
                                      self.is_public(), self.stack, body=True)
            self.found.append(declaration)
        names = names_of(bare) if kind in ("namespace", "class") else ()
        self.stack.append(Scope(kind, not bare.startswith("class"), names, declaration))
        self.head = ""

    def close(self):
        if len(self.stack) == 1:
            raise ValueError("one closing brace too many in line %d" % self.line)
        top = self.stack[-1]
        if top.kind == "enum":
            self.end_statement()
        self.stack.pop()
        if top.kind == "initializer" and self.stack[-1].kind != "initializer":
            self.head += "{}"
        elif top.declaration and top.kind == "function":
            top.declaration.last = self.line
        if top.kind == "class":
            self.head = ""

    def is_public(self):
        return all(scope.public for scope in self.stack)

    def end_statement(self):
        head, top = self.head.strip(), self.stack[-1]
        self.head = ""
        if not head:
            return
        if top.kind == "enum":
            kind = "enumerator"
        elif re.match(r"using\b|typedef\b", bare_head(head)):
            kind = "type"
        elif "(" in head.split("=")[0].replace("operator", "operator("):
            kind = "function"
        else:
            kind = "field"
        self.found.append(Declaration(kind, head, (self.head_line, self.line), self.is_public(),
                                      self.stack))


@functools.cache  # several rules ask for the declarations of each file
def declarations(code):
    return Scanner(code).run()
