// From an empty server to a push in this browser: four steps that tick themselves.
import { all, base, client, parts, worker } from "./api.js";
import { el, field, form, note, put } from "./dom.js";
import { makePublishToken } from "./publish-token.js";
import { explained, texts } from "./texts.js";

export async function open({ topics, go }) {
  let known = (await topics()).filter(({ roles }) => roles.includes("OWNER"));
  const steps = [1, 2, 3, 4].map(() => el("li"));
  const done = (index, ...words) => {
    const focused = document.activeElement;
    steps[index].className = "done";
    put(steps[index], "✓ ", ...words);
    // What is moved loses the focus.
    if (steps[index].contains(focused)) focused.focus({ preventScroll: true });
  };
  const making = (value, then) => {
    const name = el("input", { required: true, value, maxLength: 200 });
    return form([field(texts.start.make, name)], texts.words.makeIt, async () => {
      const { createTopic } = await client.mutate("mutation Make($input: CreateTopicInput!) { createTopic(input: $input) { id name } }", { input: { name: name.value, arn: "" } });
      dispatchEvent(new Event("tocsin-topics"));
      then(createTopic);
    }, { explain: explained });
  };
  const first = () => {
    if (known.length > 0) {
      return done(0, texts.start.has(el("a", { href: `${base}/topics/${known[0].id}`, className: "free" }, known[0].name)),
        el("details", {}, el("summary", {}, texts.start.another), making("", ({ id }) => go(`/topics/${id}`))));
    }
    put(steps[0], making(texts.start.topic, (topic) => {
      known = [topic];
      first();
      second();
      // The form is gone: who uses keys goes on with the next step.
      byCommand.querySelector("button").focus();
    }));
  };
  const command = el("pre", { tabIndex: 0, hidden: true });
  const byCommand = el("div", {}, el("button", {
    async onclick() {
      // A key that is shown goes on working.
      if (!command.hidden) return command.focus();
      try {
        put(command, (await parts()).integrations ? await byKey(known[0]) : (await makePublishToken(known[0], texts.start.key)).command);
        command.hidden = false;
      } catch (error) {
        note(explained(error));
      }
    },
  }, texts.start.command), command);
  const second = () => {
    put(steps[1], el("p", {}, texts.start.send), known.length === 0 ? el("p", { className: "hint" }, texts.start.afterFirst) : byCommand);
    if (known.length > 0) void hear();
  };
  const ended = new AbortController();
  async function hear() {
    try {
      for await (const message of client.follow(known[0].id, { signal: ended.signal })) {
        done(1, texts.start.came(el("a", { href: `${base}/messages/${message.id}`, className: "free" }, message.title)), byCommand);
        void watch(message.id);
      }
    } catch (error) {
      if (!ended.signal.aborted) note(explained(error));
    }
  }
  /** This browser's device, once it gets pushes. */
  let own = null;
  const third = async (pressed) => {
    const { registerWebPush } = await import("../../client/tocsin.js");
    // Who has ended the pushes of this browser gets them again by the button alone.
    const mayAsk = pressed || (await client.storage?.getItem("tocsin.webpush"));
    const { state, reason, deviceId } = !mayAsk ? { state: "needs-gesture" } : await registerWebPush(client, { worker, userGesture: pressed }).catch((error) => ({ state: "failed", reason: explained(error) }));
    own = deviceId ?? null;
    if (state === "registered") return done(2, texts.start.pushed);
    const why = { denied: texts.start.forbidden, "needs-gesture": "", dismissed: "" }[state] ?? reason ?? "";
    put(steps[2], el("p", {}, texts.start.letPush), el("button", { onclick: () => third(true) }, texts.words.getPushes),
      el("p", { className: "hint", role: "status" }, why));
  };
  let watching = null;
  async function watch(id) {
    // The newest message alone is followed.
    watching?.abort();
    watching = new AbortController();
    const { signal } = watching;
    const seen = ({ status, device }) => status === "ACCEPTED" && own !== null && device?.id === own && done(3, texts.start.arrived);
    // It may have been quicker than the line.
    const onState = async ({ state }) => {
      if (state !== "live") return;
      const { getMessage: message } = await client.query("query Seen($id: ID!) { getMessage(id: $id) { deliveries(limit: 200, status: ACCEPTED) { items { status device { id } } } } }", { id }).catch(() => ({}));
      message?.deliveries.items.filter(Boolean).forEach(seen);
    };
    try {
      for await (const { onDelivery } of client.subscribe("subscription Seen($id: ID!) { onDelivery(messageId: $id) { status device { id } } }", { id }, { signal, onState })) seen(onDelivery);
    } catch (error) {
      if (!signal.aborted) note(explained(error));
    }
  }
  put(steps[3], el("p", {}, texts.start.arrive));
  first();
  second();
  await third(false);
  return { title: texts.places.start, body: el("ol", { className: "steps" }, steps), stop: () => [ended, watching].forEach((each) => each?.abort()) };
}

const WAYS = `query Ways($id: ID!, $nextToken: String) { integrationsByTopicId(topicId: $id, limit: 100, nextToken: $nextToken) {
  items { id name kind enabled _deleted } nextToken } }`;

/** One line that publishes by a new key of the topic's first integration from here, which is made once. */
async function byKey({ id }) {
  const name = texts.start.key;
  const ways = await all(WAYS, { id }, (data) => data.integrationsByTopicId);
  const made = ways.find((each) => each && !each._deleted && each.enabled !== false && each.kind === "NTFY" && each.name === name)
    ?? (await client.mutate("mutation Way($input: CreateIntegrationInput!) { createIntegration(input: $input) { id } }", { input: { topicId: id, name, kind: "NTFY" } })).createIntegration;
  const { rotateIntegrationKey } = await client.mutate("mutation Key($id: ID!) { rotateIntegrationKey(id: $id) { snippets } }", { id: made.id });
  return JSON.parse(rotateIntegrationKey.snippets).curl;
}
