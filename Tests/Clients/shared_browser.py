"""Walks through what one browser shows of people who come after each other, of rights that become smaller, and of sessions that
end while somebody writes. Use: shared_browser.py BINARY [CHROMIUM]"""

import time

from playwright.sync_api import expect

from console import PASSWORD, Walk, in_chromium

ADD = "mutation($i: CreateMessageInput!) { createMessage(input: $i) { id } }"
GRANT = "mutation($i: GrantInput!) { grantTopic(input: $i) { id } }"
LIVE = "● live"
#: What is on the page, and what the browser keeps.
HELD = """async () => {
  let text = document.body.innerText;
  for (const { name } of await indexedDB.databases()) {
    const made = await new Promise((done, failed) => {
      const request = indexedDB.open(name);
      [request.onsuccess, request.onerror] = [() => done(request.result), failed];
    });
    for (const store of made.objectStoreNames) {
      text += JSON.stringify(await new Promise((done) => {
        const request = made.transaction(store).objectStore(store).getAll();
        request.onsuccess = () => done(request.result);
      }));
    }
    made.close();
  }
  return text;
}"""


def enter(here, name, path="/"):
    page = here.page
    here.go(f"/sign-in?return={path}", "Sign in")
    sign(here, name)


def sign(here, name):
    page = here.page
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("link", name=f"Account: {name}")).to_be_visible(timeout=60_000)


def after_each_other(server, context, checks, tokens, topics):
    """Ben signs in in a second tab while ann's is open: neither shows or keeps anything of hers."""
    first, second = Walk(server, context, checks, None), Walk(server, context, checks, None)
    server.publish(tokens["ann"], topics["ann"], "Of ann before")
    enter(first, "ann", "/feed")
    expect(first.page.get_by_text("Of ann before")).to_be_visible(timeout=60_000)
    expect(first.page.get_by_text(LIVE)).to_be_visible(timeout=60_000)
    enter(second, "ben", "/feed")
    expect(second.page.get_by_text(LIVE)).to_be_visible(timeout=60_000)
    # The tab that was open begins anew, as ben's.
    expect(first.page.get_by_role("link", name="Account: ben")).to_be_visible(timeout=60_000)
    server.publish(tokens["ann"], topics["ann"], "Of ann after")
    server.publish(tokens["ben"], topics["ben"], "Of ben")
    for here in (first, second):
        expect(here.page.get_by_role("link", name="Of ben")).to_be_visible(timeout=60_000)
        first.same("a tab of who came later holds nothing of who came before", "Of ann" in here.page.evaluate(HELD), False)
    first.page.close()
    return second


def in_one_tab(here, tokens, topics):
    """Cleo signs in over the page that was ben's, without leaving it."""
    page, server = here.page, here.server
    page.evaluate("history.pushState(null, '', '/sign-in'); dispatchEvent(new PopStateEvent('popstate'))")
    here.at("Sign in")
    sign(here, "cleo")
    here.go("/feed", "All messages")
    expect(page.get_by_text(LIVE)).to_be_visible(timeout=60_000)
    server.publish(tokens["ben"], topics["ben"], "Of ben again")
    server.publish(tokens["cleo"], topics["cleo"], "Of cleo")
    expect(page.get_by_role("link", name="Of cleo")).to_be_visible(timeout=60_000)
    here.same("one tab holds nothing of who was in it before", "Of ben" in page.evaluate(HELD), False)


def publisher(here, tokens, topics):
    """Who may no longer read and still publish keeps no message, on the page or in the browser."""
    page, server = here.page, here.server
    server.publish(tokens["ann"], topics["ann"], "Secret")
    one = server.post(tokens["ann"], "query($t: ID!) { page: getMessageByTopicIdAndCreatedAt(topicId: $t, sortDirection: DESC) { items { id } } }",
                      t=topics["ann"])["page"]["items"][0]["id"]
    for path in ("/feed", f"/messages/{one}", "/account"):
        server.post(tokens["ann"], GRANT, i={"topicId": topics["ann"], "user": "cleo", "roles": ["READER", "PUBLISHER"]})
        page.goto(server.address + "/feed")
        expect(page.get_by_role("link", name="Secret")).to_be_visible(timeout=60_000)
        page.goto(server.address + path)
        expect(page.locator("#rail").get_by_role("link", name="anns")).to_be_visible(timeout=60_000)
        page.wait_for_load_state("networkidle")
        server.post(tokens["ann"], GRANT, i={"topicId": topics["ann"], "user": "cleo", "roles": ["PUBLISHER"]})
        deadline = time.monotonic() + 60
        while "Secret" in page.evaluate(HELD) and time.monotonic() < deadline:
            page.wait_for_timeout(100)
        here.same(f"{path.split('/')[1]}: who may publish alone holds no message", "Secret" in page.evaluate(HELD), False)


def writing(here, tokens, topics):
    """A session ends while somebody writes: a message, a proof of who they are."""
    page, server = here.page, here.server

    def end():
        for each in server.post(tokens["cleo"], "{ sessions { id } }")["sessions"]:
            server.post(tokens["cleo"], "mutation($id: ID!) { endSession(id: $id) { id } }", id=each["id"])
        here.at("Sign in")

    here.go(f"/send?topic={topics['cleo']}", "Send")
    page.get_by_label("Title").fill("Half a message")
    page.get_by_label("Text").fill("and its text")
    end()
    sign(here, "cleo")
    here.at("Send")
    here.same("what was written is there after signing in again", [page.get_by_label("Title").input_value(), page.get_by_label("Text").input_value()],
              ["Half a message", "and its text"])
    page.get_by_role("button", name="Send", exact=True).click()
    here.at("Half a message")
    page.locator("#bar").get_by_role("link", name="Send").click()
    here.at("Send")
    here.same("what was sent is written no more", page.get_by_label("Title").input_value(), "")
    page.locator("#rail").get_by_role("link", name="Account").click()
    here.at("Account")
    page.evaluate("import(document.querySelector('script[type=module]').src.replace('app.js', 'sign-in.js')).then(({ askPassword }) => void askPassword())")
    proof = page.get_by_role("dialog")
    proof.get_by_label("Password").fill("wrong")
    proof.get_by_role("button", name="Go on").press("Enter")
    expect(proof.get_by_role("alert")).to_have_text("The password is wrong.", timeout=60_000)
    here.same("who was wrong by keys goes on from the button", page.evaluate("document.activeElement.textContent"), "Go on")
    here.judged("a wrong proof")
    end()
    here.same("no dialog stands above the page of sign-in", page.locator("dialog").count(), 0)


