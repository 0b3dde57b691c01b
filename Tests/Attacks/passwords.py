"""Guessing passwords: what others feel of it, and whether it keeps the right person out."""

import asyncio
import json
import subprocess
import time

from client import plain_socket
from stage import Load, attack
from victim import p99

PASSWORD = "correct horse battery"
HARMLESS = "query Harmless { __typename }"
SIGN_IN = "mutation($p: String!) { signIn(username: \"ada\", password: $p) { token } }"


NETWORKS = 200
#: How much more of its time another owner's request may take while passwords are guessed: a tenth.
MOST = 1.1


@attack("wrong-passwords", makes_load=True, seconds=420)
async def wrong_passwords(stage):
    """10,000 tries from 200 networks, which a proxy of the server's names, in rounds between quiet ones and such with as
    many harmless requests; the person's own network is known."""
    count, rounds, seconds = (1000, 1, 4) if stage.is_short else (10_000, 5, 16)
    server, victim, _ = await stage.scene(prepare=add_ada)
    first = sign_in(server.place, PASSWORD, "203.0.113.7")
    stage.fact(f"the right password is answered with {first}", first == "signed in")
    share = count // (rounds + 1)
    said = [await stage.under(server, victim, seconds, send_wrong, share)]
    quiet, floor, attacked = [], [], []
    for _ in range(rounds):
        quiet.append(await victim.measure(seconds, pause=0.02))
        load = Load(send_wrong, server.place, share, seconds, HARMLESS)
        await asyncio.sleep(0.5)
        floor.append(await victim.measure(seconds - 0.5, pause=0.02))
        await load.result(30)
        load = Load(send_wrong, server.place, share, seconds)
        await asyncio.sleep(0.5)
        attacked.append(await victim.measure(seconds - 0.5, pause=0.02))
        # What waits for the brakes is over, too, before it is quiet.
        said.append(await load.result(30))
    judge(stage, said, count)
    for what, times in (("reads", lambda each: each.reads), ("createMessage", lambda each: each.creates)):
        compare(stage, what, *([times(each) for each in kind] for kind in (quiet, floor, attacked)))
    for failure in [failure for each in quiet + floor + attacked for failure in each.failed][:1]:
        stage.fact(f"failed in a round: {failure}", False)
    begun = time.monotonic()
    known = sign_in(server.place, PASSWORD, "203.0.113.7")
    waited = time.monotonic() - begun
    most = 15 if stage.is_short else 4
    stage.fact(f"from a known network it is {known} after {waited:.1f} s", known == "signed in" and waited < most)


def judge(stage, said, count):
    """That all tries were made, that none got in, and how many of each round were checked."""
    if not all(isinstance(each, dict) for each in said):
        return stage.fact(f"wrong passwords: {said}", False)
    total = {}
    for each in said:
        for outcome, times in each.items():
            total[outcome] = total.get(outcome, 0) + times
    checked = ", ".join(str(each.get("UNAUTHENTICATED", 0)) for each in said)
    text = f"wrong passwords: {total}; checked in each round: {checked}"
    stage.fact(text, not total.get("signed in") and (stage.is_short or sum(total.values()) >= count * 0.95))


def compare(stage, what, quiet, floor, attacked):
    """Compares p99 of all quiet rounds with that of all attacked ones. What as many harmless requests cost is told, too,
    and each round's, so that noise shows."""

    def told(rounds):
        return f"{p99(sum(rounds, [])) * 1000:.1f} ms ({', '.join(f'{p99(each) * 1000:.1f}' for each in rounds)})"

    ratio = p99(sum(attacked, [])) / p99(sum(quiet, []))
    bound = "" if stage.is_short else f" (≤ {MOST})"
    stage.fact(
        f"{what} p99 quiet {told(quiet)}, attacked {told(attacked)}: {ratio:.2f} times{bound}; "
        f"beside as many harmless requests {told(floor)}",
        stage.is_short or ratio <= MOST,
    )


async def add_ada(server):
    command = [server.binary, "user", "add", "ada", "--password-stdin", "--data-dir", server.environment["TOCSIN_DATA_DIR"]]
    subprocess.run(command, input=PASSWORD.encode(), env=server.environment, check=True, capture_output=True, timeout=60)


def request(password, address, query=SIGN_IN):
    body = json.dumps({"query": query, "variables": {"p": password}}).encode()
    lines = [
        "POST /graphql HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json", f"X-Forwarded-For: {address}",
        f"Content-Length: {len(body)}",
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def outcome(answer):
    if b'"token":"' in answer:
        return "signed in"
    for code in (b"UNAUTHENTICATED", b"LIMIT", b"TIMEOUT", b"UNAVAILABLE"):
        if code in answer:
            return code.decode()
    return answer[:40].decode(errors="replace")


def sign_in(place, password, address):
    with plain_socket(place, seconds=20) as connection:
        connection.sendall(request(password, address))
        return outcome(connection.recv(65536))


async def guess(place, address, times, seen, query):
    """One network's tries at these moments, or as soon as the one before is answered."""
    try:
        await guess_on_one_connection(place, address, times, seen, query)
    except (OSError, EOFError):
        # The server may close what was answered; the network is slowed all the same.
        seen["closed"] = seen.get("closed", 0) + 1


async def guess_on_one_connection(place, address, times, seen, query):
    reader, writer = await asyncio.open_connection(*place)
    for number, moment in enumerate(times):
        await asyncio.sleep(max(0, moment - time.monotonic()))
        writer.write(request(f"wrong password {number}", address, query))
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        answer = head + await reader.readexactly(int(length.split(b":")[1]))
        seen[outcome(answer)] = seen.get(outcome(answer), 0) + 1
    writer.close()


def send_wrong(place, count, seconds, query=SIGN_IN):
    """So many tries from 200 networks, evenly over the time; how many were answered how.

    A try waits for up to three seconds at the brakes, so each network has two connections."""
    seen, begun = {}, time.monotonic()
    moments = [[] for _ in range(2 * NETWORKS)]
    for number in range(count):
        moments[number % len(moments)].append(begun + number * seconds / count)

    async def all_networks():
        tasks = [guess(place, f"198.51.{number % NETWORKS}.9", times, seen, query) for number, times in enumerate(moments)]
        await asyncio.wait(map(asyncio.ensure_future, tasks), timeout=seconds + 20)

    asyncio.run(all_networks())
    return seen
