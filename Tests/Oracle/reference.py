"""The reference's answers (graphql-core), in the shapes of the engine's tool."""

import json
import re
import sys

import graphql as gql
from graphql.language import DirectiveLocation
from graphql.language.ast import Node
from graphql.validation.rules import known_directives
from graphql.validation.validate import validate_sdl

schemas = {}
place_of_directive = known_directives.get_directive_location_for_ast_path


def place_of_directive_mended(ancestors):
    """The reference takes the fields of extended input objects for arguments."""
    is_input = len(ancestors) > 2 and getattr(ancestors[-3], "kind", "") == "input_object_type_extension"
    return DirectiveLocation.INPUT_FIELD_DEFINITION if is_input else place_of_directive(ancestors)


known_directives.get_directive_location_for_ast_path = place_of_directive_mended
# Values in messages are shown whole.
shown = sys.modules["graphql.pyutils.inspect"]
shown.max_recursive_depth, shown.max_str_size, shown.max_list_size = 100, 10_000, 10_000


def answer(case):
    return {"parse": parse, "print": print_, "validate": validate, "schema": schema, "execute": execute}[case["do"]](case)


def built(sdl):
    """The schema, or the errors that forbid it, with the phase they were found in: `syntax`, `definitions`, `types`, or
    `making` where graphql-core throws an exception of its own words."""
    if sdl not in schemas:
        schemas[sdl] = make(sdl)
    return schemas[sdl]


def make(sdl):
    try:
        document = gql.parse(sdl)
    except gql.GraphQLSyntaxError as error:
        return Refusal("syntax", [error])
    errors = validate_sdl(document)
    if errors:
        return Refusal("definitions", errors)
    try:
        schema = gql.build_ast_schema(document, assume_valid_sdl=True)
        errors = gql.validate_schema(schema)
    except Exception as error:
        return Refusal("making", [gql.GraphQLError(str(error))])
    return Refusal("types", errors) if errors else schema


class Refusal(list):
    def __init__(self, phase, errors):
        super().__init__(errors)
        self.phase = phase


def units(text):
    """Where each character stands when UTF-16 code units are counted, as the tool counts; the reference counts
    characters."""
    positions, count = [], 0
    for character in text:
        positions.append(count)
        count += 2 if ord(character) > 0xFFFF else 1
    return positions + [count]


def location(offset, text):
    """Line and column as graphql-js counts them; graphql-core takes the first character of a line for the end of the
    line before."""
    line_start, line = 0, 1
    for end in re.finditer(r"\r\n|[\n\r]", text):
        if end.end() > offset:
            break
        line, line_start = line + 1, end.end()
    return (line, units(text[line_start:offset])[-1] + 1)


def refusal(errors, text):
    return {"errors": [told(error, text) for error in errors]}


def told(error, text):
    return {"message": error.message, "locations": [location(offset, text) for offset in error.positions or []]}


def parse(case):
    text = case["document"]
    try:
        return {"tree": tree(gql.parse(text), units(text))}
    except gql.GraphQLSyntaxError as error:
        return refusal([error], text)


def camel(name):
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


def tree(value, positions):
    if isinstance(value, Node):
        kind = camel(value.kind)
        result = {"kind": kind[0].upper() + kind[1:]}
        for key in value.keys:
            member = getattr(value, key)
            if key != "loc" and member is not None and member != () and member != []:
                result[camel(key)] = tree(member, positions)
        result["loc"] = {"start": positions[value.loc.start], "end": positions[value.loc.end]}
        return result
    if isinstance(value, (list, tuple)):
        return [tree(item, positions) for item in value]
    return value.value if isinstance(value, gql.OperationType) else value


def print_(case):
    try:
        return {"text": gql.print_ast(gql.parse(case["document"]))}
    except gql.GraphQLSyntaxError as error:
        return refusal([error], case["document"])


def schema(case):
    made = built(case["sdl"])
    return refusal(made, case["sdl"]) | {"phase": made.phase} if isinstance(made, Refusal) else {"errors": []}


def validate(case):
    made = built(case["sdl"])
    if isinstance(made, Refusal):
        return refusal(made, case["sdl"]) | {"phase": made.phase}
    try:
        return refusal(gql.validate(made, gql.parse(case["document"])), case["document"])
    except gql.GraphQLSyntaxError as error:
        return refusal([error], case["document"])


def execute(case):
    invalid = validate(case)
    if invalid["errors"]:
        return invalid
    result = gql.execute(
        built(case["sdl"]), gql.parse(case["document"]), case.get("root", {}), variable_values=case.get("variables", {}),
        operation_name=case.get("operation"), field_resolver=resolve, type_resolver=name_type,
    )
    errors = [told(e, case["document"]) | {"path": e.path} for e in result.errors or []]
    response = {"errors": errors}
    # A request error gives no data at all; the reference cannot tell it from data that is null but by the path.
    if result.data is not None or any(e["path"] for e in errors):
        response["data"] = result.data
    return response


def resolve(source, info, **arguments):
    value = source.get(info.field_name) if isinstance(source, dict) else None
    return json.dumps(arguments, ensure_ascii=False, separators=(",", ":")) if value == "$args" else value


def name_type(value, info, type_):
    name = value.get("__typename") if isinstance(value, dict) else None
    return name if isinstance(name, str) else None
