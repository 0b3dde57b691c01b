#!/usr/bin/env python3
"""Holds the tool to its contract: exit codes, shapes, and ten thousand calls by lines. tool.py ENGINE…"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

SCHEMA = "type Query { a(in: In, n: Int = 3): String u: U } union U = T type T { x: Int } type Subscription { s: T } input In { b: [Int!] c: In d: Int = 4 }"
FILES = {
    "s": SCHEMA, "d": "{ a }", "broken": "{ a", "empty": "", "wrong": "{ b }", "r": '{"a": "$args", "u": {"__typename": "T", "x": 1}, "s": {"x": 2}}',
    "v": '{"i": {"c": {"c": {"b": 5}}}}', "two": "query A { a } query B { u { ... on T { x } } }", "sub": "subscription { s { x } }",
    "args": "query ($i: In) { a(in: $i) b: a(in: {b: 1, c: null}, n: null) }", "list": "[1]", "desc": '"""\n  D\n"""\ntype T @d(a: 1.50) { a: Int }',
    "pages": "type Query { p(first: Int): [T] } type T { p(first: Int): [T] x: Int }", "many": '{"n": 1000}',
    "dear": "query ($n: Int) { p(first: $n) { p(first: $n) { p(first: $n) { x } } } }",
    "repeat": "directive @d repeatable on FIELD", "emoji": '{ a(in: {e: "é😀"}) b }',
}
EXECUTE = ["execute", "--schema", "s", "--root-value", "r"]


def errors(*messages):
    return {"errors": [{"message": text, **({"locations": [{"line": 1, "column": column}]} if column else {})} for text, column in messages]}


CASES = [
    (["print", "d"], 0, "{\n  a\n}"),
    (["parse", "broken"], 1, errors(("Syntax Error: Expected Name, found <EOF>.", 4))),
    (["print", "broken"], 1, errors(("Syntax Error: Expected Name, found <EOF>.", 4))),
    (["parse", "empty"], 1, errors(("Syntax Error: Unexpected <EOF>.", 1))),
    (["validate", "--schema", "s", "d"], 0, {"errors": []}),
    (["validate", "--schema=s", "d"], 0, {"errors": []}),
    (["validate", "d", "--schema", "s"], 0, {"errors": []}),
    (["validate", "--schema", "s", "wrong"], 1, errors(('Cannot query field "b" on type "Query". Did you mean "a" or "u"?', 3))),
    (["validate", "--schema", "d", "d"], 1, None),
    (["validate", "--schema", "broken", "d"], 1, errors(("Syntax Error: Expected Name, found <EOF>.", 4))),
    (EXECUTE + ["d"], 0, {"data": {"a": "$args"}}),
    (["execute", "--schema", "s", "d"], 0, {"data": {"a": None}}),
    (EXECUTE + ["--operation", "B", "two"], 0, {"data": {"u": {"x": 1}}}),
    (EXECUTE + ["two"], 1, errors(("Must provide operation name if query contains multiple operations.", 0))),
    (EXECUTE + ["--operation", "C", "two"], 1, errors(('Unknown operation named "C".', 0))),
    (EXECUTE + ["sub"], 0, {"data": {"s": {"x": 2}}}),
    (EXECUTE + ["wrong"], 1, errors(('Cannot query field "b" on type "Query". Did you mean "a" or "u"?', 3))),
    (EXECUTE + ["--variables", "v", "--echo-args", "args"], 0,
     {"data": {"a": '{"in":{"c":{"c":{"b":[5],"d":4},"d":4},"d":4},"n":3}', "b": '{"in":{"b":[1],"c":null,"d":4},"n":null}'}}),
    (["execute", "--schema", "pages", "--variables", "many", "dear"], 0, {"data": {"p": None}}),
    (EXECUTE + ["--variables", "list", "args"], 1, None),
    (EXECUTE + ["--variables", "broken", "args"], 1, None),
    (["validate", "d"], 1, None), (["parse"], 1, None), (["parse", "d", "d"], 1, None), (["parse", "--nope", "d"], 1, None),
    (["parse", "missing"], 1, None), (["nope", "d"], 1, None), (["validate", "--schema"], 1, None), ([], 1, None),
]
# Members of a tree: how to reach them, and what stands there.
TREES = [
    ("d", ["definitions", 0, "selectionSet", "selections", 0, "name"], {"kind": "Name", "value": "a", "loc": {"start": 2, "end": 3}}),
    ("desc", ["definitions", 0, "description", "value"], "D"),
    ("desc", ["definitions", 0, "description", "block"], True),
    ("desc", ["definitions", 0, "directives", 0, "arguments", 0, "value", "value"], "1.50"),
    ("repeat", ["definitions", 0, "repeatable"], True),
    ("emoji", ["definitions", 0, "selectionSet", "selections", 0, "arguments", 0, "value", "fields", 0, "value", "loc"], {"start": 12, "end": 17}),
    ("emoji", ["loc"], {"start": 0, "end": 23}),
]


def main():
    engine, failures = [str(pathlib.Path(sys.argv[1]).resolve()), *sys.argv[2:]], []
    lines = [{"args": arguments, "files": FILES} for arguments, _, _ in CASES]
    lines += [{"args": ["parse", name], "files": FILES} for name, _, _ in TREES]
    replies = by_lines(engine, lines)
    for (arguments, code, out), reply in zip(CASES, replies):
        if not fits(reply, code, out):
            failures.append((arguments, reply))
    for (name, steps, expected), reply in zip(TREES, replies[len(CASES):]):
        found = json.loads(reply["out"])
        for step in steps:
            found = found[step]
        if found != expected:
            failures.append((name, steps, found))
    failures += by_files(engine)
    # A lone surrogate stands for a byte that is no UTF-8.
    odd = '{"args": ["print", "d"], "files": {"d": "{ a(b: \\"\udcff\\") }"}}'
    broken = by_lines(engine, ["no JSON", {"files": {}}, odd, {"args": ["print", "d"], "files": FILES}])
    if [reply["exit"] for reply in broken] != [1, 1, 1, 0]:
        failures.append(("broken lines", broken))
    start, count = time.monotonic(), 10_000
    if len(by_lines(engine, [lines[number % len(lines)] for number in range(count)])) != count:
        failures.append(("ten thousand lines",))
    print(f"tool: {len(lines)} calls by lines and as commands, {count} lines in {time.monotonic() - start:.1f} s, {len(failures)} wrong")
    for failure in failures:
        print("  ", *failure)
    sys.exit(1 if failures else 0)


def by_lines(engine, requests):
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in requests)
    reply = subprocess.run(
        [*engine, "--stdin-lines"], input=text, capture_output=True, encoding="utf-8", errors="surrogateescape", timeout=300)
    return [json.loads(line) for line in reply.stdout.splitlines()]


def fits(reply, code, out):
    if reply["exit"] != code:
        return False
    if out is None:
        return bool(json.loads(reply["out"])["errors"])
    return (reply["out"] if isinstance(out, str) else json.loads(reply["out"])) == out


def by_files(engine):
    """The same calls, each a process of its own with files on disk; and what only bytes can show."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            (pathlib.Path(folder) / name).write_text(text)
        (pathlib.Path(folder) / "bytes").write_bytes(b"{ a \xff }")
        extra = [(["parse", "bytes"], 1, errors(("Syntax Error: The document is not valid UTF-8.", 5))),
                 (["validate", "--schema", "bytes", "d"], 1, None), (EXECUTE[:3] + ["--root-value", "bytes", "d"], 1, None),
                 (["parse", "."], 1, None)]
        for arguments, code, out in CASES + extra:
            done = subprocess.run([*engine, *arguments], cwd=folder, capture_output=True, timeout=60)
            reply = {"exit": done.returncode, "out": done.stdout.decode().removesuffix("\n")}
            if not fits(reply, code, out):
                yield arguments, reply
        piped = subprocess.run([*engine, "print", "-"], input=b"{ a }", capture_output=True, timeout=60)
        if (piped.returncode, piped.stdout) != (0, b"{\n  a\n}\n"):
            yield "standard input", piped


if __name__ == "__main__":
    main()
