"""What counts as a difference, and which differences are deliberate; each of these stands in differences.md."""

import collections
import json
import re

import graphql as gql

PAIRS = "pairs of conflicting fields"
ROOTS = "roots of subscriptions"
ONE_OF = "variables in OneOf input objects whose place is non-null"
EDITION = "type systems by the edition of September 2025"
DELIBERATE = {PAIRS, ROOTS, ONE_OF, EDITION}

# What only the engine finds wrong in a type system.
STRICTER = re.compile("|".join([
    r"^The default value of ", r"^All root types must be different", r"must not reference itself, as it does through",
    r"is not deprecated, so implementation field", r"^The @oneOf directive must not be provided by an extension",
    r"^Argument '\w+' has invalid value", r"^A schema cannot hold operations", r"^The type of @(deprecated|specifiedBy)\(",
]))
REQUIRED = re.compile(r"^Required .* cannot be deprecated\.$")
# Where the words differ: what both are read as.
WORDS = [
    (r"to be a mapping\.", "to be an object."),
    (r"Expected value of type '[^']+', found", "Expected value, found"),
    (r"(Syntax Error: Invalid Unicode escape sequence).*", r"\1"),
    (r"Unexpected description, .*", "Unexpected description"),
    (r"(Abstract type '\w+') .*", r"\1"),
    (r"(may not be used on) ([\w ]+)\.", lambda found: f"{found[1]} {found[2].upper().replace(' ', '_')}."),
    (r"\bTrue\b", "true"), (r"\bFalse\b", "false"), (r"\bNone\b", "null"),
    (r"([,:]) (?=['\[{\d-]|true|false|null)", r"\1"),
    (r"\n\nGraphQL request.*", ""),
]


def between(case, expected, found):
    """`None` when the answers are the same, else the name of what differs.

    A case may say itself that it differs on purpose, and then has to.
    """
    difference = compared(case, expected, found)
    if "differs" in case:
        return case["differs"] if difference else "no difference any more"
    return difference


def is_deliberate(case, difference):
    return bool(difference) and (difference in DELIBERATE or difference == case.get("differs"))


def compared(case, expected, found):
    if case["do"] == "schema" or "phase" in expected:
        return type_system(expected, found)
    if case["do"] in ("validate", "execute") and "data" not in expected and "data" not in found:
        return validation(expected, found)
    if bool(expected.get("errors")) != bool(found.get("errors")):
        return "verdict"
    if case["do"] == "parse" and expected.get("tree") != found.get("tree"):
        return "tree"
    if case["do"] == "print" and expected.get("text") != found.get("text"):
        return "text"
    if case["do"] == "execute" and encoded(expected, case) != encoded(found, case):
        return "data"
    return told(expected, found)


def type_system(expected, found):
    """The reference stops after the phase that finds errors, the engine tells all; places are not compared."""
    phase = expected.get("phase")
    missing, extra = messages(expected) - messages(found), messages(found) - messages(expected)
    if phase == "making":
        return None if found["errors"] else "verdict"
    if phase == "definitions":
        return "messages" if missing else None
    # A default value that does not fit is none for the reference, and its argument then required.
    missing = +collections.Counter({text: n for text, n in missing.items() if not (extra and REQUIRED.search(text))})
    if not missing and extra and all(STRICTER.search(message) for message in extra):
        return EDITION
    if bool(expected["errors"]) != bool(found["errors"]):
        return "verdict"
    return "messages" if missing or extra else None


def validation(expected, found):
    """What is left after what differs on purpose is taken out, one after the other."""
    if not told(expected, found):
        return None
    theirs, ours = expected["errors"], found["errors"]
    if any("top level" in e["message"] for e in ours):
        theirs, ours = without(theirs, "top level"), without(ours, "top level")
        if same(theirs, ours):
            return ROOTS
    one_of = "must be non-nullable to be used for OneOf"
    if any(one_of in e["message"] for e in ours):
        theirs, ours = without(theirs, one_of), without(ours, one_of)
        if same(theirs, ours):
            return ONE_OF
    conflict = "conflict because"
    if all(any(conflict in e["message"] for e in errors) for errors in (theirs, ours)):
        if same(without(theirs, conflict), without(ours, conflict)):
            return PAIRS
    return told({"errors": theirs}, {"errors": ours}) if theirs and ours else "verdict"


def without(errors, text):
    return [error for error in errors if text not in error["message"]]


def same(left, right):
    return not told({"errors": left}, {"errors": right})


def told(expected, found):
    """Errors have the same places, in their order, and the same messages."""
    if places(expected) != places(found):
        return "places"
    return None if places(expected, message=True) == places(found, message=True) else "messages"


def messages(answer):
    return collections.Counter(normal(error["message"]) for error in answer["errors"])


def normal(message):
    message = message.replace('"', "'")
    for pattern, replacement in WORDS:
        message = re.sub(pattern, replacement, message, flags=re.S)
    return message


def places(answer, message=False):
    return sorted((list(map(tuple, e["locations"])), json.dumps(e.get("path")), normal(e["message"]) if message else "")
                  for e in answer.get("errors", []))


def encoded(answer, case):
    """The data, with members in order, and numbers as JSON knows them: 2.0 is 2."""
    if "data" not in answer:
        return None
    data = plain(answer["data"])
    return json.dumps(introspection(data) if case.get("introspection") else data)


def plain(value):
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def introspection(value):
    """Without what the specification leaves open (the order of types), and what the reference knows beyond its edition."""
    if isinstance(value, dict):
        value = {key: introspection(member) for key, member in value.items()}
        for key in ("types", "possibleTypes"):
            if isinstance(value.get(key), list):
                value[key] = sorted((t for t in value[key] if not t.get("name", "").startswith("__")), key=json.dumps)
        if isinstance(value.get("locations"), list):
            value["locations"] = [place for place in value["locations"] if place != "DIRECTIVE_DEFINITION"]
        if "isRepeatable" in value and value["name"] in ("deprecated", "oneOf"):
            value |= {"args": [], "description": None}
        if isinstance(value.get("defaultValue"), str):
            value["defaultValue"] = plain(gql.value_from_ast_untyped(gql.parse_value(value["defaultValue"])))
        return value
    return [introspection(item) for item in value] if isinstance(value, list) else value
