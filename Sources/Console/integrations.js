// Integrations of a topic: ways in for senders, their keys, and what came in.
import { all, base, client, proven } from "./api.js";
import { el, field, form, moment, note, put, sure, table } from "./dom.js";
import { ago, counted, explained, texts } from "./texts.js";

const LIST = `query Integrations($id: ID!, $nextToken: String) { integrationsByTopicId(topicId: $id, limit: 100, nextToken: $nextToken) {
  items { id name kind receiver template enabled url keyHints events refused unmatchedResolves trouble lastEventAt _version _deleted } nextToken } }`;
const MAKE = "mutation Make($input: CreateIntegrationInput!) { createIntegration(input: $input) { id name } }";
const KEY = "mutation Key($id: ID!, $overlap: Int!) { rotateIntegrationKey(id: $id, overlapSeconds: $overlap) { key url snippets integration { name } } }";
const REVOKE = "mutation Revoke($id: ID!, $hint: String!) { revokeIntegrationKey(id: $id, hint: $hint) { id } }";
const CHANGE = "mutation Change($input: UpdateIntegrationInput!) { updateIntegration(input: $input) { id } }";
const DELETE = "mutation Delete($input: DeleteIntegrationInput!) { deleteIntegration(input: $input) { id } }";
const RECENT = "query Recent($id: ID!) { getIntegration(id: $id) { recent(limit: 20) { at status outcome incidentId messageId body } } }";
const PREVIEW = `query Preview($kind: IntegrationKind!, $receiver: String, $template: AWSJSON, $headers: AWSJSON, $body: String!) {
  previewReceiver(kind: $kind, receiver: $receiver, template: $template, headers: $headers, body: $body) {
    status answer problems events { action key title body priority url labels } } }`;
const OVERLAP = 86_400;

export async function open({ id, topics }) {
  const topic = (await topics()).find((each) => each.id === id);
  if (!topic) throw Object.assign(new Error("There is no such topic."), { code: "UNAUTHORIZED" });
  const mayAdd = topic.roles.includes("OWNER") || topic.roles.includes("PUBLISHER");
  const body = el("div");
  const secret = el("div", { role: "status" });

  const run = (document, variables, then) => async () => {
    try {
      const data = await proven(document, variables);
      await draw();
      then?.(data);
    } catch (error) {
      note(explained(error));
      await draw().catch(() => {});
    }
  };

  /** A new key with what to paste where. It is shown once: the server keeps its hash alone. */
  function show({ key, url, snippets, integration }) {
    const heading = el("h2", { tabIndex: -1 }, "The new key of ", el("span", { className: "free" }, integration?.name ?? ""), ", shown this once");
    put(secret, el("div", { className: "once" }, heading,
      pasted("Key", key), pasted(url.includes(key) ? "Address with the key in it" : "Address", url),
      Object.entries(JSON.parse(snippets)).map(([product, text]) => pasted(product, text))));
    heading.focus();
  }

  async function draw() {
    const list = (await all(LIST, { id }, (data) => data.integrationsByTopicId)).filter((each) => each && !each._deleted);
    list.sort((left, right) => left.name.localeCompare(right.name));
    put(body, list.length > 0 ? list.map((each) => one(each, run, show)) : el("p", { className: "hint" }, "No integration yet. Senders have no way in but tokens."));
  }

  await draw();
  return {
    title: `${topic.name}: integrations`,
    body: [
      secret, body, mayAdd ? adding(id, draw, show) : el("p", { className: "hint" }, "Only who may publish to this topic adds integrations."),
      el("p", { className: "hint" }, el("a", { href: `${base}/topics/${id}/settings` }, "Back to the topic's settings")),
    ],
  };
}

function pasted(name, text) {
  return [el("h3", {}, name), el("pre", { tabIndex: 0 }, text)];
}

function adding(topicId, draw, show) {
  const name = el("input", { required: true, maxLength: 100, autocomplete: "off" });
  const kinds = Object.entries(texts.kinds).filter(([kind]) => kind !== "HEARTBEAT");
  const kind = el("select", {}, kinds.map(([value, words]) => el("option", { value }, words)));
  const receiver = el("input", { autocomplete: "off" });
  const named = field("Receiver", receiver, "one that ships, such as sentry");
  const fits = () => {
    named.hidden = kind.value !== "TEMPLATE";
    receiver.required = !named.hidden;
  };
  kind.addEventListener("change", fits);
  fits();
  return [
    el("h2", {}, "A new integration"),
    form([field("Name", name, "people read it in incidents"), field("What posts here", kind), named], "Add it", async () => {
      const input = { topicId, name: name.value, kind: kind.value, ...(named.hidden ? {} : { receiver: receiver.value }) };
      const { createIntegration: made } = await proven(MAKE, { input });
      name.value = "";
      try {
        const { rotateIntegrationKey: key } = await proven(KEY, { id: made.id, overlap: OVERLAP });
        await draw();
        show(key);
      } catch (error) {
        await draw();
        throw error;
      }
    }, { explain: explained }),
  ];
}

