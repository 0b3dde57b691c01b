"""A plain sender with aioapns, for `tocsin-bench push`: one connection, many requests at once.

Arguments: origin, CA file, pushes, requests at once, key file. Prints one line of JSON.
"""

import asyncio
import json
import resource
import ssl
import sys
import time
from urllib.parse import urlsplit

from aioapns import APNs, NotificationRequest, PushType
from aioapns import connection as connections

ORIGIN, AUTHORITY, COUNT, AT_ONCE, KEY = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
ALERT = {"title": "Disk full", "body": "The disk of db-3 is 91 % full."}
MESSAGE = {"aps": {"alert": ALERT, "sound": "default", "thread-id": "t"}, "messageId": "m"}


class Protocol(connections.APNsDevelopmentClientProtocol):
    """Takes answers without apns-id, which the sink does not give, as those to the oldest requests."""

    def on_response_received(self, headers):
        if b"apns-id" not in headers and self.requests:
            headers[b"apns-id"] = next(iter(self.requests)).encode()
        super().on_response_received(headers)


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def main():
    address = urlsplit(ORIGIN)
    Protocol.APNS_SERVER, Protocol.APNS_PORT = address.hostname, address.port
    trust = ssl.create_default_context(cafile=AUTHORITY)
    trust.set_alpn_protocols(["h2"])
    with open(KEY) as file:
        key = file.read()
    client = APNs(
        key=key,
        key_id="SIMKEY0001",
        team_id="SIMTEAM001",
        topic="com.example.tocsin",
        use_sandbox=True,
        max_connections=1,
        ssl_context=trust,
    )
    client.pool.protocol_class = Protocol
    numbers = iter(range(COUNT))

    async def sender():
        for number in numbers:
            request = NotificationRequest(
                device_token=f"{number:064x}",
                message=MESSAGE,
                notification_id=f"00000000-0000-4000-8000-{number:012d}",
                push_type=PushType.ALERT,
                collapse_key="0197-message",
            )
            answer = await client.send_notification(request)
            if not answer.is_successful:
                raise RuntimeError(answer.description)

    await client.send_notification(NotificationRequest(device_token="0" * 64, message=MESSAGE))
    start, cpu = time.monotonic(), cpu_seconds()
    await asyncio.gather(*(sender() for _ in range(AT_ONCE)))
    print(json.dumps({"pushes": COUNT, "seconds": time.monotonic() - start, "cpuSeconds": cpu_seconds() - cpu}))


asyncio.run(main())
