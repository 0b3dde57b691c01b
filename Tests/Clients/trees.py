"""What screen readers are told of each view: roles, names, states and their order, as Playwright reads them, compared with
a committed text a view in trees/. What differs from run to run is masked by the rules below."""

import difflib
import os
import platform
import re
import tempfile
import time

FOLDER = os.path.join(os.path.dirname(__file__), "trees")
# So many seconds a view has to become what is committed, and all of them together.
PATIENCE, PATIENCE_OF_ALL = 10, 60
# Rows of a table beyond these are left out, so that one more setting changes no text.
ROWS = 4
# A moment says how long ago it was; what the page shows is put back at once.
MOMENTS = """(part, words) => {
  for (const each of part.querySelectorAll("time")) {
    if (words === null) each.textContent = each.dataset.said ?? each.textContent;
    else [each.dataset.said, each.textContent] = [each.textContent, words];
  }
}"""
MASKS = [
    (r"\d{4}-\d\d-\d\dT[\d:.]+Z|\b\d?\d:\d\d:\d\d(?: [AP]M)?", "<time>"),
    (r"\bafter \d+ (?:s|min)\b", "after <time>"),
    (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b", "<id>"),
    (r"\bdevice [0-9a-f]{6}\b", "device <id>"),
    (r"\b[a-z0-9]{4}…", "<key>…"),
    (r"\b[\w-]{10,}(?:\.[\w-]{10,}){2}|\b[A-Za-z0-9]{24,}\b", "<secret>"),
    # That a token was used is written a while later.
    (r'cell "<time> from 127\.0\.0\.0/24":\n.*\n.*\n', 'cell "never"\n'),
    (r"<time> from 127\.0\.0\.0/24", "never"),
    (r"http://127\.0\.0\.1:\d+", "<server>"),
    (re.escape(tempfile.gettempdir()) + r"/[^\s\"]+", "<folder>"),
    (r"\b" + re.escape(platform.node()) + r"-\d+", "<node>"),
    (r"\b[3-6]\d{4}\b", "<port>"),
    (r"Tocsin [\d.]+ \([^)]*\) on [A-Za-z]+ [\d.]+", "Tocsin <version>"),
    (r"\d+ connections?, \d+ sockets?, \d+ subscriptions?", "<counts>"),
    (r"\d+ settings", "<count> settings"),
    (r"\b[\d.,]+ MB", "<figure>"),
]
# Of a chart that has nothing to show yet.
NOTHING = "- paragraph: Nothing was measured in this time."


class Trees:
    """The trees of one walk. `accept`: they are written anew in place of being compared."""

    def __init__(self, checks, accept):
        self.checks, self.accept = checks, accept
        self.names = set()
        self.patience = PATIENCE_OF_ALL

    def look(self, name, page, part):
        """Compares what is said in a part of the page, as soon as it is what is committed, or does not become so."""
        name = name.replace(" ", "-")
        if name in self.names:
            raise ValueError(f"two views are called {name}")
        self.names.add(name)
        path = os.path.join(FOLDER, f"{name}.txt")
        if self.accept:
            os.makedirs(FOLDER, exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(settled(page, part))
            return
        wanted = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
        began, now = time.monotonic(), tree(page, part)
        while now != wanted and time.monotonic() - began < min(PATIENCE, self.patience):
            page.wait_for_timeout(100)
            now = tree(page, part)
        self.patience -= time.monotonic() - began
        if now != wanted:
            lines = difflib.unified_diff(wanted.splitlines(), now.splitlines(), f"trees/{name}.txt", "the view", lineterm="")
            print(*lines, sep="\n", flush=True)
        self.say(f"{name}: screen readers are told what is committed", now == wanted, "see the lines above; scripts/console.sh --accept writes the texts anew")

    def end(self):
        """No text may be left of a view that is not there any more."""
        left = {name.removesuffix(".txt") for name in os.listdir(FOLDER)} - self.names
        if not self.accept:
            return self.say("each committed text has its view", not left, sorted(left))
        for name in left:
            os.remove(os.path.join(FOLDER, f"{name}.txt"))

    def say(self, name, is_so, problem):
        self.checks.report(name, None if is_so else AssertionError(problem))


def settled(page, part):
    """What is said when nothing is under way, and nothing has changed for a second."""
    page.wait_for_load_state("networkidle")
    before, now = None, tree(page, part)
    while now != before:
        page.wait_for_timeout(1000)
        before, now = now, tree(page, part)
    return now


def tree(page, part):
    """The accessibility tree of a part of the page, a line an element, without what differs from run to run."""
    where = page.locator(part)
    where.evaluate(MOMENTS, "<time>")
    text = where.aria_snapshot()
    where.evaluate(MOMENTS, None)
    for pattern, mask in MASKS:
        text = re.sub(pattern, mask, text)
    # What turns the direction of a text would turn that of a difference too.
    text = "".join(each if each == "\n" or each.isprintable() else f"\\u{ord(each):04x}" for each in text)
    return "\n".join(without_figures(without_rows(text.splitlines()))) + "\n"


def without_rows(lines):
    """Without addresses, and without rows of a table that are like the one before, or too many."""
    kept, rows, at = [], {}, 0
    while at < len(lines):
        line, depth, end = lines[at], depth_of(lines[at]), at + 1
        if line.lstrip().startswith("- /url:"):
            at += 1
            continue
        rows = {level: before for level, before in rows.items() if level <= depth}
        if not re.match(r"- '?row\b(?!group)", line.lstrip()):
            rows.pop(depth, None)
            kept.append(line.removesuffix(":") if re.match(r"- '?link .*:$", line.lstrip()) and is_bare(lines, at) else line)
            at += 1
            continue
        while end < len(lines) and depth_of(lines[end]) > depth:
            end += 1
        row = lines[at:end]
        at = end
        before = rows.setdefault(depth, [])
        if row in before[-1:]:
            continue
        before.append(row)
        if len(before) <= ROWS:
            # What a row has within may have rows of its own.
            kept += [line, *without_rows(row[1:])]
        elif len(before) == ROWS + 1:
            kept.append(" " * depth + "- …")
    return kept


def depth_of(line):
    return len(line) - len(line.lstrip())


def is_bare(lines, at):
    """Whether a link has nothing within but its address."""
    within = []
    for line in lines[at + 1:]:
        if depth_of(line) <= depth_of(lines[at]):
            break
        within.append(line)
    return all(line.lstrip().startswith("- /url:") for line in within)


def without_figures(lines):
    """Charts without what they show, which may be nothing yet."""
    kept, heading = [], ""
    for line in lines:
        inner = line.lstrip()
        space = line[: len(line) - len(inner)]
        if named := re.match(r"- heading \"(.*)\" \[level=2\]", inner):
            heading = named[1]
        if inner == NOTHING:
            kept += [f'{space}- img "{heading}: <figures>"', f"{space}- list: <figures>", f"{space}- group: As a table"]
        elif re.match(r"- '?img ", inner):
            kept.append(f'{space}- img "{heading}: <figures>"' if heading.replace("'", "''") in inner or heading in inner else line)
        elif re.match(r"- '?listitem: .*, at most ", inner):
            if kept[-1].endswith("- list:"):
                kept[-1] += " <figures>"
        else:
            kept.append(line)
    return kept