function one(integration, run, show) {
  const { id, name, kind, receiver, enabled, keyHints, events, refused, unmatchedResolves, trouble, lastEventAt, url, _version } = integration;
  const isOn = enabled !== false;
  const of = (words) => `${words}: ${name}`;
  const keys = keyHints.map((hint) => el("span", { className: "row" },
    el("code", {}, `${hint}…`),
    el("button", {
      className: "danger", "aria-label": of(`Revoke ${hint}…`),
      onclick: () => sure(`Revoke the key ${hint}… of ${name}? What posts with it is refused at once.`) && run(REVOKE, { id, hint })(),
    }, "Revoke")));
  const rotated = (data) => show(data.rotateIntegrationKey);
  return el("article", { "aria-labelledby": `t-${id}` },
    el("h2", { id: `t-${id}` }, el("span", { className: "free" }, name)),
    el("p", { className: "meta" },
      el("span", {}, texts.kinds[kind] ?? kind, receiver ? `: ${receiver}` : ""), isOn ? null : el("strong", {}, "off: takes nothing"),
      el("span", {}, `${counted(events, "event")} taken`), refused > 0 ? el("span", {}, `${counted(refused, "request")} refused`) : null,
      unmatchedResolves > 0 ? el("span", {}, `${counted(unmatchedResolves, "end")} of what was not open`) : null,
      lastEventAt ? el("span", {}, "last ", moment(lastEventAt, ago(lastEventAt))) : "nothing came yet"),
    url ? el("p", { className: "meta" }, el("span", {}, "posts to ", el("code", {}, url))) : null,
    trouble ? el("p", { className: "error free" }, `Last trouble: ${trouble}`) : null,
    el("div", { className: "row" }, keyHints.length > 0 ? "Keys that begin with" : "It has no key, so nothing can post here.", keys),
    el("div", { className: "row" },
      el("button", { "aria-label": of("New key"), onclick: run(KEY, { id, overlap: OVERLAP }, rotated) }, "New key"),
      keyHints.length > 0 ? el("small", { className: "hint" }, "the one before it stays good for a day") : null),
    requests(integration), previewing(integration),
    el("details", {}, el("summary", {}, "Turn off or delete"), el("div", { className: "row" },
      el("button", { "aria-label": of(isOn ? "Turn off" : "Turn on"), onclick: run(CHANGE, { input: { id, enabled: !isOn, _version } }) }, isOn ? "Turn off" : "Turn on"),
      el("button", {
        className: "danger", "aria-label": of("Delete"),
        onclick: () => sure(`Delete ${name} with its keys? What posts with them is refused at once. Its incidents stay.`) && run(DELETE, { input: { id, _version } })(),
      }, "Delete"))));
}

/** The last requests of a day, asked for when they are wanted. */
function requests({ id, name }) {
  const shown = el("div", { role: "status" });
  const load = async () => {
    try {
      const { getIntegration: found } = await client.query(RECENT, { id });
      const rows = (found?.recent ?? []).map((request) => [
        moment(request.at, ago(request.at)),
        el("span", { className: request.status < 300 ? "passed" : "failed" }, `${request.status < 300 ? "✓" : "✗"} ${request.status}`),
        [
          el("div", { className: "free" }, texts.outcomes[request.outcome] ?? request.outcome),
          el("div", { className: "ways" },
            request.incidentId ? el("a", { href: `${base}/incidents/${request.incidentId}` }, "the incident") : null,
            request.messageId ? el("a", { href: `${base}/messages/${request.messageId}` }, "the message") : null),
          request.body ? el("details", {}, el("summary", {}, "What was posted"), el("pre", { tabIndex: 0 }, request.body)) : null,
        ],
      ]);
      put(shown,
        rows.length > 0 ? table(`Recent requests to ${name}`, ["When", "Answer", "What became of it"], rows) : el("p", { className: "hint" }, "Nothing came in the last day."),
        el("button", { onclick: load }, "Look again"));
    } catch (error) {
      put(shown, el("p", { className: "error" }, explained(error)), el("button", { onclick: load }, "Try again"));
    }
  };
  return el("details", { ontoggle: (event) => event.target === event.currentTarget && event.currentTarget.open && load() },
    el("summary", {}, "Recent requests"), shown);
}

/** What a pasted body would become here: the server reads it, and stores nothing. */
function previewing({ id, name, kind, receiver, template }) {
  if (kind === "HEARTBEAT") return null;
  const body = el("textarea", { required: true, rows: 6, spellcheck: false, autocomplete: "off" });
  const headers = el("textarea", { rows: 2, spellcheck: false, autocomplete: "off" });
  const shown = el("div", { role: "status", id: `p-${id}` });
  const look = async () => {
    const given = Object.fromEntries(headers.value.split("\n").filter((line) => line.includes(":")).map((line) => {
      const at = line.indexOf(":");
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }));
    const { previewReceiver: preview } = await client.query(PREVIEW, {
      kind, body: body.value, headers: JSON.stringify(given), ...(kind === "TEMPLATE" ? { receiver, template } : {}),
    });
    put(shown,
      el("p", { className: preview.status < 300 ? "passed" : "failed" }, `${preview.status < 300 ? "✓" : "✗"} The sender would get ${preview.status}.`),
      preview.problems.map((problem) => el("p", { className: "error free" }, problem)),
      preview.events.length > 0
        ? table(`What it would become in ${name}`, ["Does", "Key", "Says", "Priority"], preview.events.map((event) => [
          event.action, el("code", { className: "free" }, event.key ?? ""),
          [el("div", { className: "free" }, event.title), event.body ? el("div", { className: "free hint" }, event.body) : null],
          event.priority == null ? "the usual" : String(event.priority),
        ]))
        : el("p", { className: "hint" }, "No event: nothing would happen."),
      preview.answer ? el("details", {}, el("summary", {}, "The answer"), el("pre", { tabIndex: 0 }, preview.answer)) : null);
  };
  return el("details", {}, el("summary", {}, "Preview"),
    form([
      field("Body", body, "as the sender posts it; nothing is stored"),
      field("Headers", headers, "only where the receiver reads them: Name: value, one a line"),
    ], "Show what it becomes", look, { explain: explained }), shown);
}
