"""graphql-core behind the lines of README.md."""

import json
import os
import platform
import re
import sys
import time

import graphql

folder = sys.argv[1]


def read(name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


data = json.loads(read("data.json"))
schema = graphql.build_schema(read("schema.graphql"))
query = read("query.graphql")
introspection = read("introspection.graphql")

# Default resolvers call what can be called with the arguments; everything else is a member of a dictionary.
topic = dict(data["topic"], messages=lambda info, limit: data["messages"][:limit])
root = {"topics": lambda info, ids, first: [topic for _ in ids]}


def response(document, variables):
    result = graphql.execute_sync(schema, document, root_value=root, variable_values=variables)
    return json.dumps(result.formatted, separators=(",", ":"), ensure_ascii=False)


def executing(text, variables):
    document = graphql.parse(text)
    values = json.loads(read(variables)) if variables else {}
    return lambda: response(document, values)


def whole_request():
    values = json.loads(read("variables-20.json"))

    def operation():
        document = graphql.parse(query)
        errors = graphql.validate(schema, document)
        if errors:
            raise errors[0]
        return response(document, values)

    return operation


def parsing(text):
    return lambda: graphql.parse(text)


def validating():
    document = graphql.parse(query)
    return lambda: graphql.validate(schema, document)


# What a row does; some rows answer.
ROWS = {
    "parse-operations": lambda: parsing(read("large-operations.graphql")),
    "parse-schema": lambda: parsing(read("large-schema.graphql")),
    "parse-query": lambda: parsing(query),
    "validate-query": validating,
    "parse-and-validate": lambda: lambda: graphql.validate(schema, graphql.parse(query)),
    "execute-20": lambda: executing(query, "variables-20.json"),
    "execute-200": lambda: executing(query, "variables-200.json"),
    "introspection": lambda: executing(introspection, None),
    "whole-request": whole_request,
}


def peak_memory():
    with open("/proc/self/status", encoding="ascii") as file:
        found = re.search(r"^VmHWM:\s+(\d+)", file.read(), re.MULTILINE)
    return int(found.group(1)) * 1024 if found else 0


def reset_peak_memory():
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
    except OSError:
        pass  # The peak is then that of the whole run.


def measure(request):
    operation = ROWS[request["row"]]()
    answer = operation()
    reset_peak_memory()
    batch = 1

    def repeat(seconds):
        nonlocal batch
        operations, start = 0, time.process_time()
        while True:
            began = time.process_time()
            for _ in range(batch):
                operation()
            operations += batch
            if time.process_time() - began < 0.001:
                batch *= 2
            if time.process_time() - start >= seconds:
                return operations

    repeat(request["warmUpSeconds"])
    figures, total = [], 0
    start, start_cpu = time.monotonic(), time.process_time()
    slow_seconds = 2 * request["roundSeconds"] * request["rounds"]
    for round_number in range(request["rounds"]):
        if round_number >= 3 and time.process_time() - start_cpu > slow_seconds:
            break
        before = time.process_time()
        operations = repeat(request["roundSeconds"])
        figures.append((time.process_time() - before) * 1e6 / operations)
        total += operations
    result = {
        "row": request["row"],
        "cpuMicroseconds": figures,
        "operations": total,
        "seconds": time.monotonic() - start,
        "memoryBytes": peak_memory(),
    }
    if isinstance(answer, str):
        result["answer"] = request["row"] + ".graphql-core.json"
        with open(os.path.join(folder, result["answer"]), "w", encoding="utf-8") as file:
            file.write(answer)
    elif hasattr(answer, "definitions"):
        result["definitions"] = len(answer.definitions)
    return result


def say(value):
    print(json.dumps(value), flush=True)


say({"name": f"graphql-core {graphql.version} on Python {platform.python_version()}"})
for line in sys.stdin:
    wanted = json.loads(line)
    if wanted["row"] in ROWS:
        say(measure(wanted))
    else:
        say({"row": wanted["row"], "unsupported": "it has no such thing"})
