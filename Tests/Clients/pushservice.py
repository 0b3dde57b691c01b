"""A push service as Mozilla runs one, for a Firefox on this machine: a socket that browsers hold, and an https address, by HTTP/2,
that servers post to."""

import base64
import json
import os
import socket
import ssl
import subprocess
import threading
import uuid

import h2.config
import h2.connection
import h2.events
from websockets.exceptions import ConnectionClosedError
from websockets.sync.server import serve


class PushService:
    """Passes on what is posted, still sealed, to the browser that has subscribed."""

    def __init__(self, folder):
        self.certificate = os.path.join(folder, "push.pem")
        self.key = os.path.join(folder, "push.key")
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
        command += ["-keyout", self.key, "-out", self.certificate, "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
        #: By channel: the browser's socket, and the key that it has subscribed with.
        self.channels = {}
        self.posted, self.acknowledged = [], []
        self.changed = threading.Condition()
        self.sockets = serve(self.serve_browser, "127.0.0.1", 0, subprotocols=["push-notification"])
        self.address = f"ws://127.0.0.1:{self.sockets.socket.getsockname()[1]}/"
        threading.Thread(target=self.sockets.serve_forever, daemon=True).start()
        self.posts = socket.create_server(("127.0.0.1", 0))
        self.origin = f"https://localhost:{self.posts.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def serve_browser(self, browser):
        for text in self.heard(browser):
            said = json.loads(text)
            match said.get("messageType"):
                case "hello":
                    browser.send(json.dumps({"messageType": "hello", "uaid": uuid.uuid4().hex, "status": 200, "use_webpush": True}))
                case "register":
                    channel = said["channelID"]
                    self.channels[channel] = (browser, said.get("key", "").rstrip("="))
                    endpoint = f"{self.origin}/push/{channel}"
                    browser.send(json.dumps({"messageType": "register", "channelID": channel, "status": 200, "pushEndpoint": endpoint}))
                case "unregister":
                    self.channels.pop(said["channelID"], None)
                    browser.send(json.dumps({"messageType": "unregister", "channelID": said["channelID"], "status": 200}))
                case "ack":
                    with self.changed:
                        self.acknowledged += said["updates"]
                        self.changed.notify_all()
                case None:
                    browser.send("{}")

    @staticmethod
    def heard(browser):
        """What a browser says until it goes."""
        try:
            yield from browser
        except ConnectionClosedError:
            pass

    def accept(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        context.set_alpn_protocols(["h2"])
        while True:
            plain, _ = self.posts.accept()
            threading.Thread(target=self.serve_sender, args=(context, plain), daemon=True).start()

    def serve_sender(self, context, plain):
        with context.wrap_socket(plain, server_side=True) as secured:
            connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
            connection.initiate_connection()
            secured.sendall(connection.data_to_send())
            requests = {}
            while data := secured.recv(65_536):
                for event in connection.receive_data(data):
                    if isinstance(event, h2.events.RequestReceived):
                        requests[event.stream_id] = (dict(event.headers), bytearray())
                    elif isinstance(event, h2.events.DataReceived):
                        requests[event.stream_id][1].extend(event.data)
                        connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                    elif isinstance(event, h2.events.StreamEnded):
                        headers, body = requests.pop(event.stream_id)
                        answer = [(":status", str(self.take(headers, bytes(body)))), ("location", f"{self.origin}/message/{uuid.uuid4().hex}")]
                        connection.send_headers(event.stream_id, answer, end_stream=True)
                secured.sendall(connection.data_to_send())

    def take(self, headers, body):
        """The status of a post; what is good goes to the browser."""
        channel = headers[":path"].rsplit("/", 1)[1]
        if channel not in self.channels:
            return 410
        browser, key = self.channels[channel]
        scheme, _, rest = headers.get("authorization", "").partition(" ")
        signed = dict(part.strip().split("=", 1) for part in rest.split(",") if "=" in part)
        claims = signed.get("t", "..").split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)) or b"{}")
        seen = (scheme, signed.get("k"), claims.get("aud"), headers.get("content-encoding"))
        if seen != ("vapid", key, self.origin, "aes128gcm"):
            print(f"      the push service refuses {seen}, of a browser with {key}", flush=True)
            return 403
        with self.changed:
            self.posted.append((headers, body))
        data = base64.urlsafe_b64encode(body).decode().rstrip("=")
        browser.send(json.dumps({
            "messageType": "notification", "channelID": channel, "version": uuid.uuid4().hex, "data": data,
            "headers": {"encoding": headers["content-encoding"]}}))
        return 201

    def wait_for_acknowledgements(self, count):
        """The codes that the browser has answered with; 100 is a push that it could read."""
        with self.changed:
            self.changed.wait_for(lambda: len(self.acknowledged) >= count, timeout=60)
            return [each.get("code") for each in self.acknowledged]

    def stop(self):
        self.sockets.shutdown()
        self.posts.close()
