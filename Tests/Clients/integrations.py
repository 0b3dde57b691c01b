"""Walks through what an integration does beyond its key: routes by labels, as lines that say the same after they are read and
written, whether buttons of its messages may have the server call, what comes of a press, and names that look like moments.
Use: integrations.py BINARY [CHROMIUM]"""

import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from playwright.sync_api import expect

from console import in_chromium, posted
from states import entered

ADD = "mutation($i: CreateIntegrationInput!) { createIntegration(input: $i) { id } }"
CHANGE = "mutation($i: UpdateIntegrationInput!) { updateIntegration(input: $i) { _version } }"
STORED = "query($id: ID!) { getIntegration(id: $id) { routes { match topicId priority } enabled allowHttpActions _version } }"


class Routes:
    """The routes of one integration, as they stand in the page and as they are stored."""

    def __init__(self, here, token, id):
        self.here, self.page, self.token, self.id = here, here.page, token, id
        self.lines = self.page.get_by_role("textbox", name="Routes", exact=True)
        self.problem = self.page.get_by_role("alert")

    def stored(self):
        return self.here.server.post(self.token, STORED, id=self.id)["getIntegration"]

    def change(self, **more):
        self.here.server.post(self.token, CHANGE, i={"id": self.id, "_version": self.stored()["_version"], **more})

    def open(self):
        self.page.get_by_text("Routes by labels", exact=True).click()
        expect(self.lines).to_be_visible(timeout=60_000)

    def save(self, text):
        self.lines.fill(text)
        self.page.get_by_role("button", name="Save the routes").click()

    def saved(self, text):
        """What is stored after these lines, and that it reads as they do."""
        self.save(text)
        expect(self.page.get_by_text("The routes are saved.").last).to_be_visible(timeout=60_000)
        expect(self.lines).to_have_count(0)
        expect(self.page.get_by_role("heading", name="Monitoring", exact=True)).to_be_focused()
        self.open()
        expect(self.lines).to_have_value(text)
        return [[json.loads(each["match"]), each["topicId"], each["priority"]] for each in self.stored()["routes"]]


def routes(here, token, topic):
    page, server = here.page, here.server
    id = server.post(token, ADD, i={"topicId": topic, "name": "Monitoring", "kind": "ALERTMANAGER"})["createIntegration"]["id"]
    here.go(f"/topics/{topic}/integrations", "alerts: integrations")
    its = Routes(here, token, id)
    its.open()
    its.save("team=db -> priority 5\nnonsense")
    expect(its.problem).to_contain_text("This is no route: nonsense.", timeout=60_000)
    expect(its.lines).to_be_focused()
    here.judged("a route that is none")
    seen = its.saved('team=db host=*db-* -> alerts priority 5\nteam!=web note="two words" -> alerts')
    wanted = [[{"team": {"=": ["db"]}, "host": {"=*": ["db-*"]}}, topic, 5], [{"team": {"!=": ["web"]}, "note": {"=": ["two words"]}}, topic, None]]
    here.same("routes are stored as they are written, and are read as such", seen, wanted)
    here.judged("routes")
    # Names that every object of a page has are labels like others.
    seen = its.saved("__proto__=x constructor=y team=db -> alerts")
    here.same("a label may have any name", seen, [[{"__proto__": {"=": ["x"]}, "constructor": {"=": ["y"]}, "team": {"=": ["db"]}}, topic, None]])

    its.change(enabled=True)
    here.same("routes are saved although something else was changed meanwhile", its.saved("team=a -> alerts")[0][0], {"team": {"=": ["a"]}})
    its.change(routes=[{"match": '{"team": "theirs"}', "priority": 2}])
    its.save("team=mine -> alerts")
    expect(its.problem).to_contain_text("Somebody has saved other routes since you began", timeout=60_000)
    here.same("routes of somebody who was quicker stay", json.loads(its.stored()["routes"][0]["match"]), {"team": "theirs"})
    expect(page.get_by_text("team=theirs -> priority 2")).to_be_visible()
    # What is written stays when another button draws the page anew.
    page.get_by_role("button", name="New key: Monitoring").click()
    expect(page.get_by_role("heading", name="The new key of Monitoring")).to_be_focused(timeout=60_000)
    expect(its.lines).to_have_value("team=mine -> alerts")
    here.same("who presses again replaces them", its.saved("team=mine -> alerts")[0][0], {"team": {"=": ["mine"]}})

    # Quotes are written as in JSON; a topic whose name reads as a priority stands in quotes.
    odd = {'a = "b"': {"!=": ['\\ "c"\n', "*"]}, "d!": {"=*": ["* e"]}}
    its.change(routes=[{"match": json.dumps(odd), "priority": 2}])
    page.reload()
    its.open()
    line = r'''"a = \"b\""!="\\ \"c\"\n" "a = \"b\""!="*" "d!"=*"* e" -> priority 2'''
    expect(its.lines).to_have_value(line)
    here.same("odd texts are read as they are written", its.saved(line), [[odd, None, 2]])
    twin = server.create_topic(token, "alerts priority 3")
    its.change(routes=[{"match": '{"team": "db"}', "topicId": twin}])
    page.reload()
    its.open()
    expect(its.lines).to_have_value('team=db -> "alerts priority 3"')
    # What a line cannot say: a topic whose name is another's id, as its own id is a third one's name.
    odd = server.create_topic(token, twin)
    server.create_topic(token, odd)
    its.change(routes=[{"match": '{"team": "db"}', "topicId": odd}])
    page.reload()
    page.get_by_text("Routes by labels", exact=True).click()
    expect(page.get_by_text("A line cannot say all of these routes.")).to_be_visible(timeout=60_000)


