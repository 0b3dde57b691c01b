#!/usr/bin/env python3
"""Writes the oracle's documents as one file each: corpus.py FOLDER. They are the seeds of the fuzzer."""

import hashlib
import json
import pathlib
import sys

CASES = pathlib.Path(__file__).parent.parent / "Oracle"


def main():
    folder = pathlib.Path(sys.argv[1])
    for kind in ("language", "schema", "validation", "execution"):
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


def write(folder, text):
    data = text.encode("utf-8", "replace")
    (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)


if __name__ == "__main__":
    main()
