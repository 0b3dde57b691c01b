"""Attacks the built server as one caller might who wishes the others ill, and says what they felt.
Use: attacks.py BINARY [--short] [--load] [--database sqlite|postgres|both] [NAME…]"""

import argparse
import asyncio
import os
import signal
import sys
import time

# They register their attacks, in this order.
import reads, unread, strangers, judging, rights, endings, names, passwords, smaller, tls  # noqa: E401, F401
from stage import ATTACKS, COLUMNS, Stage


def arguments():
    description = "One line an attack; exit status 1 if one succeeds."
    parser = argparse.ArgumentParser(prog="scripts/attacks.sh", description=description)
    parser.add_argument("binary", help=argparse.SUPPRESS)
    parser.add_argument("--short", action="store_true", help="smaller volumes and bounds for busy machines")
    parser.add_argument("--load", action="store_true", help="only attacks that make load, those with figures")
    parser.add_argument("--database", choices=["sqlite", "postgres", "both"], default="both")
    parser.add_argument("names", nargs="*", metavar="NAME", help="one of: " + ", ".join(ATTACKS))
    given = parser.parse_intermixed_args()
    unknown = [name for name in given.names if name not in ATTACKS]
    if unknown:
        parser.error(f"there is no attack {unknown[0]}; there are {', '.join(ATTACKS)}")
    return given


async def run(function, stage, seconds):
    try:
        await asyncio.wait_for(function(stage), seconds)
    except Exception as error:
        stage.fact(f"{type(error).__name__}: {str(error)[:300]}", False)
    finally:
        stage.remove()


def main():
    given = arguments()
    # So that what was started is ended then, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    databases = {"sqlite": None, "postgres": os.environ.get("TOCSIN_TEST_POSTGRES")}
    if given.database != "both":
        databases = {given.database: databases[given.database]}
    successful, felt = [], {}
    for attack in ATTACKS.values():
        if (given.names and attack.name not in given.names) or (given.load and not attack.makes_load):
            continue
        for database, url in databases.items():
            if database not in attack.databases or (database == "postgres" and url is None):
                continue
            begun, stage = time.monotonic(), Stage(given.binary, url, given.short)
            asyncio.run(run(attack.function, stage, 120 if given.short else attack.seconds))
            place = f"{attack.name}, {database}"
            if report(place, time.monotonic() - begun, stage.findings):
                successful.append(place)
            if stage.felt:
                felt[place] = stage.felt
    print_table(felt)
    if successful:
        sys.exit(f"These attacks succeed: {'; '.join(successful)}.")


def report(place, seconds, findings):
    """Prints a line; answers whether the attack succeeds."""
    succeeds = not all(finding.holds for finding in findings)
    parts = [finding.text if finding.holds else f"NOT {finding.text}" for finding in findings]
    print(f"{'FAILS' if succeeds else 'holds'}  {place}, {seconds:.0f} s: {'; '.join(parts)}", flush=True)
    return succeeds


def print_table(felt):
    """What another owner felt of the attacks that make load; what is beyond its bound is marked."""
    if felt:
        print("\n| Attack | " + " | ".join(COLUMNS) + " |\n" + "|---" * (len(COLUMNS) + 1) + "|")
    for place, row in felt.items():
        print(f"| {place} | " + " | ".join(row[column] for column in COLUMNS) + " |")


if __name__ == "__main__":
    main()