def calls(here, token, topic):
    """Buttons call where somebody has said so, at first or later, and no more where that is taken back."""
    page = here.page
    here.go(f"/topics/{topic}/integrations", "alerts: integrations")
    tick = page.get_by_role("checkbox", name="Buttons of its messages may have the server call an address")
    here.same("only what has buttons is asked about calls", tick.is_visible(), False)
    page.get_by_label("What posts here").select_option("NTFY")
    page.get_by_label("Name").fill("Phones")
    tick.check()
    page.get_by_role("button", name="Add it").click()
    expect(page.get_by_role("heading", name="The new key of Phones")).to_be_focused(timeout=60_000)
    here.same("the next one is asked anew", tick.is_checked(), False)
    article = page.get_by_role("article", name="Phones")
    expect(article.get_by_text("Buttons may have the server call an address.")).to_be_visible(timeout=60_000)
    page.get_by_role("button", name="Let them call no more: Phones").click()
    expect(article.get_by_text("Buttons that call an address are links.")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("heading", name="Phones", exact=True)).to_be_focused()
    page.get_by_role("button", name="Let them call: Phones").click()
    expect(article.get_by_text("Buttons may have the server call an address.")).to_be_visible(timeout=60_000)
    here.judged("an integration whose buttons call")


class Door(BaseHTTPRequestHandler):
    """What buttons call: it answers the first call with 503, and all others with 204."""

    calls = []

    def do_PUT(self):  # pylint: disable=invalid-name
        self.calls.append(self.path)
        self.send_response(503 if len(self.calls) == 1 else 204)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        """Says nothing."""


def rung(here, token, key, title, *actions):
    """The page of a message with buttons, as ntfy's senders post it."""
    posted(here.server, key, {"topic": "alerts", "title": title, "message": "ring", "actions": actions}, "/")
    listed = here.server.post(token, "{ listMessages(limit: 100) { items { id title } } }")["listMessages"]["items"]
    return next(f"/messages/{each['id']}" for each in listed if each["title"] == title)


