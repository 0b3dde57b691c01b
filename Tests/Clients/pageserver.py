"""A small server of pages for a browser: files by path, and what the pages tell."""

import http.server
import json
import os
import ssl
import subprocess
import threading


class Page(http.server.BaseHTTPRequestHandler):
    """Files by host and path, or by path alone; pages tell by POST."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_POST(self):
        told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.told.put((told["name"], told["value"]))
        self.answer(204, b"")

    def do_GET(self):
        host = self.headers["Host"].split(":")[0]
        kind, body = self.server.files.get(host + self.path) or self.server.files.get(self.path) or ("text/plain", None)
        self.answer(404 if body is None else 200, body or b"", kind)

    def answer(self, status, body, kind="text/plain"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class PageServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, told, files, certificate=None, page=Page):
        super().__init__(("127.0.0.1", 0), page)
        self.told, self.files = told, files
        self.origin = f"http://127.0.0.1:{self.server_port}"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        """A browser drops connections as it likes."""


class Chromium:
    """A headless Chromium on a page, with a folder of its own."""

    def __init__(self, chromium, folder, address, *flags):
        usual = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
        usual += ["--disable-background-networking", "--disable-component-update", f"--user-data-dir={folder}"]
        self.process = subprocess.Popen(
            [chromium, *usual, *flags, address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )

    def end(self):
        os.killpg(self.process.pid, 15)
        self.process.wait(20)
