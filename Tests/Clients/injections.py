"""Texts of strangers in everything that the console shows: markup, directions, what has no width, and far too much of it. Each
is shown as text, breaks no layout and turns nothing around. Use: injections.py BINARY [CHROMIUM]"""

import json

from console import HOSTILE, Walk, in_chromium
from playwright.sync_api import expect
from tocsin import send

TEXTS = [
    HOSTILE,
    "'\"><svg onload=alert(1)>",
    '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
    "<style>*{display:none}</style>",
    '<base href="//evil.example/">',
    '<meta http-equiv="refresh" content="0;url=//evil.example/">',
    "</title></textarea></pre></script><script>alert(1)</script>",
    '<math><mi xlink:href="data:x,<script>alert(1)</script>">',
    "${alert(1)} #{7*7} {{constructor.constructor('alert(1)')()}} {assets}",
    '<a href="javascript:alert(1)">press</a>',
    "[press](javascript:alert(1)) ![](https://evil.example/seen.png)",
    "__proto__",
    "constructor",
    "&lt;b&gt; &#x3c;script&#x3e; &amp;amp;",
    "\u202egnp.elif \u202d\u202b never closed",
    "\u2066\u2067\u2068 isolates that never end",
    "\u05d0\u05d1\u05d2 (1) \u0627\u0644\u0639 - [2]",
    "\u200b\u200d\ufeff\u2060" * 40 + "no width",
    "Z" + "\u0310\u0321" * 200,
    "\u0001\u001b[31m\u007f\u0085 controls",
    "line\r\nbreaks\u2028of\u2029all\tkinds",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467" * 50,
    "W" * 1000,
]
LONG = {"256 KiB without a space": "x" * 262_144, "10,000 lines": "line\n" * 10_000}
NEUTRAL = "javascript:alert(document.domain)//"
CREATE = "mutation($i: CreateMessageInput!) { createMessage(input: $i) { id title body } }"

# Text that turns directions must stand in an element that keeps that to itself.
TURNED = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()); ) {
    if (!/[\\u202a-\\u202e\\u2066-\\u2069\\u0590-\\u08ff]/.test(node.data) || node.parentElement.closest("option, textarea")) continue;
    const holder = node.parentElement;
    const kept = [...holder.childNodes].every((each) => each === node || each.nodeType !== 3 || each.data.trim() === "");
    if (!/isolate|plaintext/.test(getComputedStyle(holder).unicodeBidi) || !kept) found.push(holder.outerHTML.slice(0, 200));
  }
  return found;
}"""


def held(here, name):
    """No script ran, no policy was broken, nothing is wider than a small screen, and no direction leaks."""
    page = here.page
    page.set_viewport_size({"width": 320, "height": 640})
    wide = page.evaluate("document.documentElement.scrollWidth")
    page.set_viewport_size({"width": 1280, "height": 800})
    scripts = page.evaluate("document.querySelectorAll('main script, main iframe, main svg, main style, main img, base, meta[http-equiv]').length")
    links = page.evaluate("[...document.querySelectorAll('a')].filter((each) => !/^(https?|mailto|tel):/.test(each.href)).length")
    seen = [wide <= 320 or wide, scripts, links, page.evaluate(TURNED), page.evaluate("window.broken"), here.complaints]
    here.same(f"{name}: shown as text, and the page holds", seen, [True, 0, 0, [], [], []])


def raised(here, token):
    """Incidents whose topic, texts, labels and links are a stranger's."""
    server, page = here.server, here.page
    turned = server.create_topic(token, "\u202egnp.elif \u05d0\u05d1\u05d2 (1)")
    server.create_topic(token, "W" * 190)
    way = server.post(token, "mutation($i: CreateIntegrationInput!) { createIntegration(input: $i) { id } }",
                      i={"topicId": turned, "name": "\u202eedis", "kind": "EVENT"})["createIntegration"]["id"]
    key = server.post(token, "mutation($id: ID!) { rotateIntegrationKey(id: $id) { key } }", id=way)["rotateIntegrationKey"]["key"]
    for index, text in enumerate(TEXTS):
        event = {"action": "trigger", "key": f"{index} {text}"[:200], "title": text[:900], "body": text, "url": NEUTRAL,
                 "labels": {text[:60]: text[:500], "__proto__": text[:60], "constructor": "c"}}
        send(server.host, "/in/event", event, {"Authorization": f"Bearer {key}"})
    here.go("/incidents", "Incidents")
    expect(page.get_by_role("article")).to_have_count(len(TEXTS), timeout=60_000)
    held(here, "incidents")
    found = server.post(token, "{ page: incidentsByStateAndOpenedAt(state: OPEN, limit: 100) { items { id } } }")["page"]["items"]
    for each in found:
        page.goto(f"{server.address}/incidents/{each['id']}")
        expect(page.get_by_role("region", name="About this incident")).to_be_visible(timeout=60_000)
        seen = [page.evaluate(TURNED), page.evaluate("window.broken"), here.complaints]
        here.same(f"incident {each['id'][-4:]} holds", seen, [[], [], []])
    held(here, "one incident")
    here.go(f"/topics/{turned}/integrations", "")
    held(here, "integrations")