def pressed(here, token, topic):
    """A message's buttons: links are followed, calls are pressed, and what came of a press is told, now and later."""
    page, server = here.page, here.server
    door = ThreadingHTTPServer(("127.0.0.1", 0), Door)
    threading.Thread(target=door.serve_forever, daemon=True).start()
    gate = f"http://127.0.0.1:{door.server_port}"
    add = {"topicId": topic, "name": "Door", "kind": "NTFY", "allowHttpActions": True}
    id = server.post(token, ADD, i=add)["createIntegration"]["id"]
    key = server.post(token, "mutation($id: ID!) { rotateIntegrationKey(id: $id) { key } }", id=id)["rotateIntegrationKey"]["key"]
    call = {"action": "http", "label": "Open", "url": f"{gate}/open?key=urlSecret", "method": "PUT"}
    look = {"action": "view", "label": "Look", "url": "https://cam.example/1"}
    private = {"action": "http", "label": "Call home", "url": "http://10.0.0.1/"}
    title = "Somebody is at the door"
    path = rung(here, token, key, title, call, look, private)
    here.go(path, title)
    buttons = page.get_by_role("listitem")
    button, link = (page.get_by_role(role, name=name, exact=True) for role, name in (("button", f"Open: {title}"), ("link", "Look: opens cam.example")))
    expect(button).to_be_visible(timeout=60_000)
    here.same("a button that opens something is a link that says where", [link.get_attribute(name) for name in ("href", "target", "rel")], [look["url"], "_blank", "noopener noreferrer"])
    expect(buttons.filter(has_text="Look")).to_contain_text("cam.example")
    expect(buttons.filter(has_text="Open")).to_contain_text("The server makes its call when you press it.")
    here.same("nothing is called by looking, and nothing of the call is on the page", [Door.calls, "urlSecret" in page.content()], [[], False])
    here.judged("a message with buttons")

    held = []
    page.route("**/graphql", lambda route: held.append(route) if "pressButton" in (route.request.post_data or "") else route.fallback())
    button.click()
    expect(buttons.filter(has_text="Open")).to_contain_text("Its call is under way", timeout=60_000)
    button.press("Enter")
    held.pop().continue_()
    page.unroute("**/graphql")
    expect(buttons.filter(has_text="Open")).to_contain_text("answered with status 503. You may press it again.", timeout=60_000)
    expect(button).to_be_focused()
    here.same("who presses twice meanwhile has pressed once", [len(held), Door.calls], [0, ["/open?key=urlSecret"]])
    button.press("Enter")
    expect(buttons.filter(has_text="and done")).to_contain_text("answered with status 204", timeout=60_000)
    expect(buttons.filter(has_text="and done").get_by_role("status")).to_be_focused()
    here.same("what is done is no button any more", [button.count(), len(Door.calls)], [0, 2])
    home = page.get_by_role("button", name=f"Call home: {title}", exact=True)
    home.click()
    expect(buttons.filter(has_text="Call home")).to_contain_text("its address is not of the public internet. You may press it again.", timeout=60_000)
    here.judged("buttons that were pressed")

    # What was pressed before is told; what is over while somebody looks, and later, is no button any more.
    here.go(path, title)
    expect(buttons.filter(has_text="Open")).to_contain_text("and done: answered with status 204", timeout=60_000)
    expect(buttons.filter(has_text="Call home")).to_contain_text("not done", timeout=60_000)
    version = server.post(token, STORED, id=id)["getIntegration"]["_version"]
    server.post(token, CHANGE, i={"id": id, "_version": version, "allowHttpActions": False})
    home.click()
    expect(buttons.filter(has_text="Call home")).to_contain_text("It cannot be pressed any more", timeout=60_000)
    expect(home).to_have_count(0)
    here.go(path, title)
    expect(buttons.filter(has_text="Call home")).to_contain_text("not of the public internet. It cannot be pressed any more", timeout=60_000)
    expect(buttons.filter(has_text="Open")).to_contain_text("and done: answered with status 204")
    here.same("where calls are allowed no more, nobody is shown a button to press", page.get_by_role("button", name=f": {title}").count(), 0)

    # A button whose call is not allowed is a link from the beginning.
    here.go(rung(here, token, key, "Without leave", call), "Without leave")
    expect(page.get_by_role("row").filter(has_text="Links").get_by_role("link", name=f"Open: opens 127.0.0.1:{door.server_port}")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("heading", name="Buttons")).to_have_count(0)
    here.same("a link calls nothing", len(Door.calls), 2)
    door.shutdown()


def names(here, token, topic):
    """A name that looks like a moment, and is none, stands in the timeline of an incident as it is."""
    page, server = here.page, here.server
    name = "at 2026-13-99T99:99:99Z"
    id = server.post(token, ADD, i={"topicId": topic, "name": name, "kind": "EVENT"})["createIntegration"]["id"]
    key = server.post(token, "mutation($id: ID!) { rotateIntegrationKey(id: $id) { key } }", id=id)["rotateIntegrationKey"]["key"]
    posted(server, key, {"action": "trigger", "key": "queue", "title": "Queue is stuck"}, "/in/event")
    here.go("/incidents", "Incidents")
    page.get_by_role("link", name="Queue is stuck").click()
    here.at("Queue is stuck")
    expect(page.get_by_role("listitem").filter(has_text=name).first).to_be_visible(timeout=60_000)
    here.same("no page complains", here.complaints, [])


def walk(server, browser, checks):
    here = entered(server, browser, checks, "root")
    token = server.administer("token", "create", "--user", "root")
    topic = server.create_topic(token, "alerts")
    routes(here, token, topic)
    calls(here, token, topic)
    pressed(here, token, topic)
    names(here, token, topic)


if __name__ == "__main__":
    # Buttons may call this machine, where the walk answers.
    os.environ["TOCSIN_WEBHOOKS_ALLOW_LOOPBACK"] = "true"
    in_chromium(walk)
