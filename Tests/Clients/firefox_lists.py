"""Firefox with much to show and little room: 5,000 messages that come while a feed is open, lists that go on by *Show more*; then
each view as on a phone, by touches alone, at 400 %, and with colours that the system chooses.
Use: firefox_lists.py BINARY [FIREFOX]"""

import concurrent.futures
import json
import os
import time

import axe_playwright_python

from console import TAGS
from firefox_people import LIVE, complaints, in_firefox, window
from firefox_walks import ESCAPE, SHIFT, TAB
from many import together
from offline import NUMBERS
from phone import HIDDEN, SMALL, WIDE, WIDTHS, filled

#: Ten times what a list holds.
MESSAGES = 5000
#: More than two pages of people, and than two of a group's members.
PEOPLE = 205
#: As many as a list holds, and as one answer has.
MOST, PAGE = 500, 50
WIDTH, HEIGHT = 320, WIDTHS[320]
#: What has the focus and stays hidden once the page has scrolled to it; the browser's own bars may have it too.
SHOWN = f"""async () => {{
  for (let frame = 0; frame < 60 && ({HIDDEN})(); frame += 1) await new Promise((after) => requestAnimationFrame(after));
  return document.hasFocus() ? [({HIDDEN})()] : null;
}}"""
#: A finger in place of a mouse.
TOUCH = {"ui.primaryPointerCapabilities": 1, "ui.allPointerCapabilities": 1, "dom.w3c_touch_events.enabled": 1}


