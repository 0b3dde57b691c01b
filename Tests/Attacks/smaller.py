"""11: the log, rates, storage, and tokens of those who were disabled."""

import asyncio
import os
import time

from client import CREATE_MESSAGE, Connection, make_topic
from rights import ISSUER, issued_token
from stage import Load, attack
from unread import be_refused


@attack("refusals", touches_data=False)
async def log_of_refusals(stage):
    server = stage.server().start()
    seconds, before = 4, os.path.getsize(server.log)
    said = await Load(be_refused, server.place, seconds).result(30)
    rate = (os.path.getsize(server.log) - before) / seconds
    stage.fact(f"{said} with {rate / 1000:.1f} kB of log a second (≤ 10)", rate <= 10_000)
    await asyncio.sleep(2)
    stage.fact("a line counts them", '"count"' in server.log_text() or "times" in server.log_text())


@attack("rate", touches_data=False)
async def root_fields_count(stage):
    server = stage.server(settings={"TOCSIN_RATE_PER_SECOND": "10", "TOCSIN_RATE_BURST": "40"}).start()
    connection = Connection(server.place, server.add_user("mallory"))
    fields = " ".join(f"f{number}: me {{ userId }}" for number in range(20))
    begun, served, statuses = time.monotonic(), 0, set()
    while time.monotonic() < begun + 3:
        answer = await connection.graphql("{" + fields + "}")
        statuses.add(answer.status)
        served += 20 if answer.status == 200 and not answer.json.get("errors") else 0
        await asyncio.sleep(0.02)
    allowed = 40 + 10 * (time.monotonic() - begun) + 20
    stage.fact(f"{served} root fields in 3 s (≤ {allowed:.0f}), statuses {sorted(statuses)}", served <= allowed)


@attack("storage")
async def storage_of_an_owner(stage):
    server = stage.server(settings={"TOCSIN_STORAGE_BYTES_PER_OWNER": "1000000"}).start()
    mallory, vera = (Connection(server.place, server.add_user(name)) for name in ("mallory", "vera"))
    topics = [await make_topic(connection, "one's own") for connection in (mallory, vera)]
    stored, code = 0, None
    while stored < 20 and code is None:
        message = {"topicId": topics[0], "type": 0, "title": "t", "body": "a" * 200_000}
        code = (await mallory.graphql(CREATE_MESSAGE, i=message)).error_code
        stored += code is None
        # What is stored may be counted a moment later.
        await asyncio.sleep(0.2)
    stage.fact(f"{stored} bodies of 200 kB, then {code}", code == "LIMIT" and 3 <= stored <= 8)
    answer = await vera.graphql(CREATE_MESSAGE, i={"topicId": topics[1], "type": 0, "title": "t", "body": "b"})
    stage.fact("others may write", answer.error_code is None)


@attack("disabled-subject", touches_data=False)
async def disabled_user_stays_out(stage):
    server = stage.server(settings=ISSUER).start()
    server.add_user("ida")
    id = server.user_id("ida")

    async def status(subject):
        connection = Connection(server.place, issued_token(subject, username=subject))
        answer = await connection.graphql("{ me { userId } }")
        connection.close()
        return answer.status

    server.administer("user", "disable", "ida")
    stage.fact(f"another subject gets {await status('subject-1')}", await status("subject-1") == 200)
    got = await status(id)
    stage.fact(f"the id of a disabled local user as a subject gets {got}", got == 401)


@attack("export", touches_data=False)
async def export_keeps_secrets(stage):
    server = stage.server().start()
    server.add_user("alice")
    old, target, link = (os.path.join(server.folder, name) for name in ("old.dump", "target", "link.dump"))
    for path in (old, target):
        open(path, "w").write("before")
        os.chmod(path, 0o644)
    os.symlink(target, link)
    server.administer("export", "--force", "--output", old)
    mode = os.stat(old).st_mode & 0o777
    stage.fact(f"an existing file of 0644 is {mode:04o} afterwards", mode == 0o600)
    status = server.attempt("export", "--force", "--output", link).returncode
    stage.fact(f"a link is not written through (exit status {status})", open(target).read() == "before")
