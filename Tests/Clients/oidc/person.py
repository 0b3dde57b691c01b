"""A browser and the person before it: goes where it is sent, signs in, agrees, and stops at the redirect address."""

import html.parser
import urllib.parse

import requests

ANSWERS = {"username": "alice", "password": "open sesame", "sub": "alice"}


class Forms(html.parser.HTMLParser):
    """The forms of a page: their addresses, their fields, and their buttons that have names."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "form":
            self.found.append({"action": attributes.get("action", ""), "fields": {}, "buttons": {}})
        elif self.found and attributes.get("name"):
            is_button = tag == "button" or attributes.get("type") == "submit"
            form = self.found[-1]
            form["buttons" if is_button else "fields"][attributes["name"]] = attributes.get("value", "")


class Person:
    def __init__(self):
        self.session = requests.Session()

    def walk(self, address, redirect, agrees=True):
        """The query with which the provider sends the browser back."""
        method, data = "GET", None
        for _ in range(12):
            answer = self.session.request(method, address, data=data, allow_redirects=False, timeout=20)
            method, data = "GET", None
            if answer.is_redirect:
                address = urllib.parse.urljoin(address, answer.headers["location"])
                if address.split("?")[0] == redirect:
                    return urllib.parse.parse_qsl(urllib.parse.urlsplit(address).query, keep_blank_values=True)
                continue
            if answer.status_code != 200:
                raise RuntimeError(f"{address} answered {answer.status_code}: {answer.text[:2000]}")
            address, method, data = self.filled(answer, agrees)
        raise RuntimeError(f"no end of pages; the last is {address}")

    @staticmethod
    def filled(answer, agrees):
        forms = Forms(answer.text).found
        if not forms:
            raise RuntimeError(f"a page without a form: {answer.text[:2000]}")
        asks = any(name in form["fields"] for form in forms for name in ANSWERS)
        # Where one may refuse, it is a form of its own or the lack of the button that agrees.
        form = next((f for f in forms if not agrees and "action" in f["buttons"]), forms[0])
        data = {name: ANSWERS.get(name, value) for name, value in form["fields"].items()}
        if agrees or asks:
            data.update({"allow": "Authorize"} if "allow" in form["buttons"] else {})
        if not agrees:
            data.update(form["buttons"] if "action" in form["buttons"] else {})
        return urllib.parse.urljoin(answer.url, form["action"]) or answer.url, "POST", data
