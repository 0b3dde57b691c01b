#!/usr/bin/env python3
"""Writes the generated cases anew: make_cases.py. The other files of `cases/` are made by hand."""

import pathlib
import random

import graphql as gql

import generator
import oracle
import schema_generator

HERE = pathlib.Path(__file__).parent
SEED = 20_260_901


def main():
    sdl = oracle.SCHEMAS["pets"]
    schema = gql.build_schema(sdl)
    parsed, validated, executed, broken, types = [], [], [], [], []
    for seed in range(SEED, SEED + 120):
        chance = random.Random(seed)
        wild = generator.Documents(schema, seed, wild=chance.choice([0, 0.03, 0.08]), depth=2).document()
        validated.append({"do": "validate", "schema": "pets", "document": wild})
        execution = oracle.execution(schema, sdl, seed, depth=3)
        executed.append({"schema": "pets"} | {key: value for key, value in execution.items() if key != "sdl"})
        if seed % 3 == 0:
            parsed.append({"do": "parse", "document": wild})
            parsed.append({"do": "print", "document": wild})
            broken.append({"do": "parse", "document": generator.mutated(wild, chance)})
            broken.append({"do": "schema", "sdl": generator.mutated(oracle.SCHEMAS["rules"], chance)})
        if seed % 4 == 0:
            types += over_random_types(seed, chance)
    for name, cases in [("parse", parsed), ("validate", validated), ("execute", executed), ("broken", broken), ("types", types)]:
        lines = ",\n".join(generator.compact(case) for case in cases)
        (HERE / "cases" / f"generated-{name}.json").write_text(f"[\n{lines}\n]\n")


def over_random_types(seed, chance):
    yield {"do": "schema", "sdl": schema_generator.Schemas(seed, wild=0.03).sdl()}
    sdl = schema_generator.Schemas(seed).sdl()
    schema = gql.build_schema(sdl)
    document = generator.Documents(schema, seed, wild=chance.choice([0, 0.03]), depth=2).document()
    yield {"do": "validate", "sdl": sdl, "document": document}
    yield oracle.execution(schema, sdl, seed, depth=2)
    yield {"do": "execute", "sdl": sdl, "introspection": True,
           "document": "{ __schema { queryType { name } types { name kind description fields(includeDeprecated: true) { name isDeprecated "
                       "args(includeDeprecated: true) { name defaultValue } type { kind name ofType { kind name } } } "
                       "inputFields(includeDeprecated: true) { name defaultValue deprecationReason } enumValues(includeDeprecated: true) "
                       "{ name deprecationReason } interfaces { name } possibleTypes { name } isOneOf specifiedByURL } "
                       "directives { name isRepeatable locations args { name } } } }"}


if __name__ == "__main__":
    main()