def addresses(here):
    """Addresses that name nothing."""
    page = here.page
    for wanted, shown in (("/%5Cevil.example", "/"), ("/topics/%25zz", "/topics/%zz")):
        page.goto(f"{here.server.address}/sign-in?return={wanted}")
        here.at("Sign in")
        sign(here, "cleo")
        page.wait_for_url(here.server.address + shown)
        expect(page.get_by_role("heading", level=1, name="All messages" if shown == "/" else "This cannot be shown")).to_be_visible(timeout=60_000)
    here.same("an address that is cut or leads elsewhere leads nowhere", here.complaints, [])


def settings(here, tokens, topics):
    """What is typed in a topic's settings, and the place of who uses keys, outlast other buttons of the page."""
    page = here.page
    here.go(f"/topics/{topics['cleo']}/settings", "cleos: settings")
    page.get_by_label("Name of the user or group").fill("ben")
    page.get_by_role("button", name="Mute").press("Enter")
    expect(page.get_by_role("button", name="Push to my devices")).to_be_focused(timeout=60_000)
    here.same("what was typed is there", page.get_by_label("Name of the user or group").input_value(), "ben")
    page.get_by_role("button", name="Push to my devices").press("Enter")
    expect(page.get_by_role("button", name="Mute")).to_be_focused(timeout=60_000)
    register = 'mutation($t: String!) { registerPushToken(token: $t, platform: "ios", environment: "sandbox", name: "phone") { userId } }'
    here.server.post(tokens["cleo"], register, t="c7" * 32)
    here.server.publish(tokens["cleo"], topics["cleo"], "Not sent")
    here.go(f"/topics/{topics['cleo']}", "cleos")
    page.get_by_role("link", name="Not sent").click()
    here.at("Not sent")
    again = page.locator("main [data-key=r]")
    again.press("Enter")
    expect(page.get_by_text("They are due again.")).to_be_visible(timeout=60_000)
    page.wait_for_load_state("networkidle")
    expect(again).to_be_visible(timeout=60_000)
    # The pushes are drawn anew as they are tried, for a moment without the button.
    here.same("who tries again by a key stays in the list", page.evaluate("document.activeElement.matches('main div :is(button, .scroll, h2)')"), True)
    here.go("/search?q=nowhere", "Search")
    expect(page.get_by_text("No message has it.")).to_be_visible(timeout=60_000)
    here.judged("an empty search")
    here.go("/account", "Account")
    page.get_by_label("The present one").fill("wrong")
    page.get_by_label("The new one").fill(PASSWORD)
    page.get_by_role("button", name="Change it").press("Enter")
    expect(page.get_by_role("alert")).to_have_text("That is not the present password.", timeout=60_000)
    here.same("who has mistyped the password is back in its field", page.evaluate("document.activeElement.autocomplete"), "current-password")
    # What browsers say of a refused password.
    here.same("no page complains", [each for each in here.complaints if "400" not in each], [])
    here.complaints.clear()


def signed_out(server, browser, checks, tokens, topics):
    """Whoever signs out takes the pushes that are shown with them, and the number on the icon."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.grant_permissions(["notifications"], origin=server.address)
    here = Walk(server, context, checks, None)
    page = here.page
    page.add_init_script("navigator.setAppBadge = async (count) => { sessionStorage.badge = count; }; navigator.clearAppBadge = async () => { sessionStorage.badge = 0; };")
    server.post(tokens["ann"], "mutation($t: ID) { markRead(topicId: $t, number: 1) { unread } }", t=topics["ann"])
    server.publish(tokens["ann"], topics["ann"], "Unread")
    enter(here, "ann", "/account")
    page.wait_for_function("() => sessionStorage.badge > 0", timeout=60_000)
    shown = "navigator.serviceWorker.ready.then((each) => each.getNotifications()).then((found) => found.length)"
    page.evaluate("navigator.serviceWorker.ready.then((each) => each.showNotification('A push of ann'))")
    here.same("a push is shown", page.evaluate(shown), 1)
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in")
    here.at("Sign in")
    here.same("after signing out none is, and the icon has no number", [page.evaluate(shown), page.evaluate("sessionStorage.badge")], [0, "0"])


def walk(server, browser, checks):
    context = browser.new_context(viewport={"width": 1280, "height": 800}, service_workers="block")
    names = ("ann", "ben", "cleo")
    tokens = {name: server.administer("token", "create", "--user", name) for name in names}
    topics = {name: server.create_topic(tokens[name], f"{name}s") for name in names}
    here = after_each_other(server, context, checks, tokens, topics)
    in_one_tab(here, tokens, topics)
    publisher(here, tokens, topics)
    settings(here, tokens, topics)
    writing(here, tokens, topics)
    addresses(here)
    signed_out(server, browser, checks, tokens, topics)


if __name__ == "__main__":
    in_chromium(walk, "ann", "ben", "cleo", root=False)
