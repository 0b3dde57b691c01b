"""Judges `tocsin dev ws-echo` by the cases of Autobahn's test suite (PyPI's autobahntestsuite), families 1 to 7, 9 and 10.

The suite is written in Python 2 for a framework of its time: its cases are translated into a temporary folder and driven
by the small client below. Families 12 and 13 are about compression, which is not offered. Use: autobahn_cases.py BINARY"""

import asyncio
import codecs
import importlib.metadata
import importlib.util
import inspect
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import types

CODES = {"NORMAL": 1000, "GOING_AWAY": 1001, "PROTOCOL_ERROR": 1002, "INVALID_PAYLOAD": 1007, "MESSAGE_TOO_BIG": 1009}


def translated(folder):
    """The suite's case classes; its byte strings become texts of Latin-1."""
    from lib2to3 import refactor

    source = importlib.metadata.distribution("autobahntestsuite").locate_file("autobahntestsuite/case")
    package = os.path.join(folder, "case")
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("__pycache__", "case12*", "case13*", "case9_9*"))
    tool = refactor.RefactoringTool(refactor.get_fixers_from_package("lib2to3.fixes"))
    for name in os.listdir(package):
        path = os.path.join(package, name)
        text = open(path, encoding="latin-1").read()
        text = str(tool.refactor_string(text + "\n", path))
        text = re.sub(r"^from \.?case(12|13|9_9).*$", "", text, flags=re.M)
        text = re.sub(r"^Case\w+\.(extend|append|update)\(Case(12|13|9_9).*$", "", text, flags=re.M)
        text = re.sub(r"^Cases \+= \[Case9_9_1\].*$", "", text, flags=re.M)
        text = text.replace("(object, Case, )", "(Case, )").replace("import binascii", "from shims import binascii")
        text = re.sub(r"\.encode\((['\"])utf-?8\1\)", ".encode('utf8').decode('latin-1')", text, flags=re.I)
        text = text.replace("/ self.p.autoFragmentSize", "// self.p.autoFragmentSize")
        open(path, "w", encoding="utf-8").write(text)
    shims = types.ModuleType("shims")
    shims.binascii = types.SimpleNamespace(
        b2a_hex=lambda text: (text.encode("latin-1") if isinstance(text, str) else text).hex()
    )
    protocol = types.ModuleType("autobahn.websocket.protocol")
    protocol.WebSocketProtocol = Client
    validator = types.ModuleType("autobahn.websocket.utf8validator")
    validator.Utf8Validator = Utf8Validator
    sys.modules.update(
        {
            "autobahn.websocket.utf8validator": validator,
            "shims": shims,
            "autobahn": types.ModuleType("autobahn"),
            "autobahn.websocket": types.ModuleType("autobahn.websocket"),
            "autobahn.websocket.protocol": protocol,
        }
    )
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    import case

    return case.Cases


class Utf8Validator:
    """What the suite asks of its framework's: whether a text may become UTF-8, and whether it is whole."""

    def reset(self):
        pass

    def validate(self, text):
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            decoder.decode(text.encode("latin-1"))
        except UnicodeDecodeError:
            return False, False
        return True, not decoder.getstate()[0]


def data(text):
    return text.encode("latin-1") if isinstance(text, str) else bytes(text)


