"""A broadcast by Python's websockets: `broadcast_websockets.py FRAME_BYTES` prints its port, then each line on standard
input is how many messages every connection gets in one round."""

import asyncio
import resource
import sys

from websockets.asyncio.server import broadcast, serve


async def main() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    message = "x" * (int(sys.argv[1]) - 4)
    connections = set()

    async def follow(connection) -> None:
        connections.add(connection)
        try:
            await connection.wait_closed()
        finally:
            connections.discard(connection)

    lines = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    async with serve(follow, "127.0.0.1", 0, compression=None, ping_interval=None, backlog=1024) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        while line := await lines.readline():
            for _ in range(int(line)):
                broadcast(connections, message)


asyncio.run(main())