def walk(server, context, checks):
    here = Walk(server, context, checks, None)
    page = here.page
    page.on("dialog", lambda dialog: here.complaints.append(f"a dialog: {dialog.message}"))
    page.add_init_script("window.broken = []; addEventListener('securitypolicyviolation', (event) => broken.push(event.violatedDirective + event.blockedURI));")
    page.route("**/auth/methods", lambda route: route.fulfill(json={
        "password": True, "oidc": [{"id": f"p{index}", "label": text} for index, text in enumerate(TEXTS)]}))
    here.go("/", "Sign in")
    expect(page.locator("a.button[href*='/auth/login']")).to_have_count(len(TEXTS), timeout=60_000)
    held(here, "names of providers")
    here.sign_in("root", judged=False)
    here.at("Start")

    token = server.administer("token", "create", "--user", "root")
    plain = server.create_topic(token, "plain")
    refused = {"topic": 0, "user": 0, "field": 0}
    for index, text in enumerate(TEXTS):
        try:
            server.create_topic(token, text)
        except AssertionError:
            refused["topic"] += 1
        try:
            server.administer("user", "add", text)
        except (SystemExit, ValueError):
            refused["user"] += 1
        message = {"topicId": plain, "type": 0, "title": text, "body": text}
        more = {"url": NEUTRAL, "category": text[:40], "key": f"{index} {text}"[:60], "data": json.dumps({text[:60]: text, "links": json.dumps([{"text": text, "url": NEUTRAL}])}),
                "push": {"actions": [{"id": "button", "title": text, "url": "https://evil.example/"}]}}
        for name, value in more.items():
            try:
                # Under a key of its own, as what is asked for again under one must be the same.
                server.post(token, CREATE, i=message | {"key": f"{name} {index}", name: value})
                message[name] = value
            except AssertionError:
                refused["field"] += 1
        made = server.post(token, CREATE, i=message | {"key": f"last {index}"})["createMessage"]
        here.go(f"/messages/{made['id']}", "")
        shown = [page.locator("h1").evaluate("each => each.textContent"), page.locator("pre").first.evaluate("each => each.textContent")]
        here.same(f"text {index} is shown as it is", shown, [made["title"], made["body"]])
        here.same(f"text {index} holds", [page.evaluate(TURNED), page.evaluate("window.broken"), here.complaints], [[], [], []])
    print(f"      the server itself refused {refused}")
    for path, heading in (("/", "All messages"), (f"/topics/{plain}", "plain"), ("/people", "People"), ("/send", "Send")):
        here.go(path, heading)
        held(here, f"{heading}, with all texts")

    raised(here, token)
    for name, text in LONG.items():
        try:
            made = server.post(token, CREATE, i={"topicId": plain, "type": 0, "title": name, "body": text})["createMessage"]
        except AssertionError as error:
            print(f"      {name}: the server refused it: {str(error)[:120]}")
            continue
        here.go(f"/topics/{plain}", "plain")
        article = page.get_by_role("article").filter(has_text=name).first
        expect(article).to_be_visible(timeout=60_000)
        folded = [article.bounding_box()["height"] < 300, article.evaluate("each => each.textContent.length") < 3000]
        # Browsers lay out what is hidden too: a page of such texts would hang.
        here.same(f"{name}: folded in the list, and not all of it there", folded, [True, True])
        held(here, f"{name} in a list")
        here.go(f"/messages/{made['id']}", name)
        here.same(f"{name}: all of it", page.locator("pre").first.evaluate("each => each.textContent.length"), len(made["body"]))
        held(here, f"{name} alone")

    # Buttons, whatever a server lets through: a label is text, and only an address that leads somewhere is a link.
    called = {"at": "2026-01-01T00:00:00Z", "isDone": False, "status": None}
    marked = [{"id": f"{index}", "title": text, "url": NEUTRAL, "isCall": False} for index, text in enumerate(TEXTS)]
    marked += [{"id": f"call{index}", "title": text, "url": None, "isCall": True, "mayPress": True, "press": {"problem": text, **called}} for index, text in enumerate(TEXTS)]

    def mark(route):
        asked = route.request.post_data or ""
        if "pressButton" in asked:
            return route.fulfill(json={"data": {"press": {"problem": HOSTILE, **called}}})
        if "query Message(" not in asked:
            return route.fallback()
        answer = route.fetch().json()
        answer["data"]["getMessage"]["buttons"] = marked
        return route.fulfill(json=answer)

    page.route("**/graphql", mark)
    made = server.post(token, CREATE, i={"topicId": plain, "type": 0, "title": "With buttons", "body": ""})["createMessage"]
    here.go(f"/messages/{made['id']}", "With buttons")
    buttons = page.get_by_role("listitem")
    expect(buttons.filter(has_text=NEUTRAL)).to_have_count(len(TEXTS), timeout=60_000)
    expect(page.locator("main li button")).to_have_count(len(TEXTS))
    here.same("a button whose address is a script is text", page.locator("main li a").count(), 0)
    here.same("labels are shown as they are", page.locator("main li strong, main li button").evaluate_all("all => all.map((each) => each.textContent)"), TEXTS * 2)
    page.locator("main li button").first.click()
    expect(buttons.filter(has_text="not done").filter(has_text=HOSTILE.split(" ", maxsplit=1)[0]).first).to_be_visible(timeout=60_000)
    held(here, "buttons and what came of them")
    page.unroute("**/graphql")

    # What a server says is not ours: errors are texts too.
    errors = [{"message": text, "errorType": "BadRequestException", "extensions": {"code": "BAD_USER_INPUT"}} for text in TEXTS]
    def refuse(route):
        if "getTopic" not in (route.request.post_data or ""):
            return route.fallback()
        return route.fulfill(json={"data": None, "errors": [errors[-1]]})

    page.route("**/graphql", refuse)
    while errors:
        page.goto(f"{server.address}/topics/{plain}/settings")
        expect(page.get_by_role("alert")).to_be_visible(timeout=60_000)
        errors.pop()
    held(here, "errors")
    here.same("no request leaves for another host", [url for url in here.requests if not url.startswith(server.address)], [])


def main():
    in_chromium(lambda server, browser, checks: walk(server, browser.new_context(viewport={"width": 1280, "height": 800}, service_workers="block"), checks))


if __name__ == "__main__":
    main()