class Client:
    """What a case sees as its connection: sends whatever it is told and notes what comes."""

    STATE_CLOSED, STATE_CONNECTING, STATE_CLOSING, STATE_OPEN = range(4)

    def __init__(self):
        for name, code in CODES.items():
            setattr(self, "CLOSE_STATUS_CODE_" + name, code)
        self.factory = types.SimpleNamespace(isServer=False)
        self.state = self.STATE_CONNECTING
        self.wasClean = self.closedByMe = self.droppedByMe = self.connectionWasOpen = False
        self.remoteCloseCode = self.localCloseReason = None
        self.autoFragmentSize = 0
        self.txFrameStats = {}
        self.createWirelog = False
        self.trafficStats = None
        self._timers = []
        self._message = None

    async def run(self, make, port):
        reader, self._writer = await asyncio.open_connection("127.0.0.1", port)
        self._loop = asyncio.get_running_loop()
        self._writer.write(
            b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101 "), head
        self.state, self.connectionWasOpen = self.STATE_OPEN, True
        self._case = make(self)
        self._case.compare = lambda one, other: plain(one) == plain(other)
        self._case.onOpen()
        try:
            while True:
                await self._frame(reader)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        self.state = self.STATE_CLOSED
        for timer in self._timers:
            timer.cancel()
        self._writer.close()
        self._case.onClose(self.wasClean, self.remoteCloseCode, None)
        self._case.onConnectionLost(self.droppedByMe)
        return self._case

    async def _frame(self, reader):
        first, second = await reader.readexactly(2)
        length = second & 127
        if length > 125:
            length = int.from_bytes(await reader.readexactly(2 if length == 126 else 8), "big")
        payload = await reader.readexactly(length)
        opcode, is_final = first & 15, first & 128
        if opcode in (0, 1, 2):
            kind, before = self._message if opcode == 0 else (opcode, b"")
            self._message = (kind, before + payload)
            if is_final:
                self._case.onMessage((before + payload).decode("latin-1"), kind == 2)
        elif opcode == 9:
            self.sendFrame(10, payload)
            self._case.onPing(payload.decode("latin-1"))
        elif opcode == 10:
            self._case.onPong(payload.decode("latin-1"))
        elif opcode == 8:
            self.remoteCloseCode = int.from_bytes(payload[:2], "big") if payload else None
            if self.state == self.STATE_OPEN:
                self.sendFrame(8, payload[:2])
            self.state, self.wasClean = self.STATE_CLOSING, True

    # What cases ask for.

    def sendFrame(self, opcode, payload="", fin=True, rsv=0, mask=None, payload_len=None, chopsize=None, sync=False):
        payload = data(payload)
        if payload_len is not None:
            payload = (payload * (payload_len // max(1, len(payload)) + 1))[:payload_len] if payload else payload
        self.txFrameStats[opcode] = self.txFrameStats.get(opcode, 0) + 1
        self._send(self._head(opcode, len(payload), fin, rsv) + self._masked(payload), chopsize)

    def _head(self, opcode, length, fin, rsv=0):
        self._mask = os.urandom(4)
        head = bytes([(128 if fin else 0) | (rsv % 8) << 4 | opcode])
        if length <= 125:
            head += bytes([128 | length])
        elif length <= 65535:
            head += b"\xfe" + struct.pack("!H", length)
        else:
            head += b"\xff" + struct.pack("!Q", length)
        self._sent = 0
        return head + self._mask

    def _masked(self, payload):
        start = self._sent % 4
        self._sent += len(payload)
        key = (self._mask[start:] + self._mask[:start]) * (len(payload) // 4 + 1)
        number = int.from_bytes(payload, "big") ^ int.from_bytes(key[: len(payload)], "big")
        return number.to_bytes(len(payload), "big")

    def _send(self, data, chopsize=None):
        if self._writer.is_closing():
            return
        for start in range(0, len(data), chopsize or max(1, len(data))):
            self._writer.write(data[start : start + (chopsize or len(data))])

    def sendMessage(self, payload, isBinary=False, fragmentSize=None, sync=False, doNotCompress=False):
        payload, size = data(payload), fragmentSize or self.autoFragmentSize or max(1, len(payload))
        parts = [payload[start : start + size] for start in range(0, len(payload), size)] or [b""]
        for index, part in enumerate(parts):
            self.sendFrame((2 if isBinary else 1) if index == 0 else 0, part, fin=index == len(parts) - 1)

    def beginMessage(self, isBinary=False, doNotCompress=False):
        self._opcode = 2 if isBinary else 1

    def beginMessageFrame(self, length):
        self._send(self._head(self._opcode, length, False))
        self._opcode = 0

    def sendMessageFrameData(self, payload, sync=False):
        self._send(self._masked(data(payload)))

    def endMessage(self):
        self.sendFrame(0)

    def sendClose(self, code=None, reason=None):
        if self.state == self.STATE_OPEN:
            self.sendCloseFrame(code, reason)

    def sendCloseFrame(self, code=None, reasonUtf8=None, isReply=False, reason=None):
        if self.state == self.STATE_OPEN:
            self.closedByMe, self.state = True, self.STATE_CLOSING
            self.sendFrame(8, (struct.pack("!H", code) if code is not None else b"") + data(reasonUtf8 or reason or ""))

    def closeAfter(self, delay):
        self._later(delay, lambda: self.sendClose(1000))

    def killAfter(self, delay):
        self._later(delay, self._drop)

    def _drop(self):
        self.droppedByMe = True
        self._writer.transport.abort()

    def continueLater(self, delay, fun, tag=None):
        self._later(delay, fun)

    def _later(self, delay, fun):
        self._timers.append(self._loop.call_later(delay, fun))

    def enableWirelog(self, enable):
        pass


def plain(value):
    """Texts and bytes of one shape, so that they can be compared."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return bool(value) if isinstance(value, (bool, int)) else value


def number(case):
    return case.__name__.removeprefix("Case").replace("_", ".")


async def judge(cases, port):
    """Runs the cases, some at once; the number of verdicts of each kind."""
    verdicts, slots = {}, asyncio.Semaphore(12)

    async def run(one):
        async with slots:
            try:
                done = await asyncio.wait_for(Client().run(one, port), 150)
                verdict = (done.behavior, done.behaviorClose)
                detail = f"{done.result} {done.resultClose}"
            except Exception as error:
                verdict, detail = ("ERROR", "ERROR"), f"{type(error).__name__}: {error}"
        is_good = verdict[0] in ("OK", "INFORMATIONAL") and verdict[1] in ("OK", "INFORMATIONAL")
        verdicts[verdict] = verdicts.get(verdict, 0) + 1
        if not is_good:
            print(f"FAIL  {number(one)}: {verdict[0]}, close {verdict[1]}: {detail[:300]}", flush=True)
        return is_good

    results = await asyncio.gather(*(run(one) for one in cases))
    for verdict, count in sorted(verdicts.items()):
        print(f"{count} cases: {verdict[0]}, close {verdict[1]}")
    return results


def main():
    if importlib.util.find_spec("lib2to3") is None:
        print("This Python has no lib2to3 to translate the suite with; it is left out.")
        return
    folder = tempfile.mkdtemp(prefix="tocsin-autobahn-")
    process = subprocess.Popen([sys.argv[1], "dev", "ws-echo", "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        port = int(process.stdout.readline().rstrip("/\n").rpartition(":")[2])
        cases = [one for one in translated(folder) if inspect.isclass(one)]
        if len(sys.argv) > 2:
            cases = [one for one in cases if number(one).startswith(sys.argv[2])]
        results = asyncio.run(judge(cases, port))
    finally:
        process.terminate()
        process.wait(20)
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed", flush=True)
    raise SystemExit(0 if results and all(results) else 1)


main()
