#!/usr/bin/env python3
"""Makes recurrences.tsv: rules (RFC 5545) and when dateutil, another's reading of it, lets them come.

    python3 -m pip install python-dateutil==2.9.0.post0
    python3 Tests/Oracle/recurrences.py > Tests/Oracle/recurrences.tsv

A line has a rule, a zone, when it was written, a moment, and the times that follow it, at most 8; `-` where it is over.
Times on the wall are dateutil's. The zone makes moments of them as docs/schedules.md says: a time that the clocks skip
comes when they skip it, one that they show twice comes the first time, and a rule for every hour goes on each hour.
"""

import random
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from dateutil.rrule import rrulestr

DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
UTC = timezone.utc


def some(rng, values, most):
    return ",".join(str(value) for value in sorted(rng.sample(values, rng.randint(1, most)), key=str))


def month_days(rng):
    return some(rng, [*range(1, 32), *range(-5, 0)], 4)


def rule(rng, has_start):
    """A rule that the server takes."""
    frequency = rng.choice(["HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY"])
    parts = {"FREQ": frequency}
    if rng.random() < 0.4:
        parts["INTERVAL"] = rng.choice([2, 3, 5, 7, 12] if frequency != "YEARLY" else [2, 3])
    if not has_start or rng.random() < 0.6:
        if frequency != "HOURLY" or rng.random() < 0.3:
            parts["BYHOUR"] = some(rng, list(range(24)), 3)
    if rng.random() < 0.6:
        parts["BYMINUTE"] = some(rng, [0, 5, 15, 30, 45, 59], 3)
    if frequency in ("DAILY", "MONTHLY", "HOURLY") and rng.random() < 0.2 or frequency == "YEARLY" and rng.random() < 0.5:
        parts["BYMONTH"] = some(rng, list(range(1, 13)), 4)
    if frequency == "WEEKLY":
        if rng.random() < 0.7:
            parts["BYDAY"] = some(rng, DAYS, 4)
        if rng.random() < 0.4:
            parts["WKST"] = rng.choice(DAYS)
    elif frequency in ("MONTHLY", "YEARLY"):
        chosen = rng.random()
        ofyear = frequency == "YEARLY" and "BYMONTH" not in parts
        ordinals = [1, 2, 3, 4, -1, -2] if not ofyear else [1, 20, 52, -1, -20]
        if chosen < 0.35:
            parts["BYMONTHDAY"] = month_days(rng)
        elif chosen < 0.7:
            parts["BYDAY"] = ",".join(f"{rng.choice(ordinals)}{rng.choice(DAYS)}" for _ in range(rng.randint(1, 2)))
        elif chosen < 0.85:
            parts["BYDAY"] = some(rng, DAYS, 5)
            if frequency == "MONTHLY" and rng.random() < 0.6:
                parts["BYSETPOS"] = rng.choice(["1", "-1", "2", "1,-1", "-2"])
                for name in ("BYHOUR", "BYMINUTE"):
                    if name in parts:
                        parts[name] = parts[name].split(",")[0]
    elif rng.random() < 0.3:
        parts["BYDAY"] = some(rng, DAYS, 4)
    elif rng.random() < 0.2:
        parts["BYMONTHDAY"] = month_days(rng)
    ends = rng.random()
    if ends < 0.2:
        parts["COUNT"] = rng.randint(1, 60)
    elif ends < 0.35:
        parts["UNTIL"] = (datetime(2026, 1, 1) + timedelta(hours=rng.randint(0, 30000))).strftime("%Y%m%dT%H%M%S")
    return parts


def moments(wall, zone, hourly):
    """When the clocks of a zone show a time."""
    one, two = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if one == two:
        return [one]
    if one < two:
        return [one, two] if hourly else [one]
    if hourly:
        return []
    # Skipped: the clocks change between the two.
    low, high = two, one
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) / 2
        middle = middle.replace(microsecond=0)
        if middle.astimezone(zone).utcoffset() == low.astimezone(zone).utcoffset():
            low = middle
        else:
            high = middle
    return [high]


def line(rng):
    name, zone = rng.choice([("utc", ZoneInfo("UTC")), ("berlin", ZoneInfo("Europe/Berlin"))])
    written = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=rng.randint(0, 40_000_000))
    start = written.astimezone(zone).replace(tzinfo=None)
    has_start = rng.random() < 0.5
    parts = rule(rng, has_start)
    text = "RRULE:" + ";".join(f"{key}={value}" for key, value in parts.items())
    given = dict(parts)
    if has_start:
        text = f"DTSTART:{start:%Y%m%dT%H%M%S} {text}"
    else:
        given["BYSECOND"] = 0
        given.setdefault("BYMINUTE", 0)
    try:
        oracle = rrulestr("RRULE:" + ";".join(f"{key}={value}" for key, value in given.items()), dtstart=start)
    except ValueError:
        # Hours that no interval reaches.
        return line(rng)
    hourly = parts["FREQ"] == "HOURLY" and "INTERVAL" not in parts and "BYHOUR" not in parts
    after = written + timedelta(seconds=rng.randint(-100_000, 60_000_000))
    if name == "berlin" and rng.random() < 0.5:
        # Around a change of the clocks.
        change = rng.choice([datetime(2026, 10, 25, tzinfo=UTC), datetime(2027, 3, 28, tzinfo=UTC)])
        after = change + timedelta(seconds=rng.randint(-50_000, 50_000))
    walls = oracle.xafter(after.astimezone(zone).replace(tzinfo=None) - timedelta(hours=3), count=40, inc=True)
    times = sorted({moment for wall in walls for moment in moments(wall, zone, hourly) if moment > after})[:8]
    if any(later - earlier > timedelta(days=39 * 365) for earlier, later in zip([after, *times], times)):
        return line(rng)
    shown = " ".join(f"{int(moment.timestamp())}" for moment in times) or "-"
    return "\t".join([text, name, str(int(written.timestamp())), str(int(after.timestamp())), shown])


def main():
    rng = random.Random(20261124)
    for _ in range(400):
        print(line(rng))


main()
