"""What counts as a difference, and which differences are deliberate; each of these stands in differences.md."""

import json

PAIRS = "pairs of conflicting fields"
ROOTS = "roots of subscriptions"
DELIBERATE = {PAIRS, ROOTS}


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
    if "complaint" in found:
        return "complaint"
    if case["do"] in ("validate", "execute") and validation_differs(expected, found):
        return validation(expected, found)
    if bool(expected.get("errors")) != bool(found.get("errors")):
        return "verdict"
    if case["do"] == "parse" and expected.get("tree") != found.get("tree"):
        return "tree"
    if case["do"] == "print" and expected.get("text") != found.get("text"):
        return "text"
    if case["do"] == "execute" and encoded(expected) != encoded(found):
        return "data"
    if case["do"] == "schema":
        return None
    return None if places(expected) == places(found) else "places"


def validation_differs(expected, found):
    return "data" not in expected and "data" not in found and places(expected) != places(found)


def validation(expected, found):
    """What is left after what differs on purpose is taken out, one after the other."""
    theirs, ours = expected["errors"], found["errors"]
    if any("top level" in e["message"] for e in ours):
        theirs, ours = without(theirs, "top level"), without(ours, "top level")
        if same(theirs, ours):
            return ROOTS
    conflict = "conflict because"
    if all(any(conflict in e["message"] for e in errors) for errors in (theirs, ours)):
        if same(without(theirs, conflict), without(ours, conflict)):
            return PAIRS
    return "places" if theirs and ours else "verdict"


def without(errors, text):
    return [error for error in errors if text not in error["message"]]


def same(left, right):
    return places({"errors": left}) == places({"errors": right})


def encoded(answer):
    """The data, with members in order, and numbers as JSON knows them: 2.0 is 2."""
    return json.dumps(plain(answer["data"])) if "data" in answer else None


def plain(value):
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def places(answer):
    return sorted((sorted(map(tuple, e["locations"])), json.dumps(e.get("path"))) for e in answer.get("errors", []))
