"""Looks whether the console's texts stand in Sources/Console/texts.js: no other file holds words that people read, each text
that a file asks for is there, and each that is there is asked for."""

import os
import re

FILES = os.path.join(os.path.dirname(__file__), "..", "..", "Sources", "Console")
# What runs without the texts.
ALONE = ("sw.js", "sw-end.js", "texts.js")
IMPORT = """const { texts } = await import(document.querySelector('link[href$="/texts.js"]').href);"""
# Whether each text is a function, by its path. A list is one text.
PATHS = """async () => { IMPORT
  const walk = (value, path) => typeof value === "object" && !Array.isArray(value)
    ? Object.entries(value).flatMap(([key, each]) => walk(each, `${path}.${key}`)) : [[path, typeof value === "function"]];
  return Object.fromEntries(walk(texts, "texts")); }""".replace("IMPORT", IMPORT)
COMMENT = re.compile(r"(?<!\S)//[^\n]*|/\*.*?\*/", re.DOTALL)
# Strings, patterns, and what templates and their values begin and end with.
TOKEN = re.compile(r"""(["'])(?:\\.|(?!\1)[^\\\n])*\1|(?<=[(,=:\[!&|?{};]) ?/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/|[`{}]""")
# Two words in a row, or one that begins as a heading does. One small word alone may as well be a code.
READ = re.compile(r"[A-Za-z]{2,} [A-Za-z]{2,}|^(\W )?[A-Z][a-z]+(?=[ .:…?!]|$)")
GRAPHQL = re.compile(r"\{\s|^(id|items) ")
ALLOWED = {
    "Android", "Chrome", "Edge", "Firefox", "Linux", "Mac OS", "Safari", "Windows",  # Names of products.
    "Create", "Update",  # Parts of the names of GraphQL's fields.
    "Escape",  # A key.
    "noopener noreferrer",  # An attribute.
    'main select[aria-label="…"]', "main article:not([hidden])",  # Selectors.
    "open incidents", "read numbers",  # Answers that the browser keeps.
    "signed out",  # What one tab tells the others.
}


def sources():
    """The console's files by name, without comments; lines stay where they are."""
    for name in sorted(os.listdir(FILES)):
        if name.endswith(".js"):
            with open(os.path.join(FILES, name), encoding="utf-8") as file:
                yield name, COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), file.read())


def read_code(source, at, found):
    """Adds strings and templates with their places, up to the brace that ends a template's value, or the end."""
    depth = 0
    while token := TOKEN.search(source, at):
        at, text = token.end(), token[0]
        if text == "`":
            at = read_template(source, at, found)
        elif text in "{}":
            depth += 1 if text == "{" else -1
            if depth < 0:
                return at
        elif text[0] in "\"'":
            found.append((token.start(), text[1:-1]))
    return len(source)


def read_template(source, at, found):
    """Adds a template, with `…` for each of its values."""
    start, text = at - 1, ""
    while source[at] != "`":
        if source.startswith("${", at):
            at, text = read_code(source, at + 2, found), text + "…"
        else:
            at, text = at + 1, text + source[at]
    found.append((start, text))
    return at + 1


def strays():
    """Words that people read in other files, and words that are allowed there for nothing."""
    wrong, allowed = [], set()
    for name, source in sources():
        found = []
        if name not in ALONE:
            read_code(source, 0, found)
        for at, text in sorted(found):
            is_class = re.search(r"className: [^,{}]*$", source[:at])
            if is_class or GRAPHQL.search(text) or not READ.search(text):
                continue
            allowed.add(text)
            if text not in ALLOWED:
                wrong.append(f"{name} line {source.count(chr(10), 0, at) + 1}: {text}")
    return wrong + [f"no file has {text!r} any more" for text in sorted(ALLOWED - allowed)]


def mismatches(paths):
    """What files ask for that is not there, or is asked for as what it is not, and what nobody asks for. `paths` says of each
    text whether it is a function."""
    wrong, asked = [], set()
    for name, source in sources():
        for use in re.finditer(r"(?<!/)\btexts((?:\.\w+)+)", source):
            path = use[0].removesuffix(".map")
            within = {each for each in paths if each.startswith(path + ".")}
            asked |= within | {path}
            if path not in paths and not within:
                wrong.append(f"{name} asks for {path}, which is not there")
            if path in paths and paths[path] != source.startswith("(", use.end()) and path == use[0]:
                wrong.append(f"{name} asks for {path}, which is {'a function' if paths[path] else 'a text'}")
    return wrong + [f"nobody asks for {path}" for path in sorted(paths.keys() - asked)]


def check(here):
    """Reports both, at a page of the console."""
    here.same("what people read stands in texts.js alone", strays(), [])
    here.same("each text that is asked for is there, and each that is there is asked for", mismatches(here.page.evaluate(PATHS)), [])