def many_messages(root, token):
    """They come while the feed is open: the newest are shown without a hole, older ones when asked for."""
    page, server = root.page, root.server
    topic = server.create_topic(token, "busy")
    root.go(f"/topics/{topic}", "busy")
    page.until(LIVE)
    began, many = time.monotonic(), 20
    create = f'createMessage(input: {{topicId: "{topic}", type: 0, title: "Of many", body: "b"}}) {{ id }}'
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: together(server, token, "mutation", [create] * many, many), range(MESSAGES // many)))
    published = time.monotonic() - began
    root.becomes(f"of {MESSAGES} messages that come the newest {MOST} are shown without a hole", NUMBERS, list(range(MESSAGES, MESSAGES - MOST, -1)))
    print(f"      published in {published:.1f} s, shown {time.monotonic() - began - published:.1f} s after", flush=True)
    # So many came that older ones made room: the list begins anew.
    page.press("Older messages")
    page.until(f"articles().length === {PAGE}")
    for shown in range(2 * PAGE, MOST + 3 * PAGE, PAGE):
        page.press("Older messages")
        page.until(f"articles().length === {shown}")
    root.becomes("older ones follow, as far as somebody asks", NUMBERS, list(range(MESSAGES, MESSAGES - MOST - 2 * PAGE, -1)))
    # Who reads far below is not moved by what comes.
    page.run("scrollTo(0, document.body.scrollHeight);")
    place = "Math.round([...document.querySelectorAll('main article')].at(-1).getBoundingClientRect().top)"
    # Entries get their heights when they come onto the screen.
    before = page.until(f"""scrollY > 1000 && await (async () => {{ const before = {place};
      await new Promise((after) => setTimeout(after, 300)); return before === {place} && [before]; }})()""")[0]
    server.publish(token, topic, "The newest")
    page.until("Boolean(document.querySelector('.new button:not([hidden])'))")
    root.becomes("what comes does not move what somebody reads below", place, before)
    page.run("document.querySelector('.new button').click();")
    root.becomes("and is on top at one press", "articles()[0]", "The newest")


def shown_to_the_end(root, name, rows, first, least):
    """Presses *Show more* until there is no more; each press shows more, and the last line says how many there are."""
    page, counts = root.page, []
    more = json.dumps(f"Show more: {name}")
    page.until(f"{rows} === {first}")
    while True:
        counts.append(page.run(f"return {rows};"))
        if not page.run(f"return Boolean(named({more}));"):
            break
        page.says(f"{counts[-1]} are shown, and there are more.")
        page.press(json.loads(more))
        page.until(f"{rows} > {counts[-1]}")
    page.says(f"All {counts[-1]} are shown.")
    root.same(f"{name}: shown by pages, and then all {counts[-1]}", [counts[-1] >= least, len(counts) > 2], [True, True])
    root.becomes("the focus is at what says so", "document.activeElement.textContent", f"All {counts[-1]} are shown.")
    return counts[-1]


def long_lists(root, token):
    """People and a group's members by pages; what is done far below leaves the list as long as it was."""
    page, server = root.page, root.server
    names = [f"p{number:03}" for number in range(PEOPLE)]
    together(server, token, "mutation", [f'createUser(name: "{name}") {{ id }}' for name in names])
    group = server.post(token, 'mutation { createGroup(name: "all") { id } }')["createGroup"]["id"]
    together(server, token, "mutation", [f'addGroupMember(groupId: "{group}", user: "{name}") {{ id }}' for name in names])
    root.go("/people", "People")
    everybody = shown_to_the_end(root, "People", "rows('People').length", 100, PEOPLE)
    page.press_in("People", "p204", "Disable")
    page.until("rows('People', 'p204')[0]?.textContent.includes('disabled')")
    root.same("a list stays as long as it was shown", page.run("return rows('People').length;"), everybody)
    members = "[...(rows('Groups', 'all')[0]?.querySelectorAll('button') ?? [])].filter((each) => each.ariaLabel?.startsWith('Take ')).length"
    shown_to_the_end(root, "members of all", members, 50, PEOPLE)
    page.press("Take p203 out of all")
    root.becomes("and so does a group's", members, PEOPLE - 1)


def settled(page):
    """Waits until the view and the list of places beside it are there, and nothing more is asked for."""
    page.until("""document.querySelector('#rail a') && !document.querySelector('main [aria-busy=true]') &&
      await (async () => { const count = () => performance.getEntriesByType('resource').length, before = count();
        await new Promise((after) => setTimeout(after, 150)); return count() === before; })()""")


def views(root, all_views, axe):
    """Each view at 320 pixels and at 400 %: how wide it is, how large what can be pressed is, and what axe finds."""
    page, found = root.page, []
    for path, heading in all_views.items():
        page.resize(WIDTH, HEIGHT)
        root.go(path, heading)
        settled(page)
        found += [f"{path}: small: {each}" for each in page.run(f"return ({SMALL})();")]
        # 1280 by 800 pixels at 400 %.
        for height, zoom in ((HEIGHT, 1), (200, 4)):
            page.resize(WIDTH, height, zoom)
            page.until(f"innerHeight === {height} && devicePixelRatio === {zoom}")
            wide = page.run("return document.documentElement.scrollWidth;")
            found += [f"{path} is {wide} px wide at {zoom * 100} %"] if wide > WIDTH else []
            found += [f"{path}: wide at {zoom * 100} %: {each}" for each in page.run(f"return ({WIDE})();")]
        # What lies under the bar can be scrolled to, which axe does not know: as high as all of it,
        # the bar covers nothing.
        page.resize(WIDTH, HEIGHT, 1)
        page.resize(WIDTH, max(HEIGHT, page.run("return document.documentElement.scrollHeight;")), 1)
        page.browser.command("script.evaluate", expression=axe, target={"context": page.context}, awaitPromise=False)
        found += page.run(f"return (await axe.run(document, {{ runOnly: {{ type: 'tag', values: {json.dumps(TAGS)} }}, resultTypes: ['violations'] }})).violations.map(({{ id, nodes }}) => `{path}: ${{id}}: ${{nodes[0].html.slice(0, 120)}}`);")
    return found


def bar(root):
    """The ways of the bar and the list of places that it opens, by touches of what people see."""
    page = root.page
    rail = "seen(document.getElementById('rail'))"
    page.resize(WIDTH, HEIGHT)
    root.go("/feed", "All messages")
    page.until("document.querySelector('#dock [aria-current]')?.textContent.includes('1')")
    root.same("on a phone there is a bar and no list of places", page.run(f"return [seen(document.getElementById('dock')), {rail}];"), [True, False])
    page.touch("button", "Topics")
    page.until(rail)
    root.becomes("who opens the list is in it", "document.activeElement.closest('#rail') !== null", True)
    root.same("the open list has targets for fingers", page.run(f"return ({SMALL})();"), [])
    page.keys(ESCAPE)
    root.becomes("Escape closes the list and gives the focus back", f"[{rail}, document.activeElement.textContent]", [False, "Topics"])
    page.touch("button", "More")
    page.until(rail)
    page.touch("link", "Account")
    root.at("Account")
    current = "[...document.querySelectorAll('#dock > *')].filter((each) => each.ariaCurrent !== null).map((each) => each.textContent)"
    root.becomes("the bar says where one is", f"[{rail}, {current}]", [False, ["More"]])
    page.touch("button", "Topics")
    page.until(rail)
    page.touch("heading", "Account")
    root.becomes("a touch beside the list closes it", rail, False)
    page.touch("link", "Search")
    root.at("Search")


def hidden(root, all_views):
    """By Tab through whole views, forward and back: the bar hides nothing that has the focus, nor a view's end."""
    page, seen, found = root.page, [], []
    for path in list(all_views)[:2]:
        root.go(path, all_views[path])
        settled(page)
        focused(page)
        for key in (TAB, (SHIFT, TAB)):
            for _ in range(30):
                page.keys(key)
                seen.append(page.run(f"return ({SHOWN})();"))
        page.run("scrollTo(0, document.body.scrollHeight);")
        end = page.until("[document.getElementById('main').getBoundingClientRect().bottom - document.getElementById('dock').getBoundingClientRect().top]")[0]
        found += [f"{path} ends {end} px below the bar's top"] if end > 0 else []
    # Now and then the browser's own bars have the focus.
    places = [each[0] for each in seen if each]
    return found + [each for each in places if each] + ([] if len(places) > 60 else [f"the page had the focus {len(places)} times"])


def focused(page):
    """Waits until keys go to the page."""
    page.front()
    page.until("document.hasFocus()")


def forced_colours(root, firefox, topic):
    """Where the system chooses all colours, what is chosen, focused or main is told by lines."""
    firefox.stop()
    # The setting of people who let no page choose.
    firefox.prefer({"browser.display.document_color_use": 2})
    firefox.start()
    root.page = page = window(firefox)
    page.resize(1280, 800)
    root.go(topic, "alerts")
    page.until("Boolean(document.querySelector('#rail a[aria-current]'))")
    root.same("the system chooses the colours", page.run("return matchMedia('(forced-colors: active)').matches;"), True)
    lines = "[...new Set([...document.querySelectorAll('#rail a')].map((each) => getComputedStyle(each).borderTopStyle + ' ' + each.getAttribute('aria-current')))].sort()"
    root.becomes("with forced colours the present place has a line", lines, ["none null", "solid page"])
    settled(page)
    focused(page)
    page.keys(TAB)
    root.becomes("and so has what has the focus", "[document.activeElement !== document.body, getComputedStyle(document.activeElement).outlineStyle]", [True, "solid"])
    widths = "['button:not(.main)', 'button.main'].map((each) => parseFloat(getComputedStyle(document.querySelector('main ' + each)).borderTopWidth))"
    root.go("/account", "Account")
    page.until("Boolean(document.querySelector('main button.main') && document.querySelector('main button:not(.main)'))")
    plain, main = page.run(f"return {widths};")
    root.same("and what is main has a thicker one", main > plain, True)


def walk(root, firefox, _):
    token = root.server.administer("token", "create", "--user", "root")
    root.sign_in("root", "Start")
    took = time.monotonic()

    def section(name):
        nonlocal took
        print(f"      {name}: {time.monotonic() - took:.1f} s", flush=True)
        took = time.monotonic()

    many_messages(root, token)
    section("5,000 messages")
    all_views = filled(root.server)
    long_lists(root, token)
    section("long lists")
    with open(os.path.join(os.path.dirname(axe_playwright_python.__file__), "axe.min.js"), encoding="utf-8") as file:
        axe = file.read()
    root.same("the pointer is a finger", root.page.run("return matchMedia('(pointer: coarse)').matches;"), True)
    bar(root)
    root.same("the bar hides neither the focus nor the end of a view", hidden(root, all_views), [])
    section("bar")
    root.same("320 px and 400 %, fingers: nothing scrolls sideways, all that can be pressed has 44 px, and axe finds nothing", views(root, all_views, axe), [])
    root.page.resize(320, 200, 4)
    root.becomes("where the screen is low the bar covers nothing", "[devicePixelRatio, getComputedStyle(document.getElementById('dock')).position]", [4, "static"])
    section("320 px and 400 %")
    root.same("no page complains", complaints(firefox), [])
    forced_colours(root, firefox, list(all_views)[1])
    section("forced colours")


if __name__ == "__main__":
    in_firefox(walk, "ben", preferences=TOUCH)
