#!/usr/bin/env python3
"""Compares the engine with graphql-core over the cases of this folder and over random ones.

    oracle.py ENGINE… [--random N] [--seed S] [--verbose]

ENGINE is the command that reads the tool's lines. Exit code 1 when anything differs that `differences.md` does not list.
"""

import argparse
import collections
import json
import pathlib
import random
import subprocess
import sys

import graphql as gql

import differences
import generator
import reference
import schema_generator

HERE = pathlib.Path(__file__).parent
SCHEMAS = {path.stem: path.read_text() for path in (HERE / "schemas").glob("*.graphql")}


class Engine:
    """One process of the tool, asked by lines."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")

    def ask(self, arguments, files):
        self.process.stdin.write(json.dumps({"args": arguments, "files": files}, ensure_ascii=False) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"The engine ended on {arguments} with {files}")
        return json.loads(line)

    def answer(self, case):
        files = {"document": case.get("document", "{ __typename }"), "schema": case.get("sdl", "")}
        do = case["do"]
        if do in ("parse", "print"):
            reply = self.ask([do, "document"], files)
            if reply["exit"] == 0:
                return {"tree": stripped(json.loads(reply["out"]))} if do == "parse" else {"text": reply["out"]}
        elif do in ("validate", "schema"):
            reply = self.ask(["validate", "--schema", "schema", "document"], files)
        else:
            files |= {"root": json.dumps(case.get("root", {})), "variables": json.dumps(case.get("variables", {}))}
            operation = ["--operation", case["operation"]] if case.get("operation") else []
            reply = self.ask(["execute", "--schema", "schema", "--root-value", "root", "--variables", "variables",
                              "--echo-args", *operation, "document"], files)
        out = json.loads(reply["out"])
        for error in out.get("errors", []):
            error["locations"] = [(l["line"], l["column"]) for l in error.get("locations", [])]
        return out | {"errors": out.get("errors", [])}


def stripped(node):
    """The tree without members that are null or empty, which tools may write or leave out."""
    if isinstance(node, dict):
        return {key: stripped(value) for key, value in node.items() if value is not None and value != []}
    return [stripped(item) for item in node] if isinstance(node, list) else node


def committed():
    for path in sorted((HERE / "cases").glob("*.json")):
        for number, case in enumerate(json.loads(path.read_text())):
            yield f"{path.stem}:{number}", case | ({"sdl": SCHEMAS[case["schema"]]} if "schema" in case else {})


def randomly(count, seed):
    """Documents of all kinds over the pets, each also broken, and the same over random type systems."""
    sdl = SCHEMAS["pets"]
    schema = gql.build_schema(sdl)
    for number in range(seed, seed + count):
        chance = random.Random(number)
        wild = generator.Documents(schema, number, wild=chance.choice([0.01, 0.03, 0.08])).document()
        yield f"random:{number}:validate", {"do": "validate", "sdl": sdl, "document": wild}
        yield f"random:{number}:parse", {"do": "parse", "document": wild}
        yield f"random:{number}:print", {"do": "print", "document": wild}
        broken = generator.mutated(wild if chance.random() < 0.6 else sdl, chance, chance.randint(1, 2))
        yield f"random:{number}:broken", {"do": "parse", "document": broken}
        yield f"random:{number}:schema", {"do": "schema", "sdl": generator.mutated(sdl, chance, 1)}
        yield f"random:{number}:execute", execution(schema, sdl, number)
        yield from random_schema(number, chance)


def random_schema(number, chance):
    """A type system that breaks some rules, and one that breaks none with a document, data and its introspection."""
    wrong = schema_generator.Schemas(number, wild=chance.choice([0.01, 0.04])).sdl()
    yield f"random:{number}:types", {"do": "schema", "sdl": wrong}
    sdl = schema_generator.Schemas(number).sdl()
    yield f"random:{number}:types:parse", {"do": "parse", "document": sdl}
    yield f"random:{number}:types:print", {"do": "print", "document": sdl}
    schema = gql.build_schema(sdl)
    document = generator.Documents(schema, number, wild=chance.choice([0.01, 0.05])).document()
    yield f"random:{number}:types:validate", {"do": "validate", "sdl": sdl, "document": document}
    yield f"random:{number}:types:execute", execution(schema, sdl, number, depth=3)
    if number % 4 == 0:
        yield f"random:{number}:types:introspection", introspection(sdl)


def introspection(sdl):
    query = gql.get_introspection_query(specified_by_url=True, directive_is_repeatable=True, schema_description=True,
                                        input_value_deprecation=True, input_object_one_of=True)
    return {"do": "execute", "sdl": sdl, "document": query, "introspection": True}


def execution(schema, sdl, number, depth=6):
    document = generator.Documents(schema, number + 1_000_000, depth=min(depth, 4)).document()
    data = generator.Data(schema, number, depth=depth)
    parsed = gql.parse(document)
    return {"do": "execute", "sdl": sdl, "document": document, "variables": data.variables(parsed),
            "root": data.root(parsed.definitions[0].operation.value)}


def main():
    options = argparse.ArgumentParser()
    options.add_argument("engine", nargs="+")
    options.add_argument("--random", type=int, default=300)
    options.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000_000))
    options.add_argument("--verbose", action="store_true")
    options = options.parse_args()
    engine = Engine([*options.engine, "--stdin-lines"])
    kinds, deliberate, unanswered = (collections.Counter() for _ in range(3))
    failures = 0
    parts = [("committed", committed()), (f"random, seed {options.seed}", randomly(options.random, options.seed))]
    for part, cases in parts:
        counts = collections.Counter()
        for name, case in cases:
            try:
                expected = reference.answer(case)
            except (RecursionError, gql.GraphQLError) as error:
                unanswered[type(error).__name__] += 1
                continue
            found = engine.answer(case)
            counts[case["do"]] += 1
            difference = differences.between(case, expected, found)
            if differences.is_deliberate(case, difference):
                deliberate[difference] += 1
            elif difference:
                failures += 1
                kinds[difference] += 1
                if options.verbose or failures <= 10:
                    tell(name, case, difference, expected, found)
        print(f"{part}: {sum(counts.values())} cases: " + ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items())))
    for name, count in sorted(deliberate.items()):
        print(f"  {count} differ as intended: {name}")
    for name, count in unanswered.items():
        print(f"  {count} the reference itself fails on, with {name}")
    print(f"{failures} differ otherwise" + "".join(f"\n  {n} {kind}" for kind, n in kinds.most_common()))
    sys.exit(1 if failures else 0)


def tell(name, case, difference, expected, found):
    print(f"--- {name}: {difference}")
    for key in ("document", "sdl", "root", "variables"):
        if key in case and not (key == "sdl" and case["do"] != "schema"):
            print(f"{key}: {case[key]}")
    if difference in ("places", "messages", "verdict"):
        theirs, ours = (differences.places(answer, message=True) for answer in (expected, found))
        expected = [error for error in theirs if error not in ours]
        found = [error for error in ours if error not in theirs]
    cut = 3000
    print(f"reference: {json.dumps(expected, ensure_ascii=False)[:cut]}\nengine:    {json.dumps(found, ensure_ascii=False)[:cut]}")


if __name__ == "__main__":
    main()
