// From an empty server to a push in this browser: four steps that tick themselves.
import { base, client, parts, proven, worker } from "./api.js";
import { el, field, form, note, put } from "./dom.js";
import { explained } from "./texts.js";

export async function open({ topics }) {
  let known = (await topics()).filter(({ roles }) => roles.includes("OWNER"));
  const steps = [1, 2, 3, 4].map(() => el("li"));
  const done = (index, ...words) => {
    steps[index].className = "done";
    put(steps[index], "✓ ", ...words);
  };
  const name = el("input", { required: true, value: "alerts", maxLength: 200 });
  const first = () => {
    if (known.length > 0) return done(0, "You have the topic ", el("a", { href: `${base}/topics/${known[0].id}`, className: "free" }, known[0].name), ".");
    put(steps[0], form([field("Make a topic", name)], "Make it", async () => {
      const { createTopic } = await client.mutate("mutation Make($input: CreateTopicInput!) { createTopic(input: $input) { id name } }", { input: { name: name.value, arn: "" } });
      known = [createTopic];
      dispatchEvent(new Event("tocsin-topics"));
      first();
      second();
    }, { explain: explained }));
  };
  const second = () => {
    const command = el("pre", { tabIndex: 0 });
    put(steps[1], el("p", {}, "Send something by a command:"),
      known.length === 0 ? el("p", { className: "hint" }, "after the first step") : el("button", {
        async onclick() {
          try {
            put(command, (await parts()).integrations ? await byKey(known[0]) : await byToken(known[0]));
          } catch (error) {
            note(explained(error));
          }
        },
      }, "Show the command, with a key that publishes there alone"), command);
    if (known.length > 0) void hear();
  };
  const ended = new AbortController();
  async function hear() {
    try {
      for await (const message of client.follow(known[0].id, { signal: ended.signal })) {
        done(1, "It came: ", el("a", { href: `${base}/messages/${message.id}`, className: "free" }, message.title));
        void watch(message.id);
      }
    } catch (error) {
      if (!ended.signal.aborted) note(explained(error));
    }
  }
  const third = async (pressed) => {
    const { registerWebPush } = await import("../../client/tocsin.js");
    // Who has ended the pushes of this browser gets them again by the button alone.
    const mayAsk = pressed || (await client.storage?.getItem("tocsin.webpush"));
    const { state, reason } = !mayAsk ? { state: "needs-gesture" } : await registerWebPush(client, { worker, userGesture: pressed }).catch((error) => ({ state: "failed", reason: explained(error) }));
    if (state === "registered") return done(2, "This browser gets pushes.");
    const why = { denied: "The browser forbids it. Allow notifications for this page, then come back.", "needs-gesture": "", dismissed: "" }[state] ?? reason ?? "";
    put(steps[2], el("p", {}, "Let this browser get pushes:"), el("button", { onclick: () => third(true) }, "Get pushes in this browser"), el("p", { className: "hint", role: "status" }, why));
  };
  async function watch(id) {
    const seen = ({ status }) => status === "ACCEPTED" && done(3, "The push service has taken a push of it.");
    // It may have been quicker than the line.
    const onState = async ({ state }) => {
      if (state !== "live") return;
      const { getMessage: message } = await client.query("query Seen($id: ID!) { getMessage(id: $id) { deliveries(limit: 10, status: ACCEPTED) { items { status } } } }", { id }).catch(() => ({}));
      message?.deliveries.items.filter(Boolean).forEach(seen);
    };
    try {
      for await (const { onDelivery } of client.subscribe("subscription Seen($id: ID!) { onDelivery(messageId: $id) { status } }", { id }, { signal: ended.signal, onState })) seen(onDelivery);
    } catch (error) {
      if (!ended.signal.aborted) note(explained(error));
    }
  }
  put(steps[3], el("p", {}, "See the push arrive: send once more by the command above."));
  first();
  second();
  await third(false);
  return { title: "Start", body: el("ol", { className: "steps" }, steps), stop: () => ended.abort() };
}

let made = null;
/** One line that publishes by the key of an integration, which is made once. */
async function byKey({ id }) {
  if (made?.topicId !== id) {
    const input = { topicId: id, name: "first steps", kind: "NTFY" };
    made = (await client.mutate("mutation Way($input: CreateIntegrationInput!) { createIntegration(input: $input) { id topicId } }", { input })).createIntegration;
  }
  const { rotateIntegrationKey } = await client.mutate("mutation Key($id: ID!) { rotateIntegrationKey(id: $id) { snippets } }", { id: made.id });
  return JSON.parse(rotateIntegrationKey.snippets).curl;
}

/** The same by a token, where the server has no integrations. */
async function byToken({ id, name }) {
  const input = { name: "first steps", scopes: [`publish:${id}`] };
  const { createToken } = await proven("mutation Token($input: CreateTokenInput!) { createToken(input: $input) { text } }", { input });
  const body = JSON.stringify({ topic: name, title: "Hello", body: "from a command" });
  return `curl ${location.origin}${base}/tcm/create-message \\\n  -H "Authorization: Bearer ${createToken.text}" \\\n  -H 'Content-Type: application/json' -d '${body}'`;
}
