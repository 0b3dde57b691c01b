"""What stands between nodes and PostgreSQL and can silence the lines on which they listen for each other's rings."""

import asyncio
import threading
import urllib.parse


class Line:
    """One connection of a node, and its own to PostgreSQL."""

    def __init__(self):
        self.listens = False
        self.writers = []

    def close(self):
        for writer in self.writers:
            writer.close()


class Relay:
    """Carries bytes both ways. Once it is cut, lines that listen stay open and carry nothing, new ones too."""

    def __init__(self, url):
        parts = urllib.parse.urlsplit(url)
        self._server = (parts.hostname, parts.port or 5432)
        self._lines, self._is_cut, self.swallowed = set(), False, 0
        self._loop = asyncio.new_event_loop()
        ready = threading.Event()
        # Nodes are started while the attack's own loop stands still.
        threading.Thread(target=self._run, args=(ready,), daemon=True).start()
        ready.wait()

    def address(self, url):
        """The URL by which a node comes through here."""
        parts = urllib.parse.urlsplit(url)
        who, at, _ = parts.netloc.rpartition("@")
        return parts._replace(netloc=f"{who}{at}127.0.0.1:{self._port}", query="sslmode=disable").geturl()

    def listening(self):
        """How many nodes listen by a line that carries."""
        return 0 if self._is_cut else sum(line.listens for line in list(self._lines))

    def cut(self):
        self.swallowed, self._is_cut = 0, True

    def mend(self):
        """Ends the silent lines, in whose place nodes open others."""
        done = threading.Event()
        self._loop.call_soon_threadsafe(self._mend, done)
        done.wait()

    def _mend(self, done):
        self._is_cut = False
        for line in list(self._lines):
            if line.listens:
                self._lines.discard(line)
                line.close()
        done.set()

    def close(self):
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _run(self, ready):
        asyncio.set_event_loop(self._loop)
        door = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self._port = door.sockets[0].getsockname()[1]
        ready.set()
        self._loop.run_forever()

    async def _serve(self, reader, writer):
        line = Line()
        line.writers.append(writer)
        self._lines.add(line)
        try:
            theirs, back = await asyncio.open_connection(*self._server)
            line.writers.append(back)
            await asyncio.gather(self._carry(line, reader, back, True), self._carry(line, theirs, writer, False))
        except OSError:
            pass
        finally:
            self._lines.discard(line)
            line.close()

    async def _carry(self, line, reader, writer, is_from_node):
        while data := await reader.read(65536):
            if is_from_node and b"LISTEN " in data:
                line.listens = True
            if line.listens and self._is_cut:
                self.swallowed += len(data)
                continue
            writer.write(data)
            await writer.drain()
        line.close()
