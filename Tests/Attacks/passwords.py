"""Guessing passwords: what others feel of it, and whether it keeps the right person out."""

import asyncio
import json
import subprocess
import time

from client import plain_socket
from stage import attack

PASSWORD = "correct horse battery"
SIGN_IN = "mutation($p: String!) { signIn(username: \"ada\", password: $p) { token } }"


@attack("wrong-passwords", makes_load=True)
async def wrong_passwords(stage):
    """10,000 tries from 200 networks, which a proxy of the server's names; the person's own network is known."""
    count, seconds = (1000, 8) if stage.is_short else (10_000, 30)
    server, victim, _ = await stage.scene(prepare=add_ada)
    first = sign_in(server.place, PASSWORD, "203.0.113.7")
    stage.fact(f"the right password is answered with {first}", first == "signed in")
    said = await stage.under(server, victim, seconds, send_wrong, count)
    stage.fact(f"wrong passwords: {said}", isinstance(said, dict) and not said.get("signed in"))
    begun = time.monotonic()
    known = sign_in(server.place, PASSWORD, "203.0.113.7")
    waited = time.monotonic() - begun
    most = 15 if stage.is_short else 4
    stage.fact(f"from a known network it is {known} after {waited:.1f} s", known == "signed in" and waited < most)


async def add_ada(server):
    command = [server.binary, "user", "add", "ada", "--password-stdin", "--data-dir", server.environment["TOCSIN_DATA_DIR"]]
    subprocess.run(command, input=PASSWORD.encode(), env=server.environment, check=True, capture_output=True, timeout=60)


def request(password, address):
    body = json.dumps({"query": SIGN_IN, "variables": {"p": password}}).encode()
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


async def guess(place, address, count, end, seen):
    try:
        await guess_on_one_connection(place, address, count, end, seen)
    except (OSError, EOFError):
        # The server may close what was answered; the network is slowed all the same.
        seen["closed"] = seen.get("closed", 0) + 1


async def guess_on_one_connection(place, address, count, end, seen):
    reader, writer = await asyncio.open_connection(*place)
    for number in range(count):
        if time.monotonic() > end:
            break
        writer.write(request(f"wrong password {number}", address))
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        answer = head + await reader.readexactly(int(length.split(b":")[1]))
        seen[outcome(answer)] = seen.get(outcome(answer), 0) + 1
    writer.close()


def send_wrong(place, count, seconds):
    """Tries from 200 networks at once; how many were answered how."""
    seen, end = {}, time.monotonic() + seconds

    async def all_networks():
        tasks = [guess(place, f"198.51.{number}.9", count // 200, end, seen) for number in range(200)]
        await asyncio.wait(map(asyncio.ensure_future, tasks), timeout=seconds + 10)

    asyncio.run(all_networks())
    return seen
