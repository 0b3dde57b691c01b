#!/usr/bin/env python3
"""Writes the oracle's documents and the recorded posts of senders as one file each: corpus.py FOLDER.

They are the seeds of the fuzzer.
"""

import hashlib
import json
import pathlib
import sys

CASES = pathlib.Path(__file__).parent.parent / "Oracle"
SENDERS = CASES.parent / "TocsinReceiversTests"
SHIPPED = CASES.parent.parent / "schema" / "receivers.json"


def main():
    folder = pathlib.Path(sys.argv[1])
    for kind in ("language", "schema", "validation", "execution", "templates", "receivers"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    for path in (CASES / "schemas").glob("*.graphql"):
        write(folder / "schema", path.read_text())
    for path in (CASES / "cases").glob("*.json"):
        for case in json.loads(path.read_text()):
            document, sdl = case.get("document"), case.get("sdl")
            if document:
                write(folder / "language", document)
            if document and case["do"] in ("validate", "execute"):
                write(folder / "validation", document)
                write(folder / "execution", document)
            if sdl:
                write(folder / "schema", sdl)
            elif document and case["do"] in ("parse", "print"):
                write(folder / "schema", document)
    shipped = {each["name"]: each for each in json.loads(SHIPPED.read_text())["receivers"]}
    for path in (SENDERS / "Receivers").glob("*/*.json"):
        request = json.loads(path.read_text()).get("request", {})
        body = request.get("text") or json.dumps(request.get("body"))
        write(folder / "templates", json.dumps(shipped.get(path.parent.name, {})) + "\0" + body)
    for path in (SENDERS / "Recorded").glob("*.json"):
        body = json.loads(path.read_text()).get("request", {}).get("body") or ""
        # The first byte chooses the receiver.
        for kind in range(9):
            write(folder / "receivers", chr(kind) + body)


def write(folder, text):
    data = text.encode("utf-8", "replace")
    (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)


if __name__ == "__main__":
    main()
