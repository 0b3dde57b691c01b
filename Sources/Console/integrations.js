// Integrations of a topic: ways in for senders, their keys, and what came in.
import { all, base, client, proven } from "./api.js";
import { el, field, form, moment, note, put, sure, table } from "./dom.js";
import { routing } from "./routes.js";
import { previewing, templateField, templateOf } from "./templates.js";
import { ago, explained, texts } from "./texts.js";

const LIST = `query Integrations($id: ID!, $nextToken: String) { integrationsByTopicId(topicId: $id, limit: 100, nextToken: $nextToken) {
  items { id name kind receiver template enabled allowHttpActions url keyHints events refused unmatchedResolves trouble lastEventAt _version _deleted } nextToken } }`;
const MAKE = "mutation Make($input: CreateIntegrationInput!) { createIntegration(input: $input) { id name } }";
const KEY = "mutation Key($id: ID!, $overlap: Int!) { rotateIntegrationKey(id: $id, overlapSeconds: $overlap) { key url snippets integration { id name } } }";
const REVOKE = "mutation Revoke($id: ID!, $hint: String!) { revokeIntegrationKey(id: $id, hint: $hint) { id } }";
const VERSION = "query Version($id: ID!) { getIntegration(id: $id) { _version _deleted } }";
const CHANGE = "mutation Change($input: UpdateIntegrationInput!) { updateIntegration(input: $input) { enabled allowHttpActions } }";
const DELETE = "mutation Delete($input: DeleteIntegrationInput!) { deleteIntegration(input: $input) { id } }";
const RECENT = "query Recent($id: ID!) { getIntegration(id: $id) { recent(limit: 20) { at status outcome incidentId messageId body } } }";
const OVERLAP = 86_400;
/** The choice of a template of one's own, which is of the kind TEMPLATE. */
const OWN = "OWN";
/** So many others may be quicker before it is said that nothing was done. */
const TRIES = 3;

export async function open({ id, topics }) {
  const topic = (await topics()).find((each) => each.id === id);
  if (!topic) throw Object.assign(new Error(texts.words.noSuchTopic), { code: "UNAUTHORIZED" });
  const mayAdd = topic.roles.includes("OWNER") || topic.roles.includes("PUBLISHER");
  const body = el("div");
  // It gets the focus, so nothing reads it out a second time.
  const secret = el("div");
  /** The integration whose key is shown. */
  let shown = null;

  const run = (work, then) => async () => {
    try {
      const data = await work();
      await draw();
      then?.(data);
    } catch (error) {
      note(explained(error));
      await draw().catch(() => {});
    }
  };

  /** A new key with what to paste where. It is shown once: the server keeps its hash alone. */
  function show({ key, url, snippets, integration }) {
    const heading = el("h2", { tabIndex: -1 }, texts.integrations.newKeyOf(el("span", { className: "free" }, integration?.name ?? "")));
    shown = integration?.id ?? null;
    put(secret, el("div", { className: "once" }, heading,
      pasted(texts.words.key, key), pasted(url.includes(key) ? texts.integrations.addressWithKey : texts.integrations.address, url),
      Object.entries(JSON.parse(snippets)).map(([product, text]) => pasted(product, text))));
    heading.focus();
  }

  /** Draws all anew. Who was at an integration, or has just changed the one that is told, goes on from its name. */
  async function draw(changed) {
    const place = changed ? `t-${changed}` : document.activeElement?.closest("article")?.getAttribute("aria-labelledby");
    const list = (await all(LIST, { id }, (data) => data.integrationsByTopicId)).filter((each) => each && !each._deleted);
    list.sort((left, right) => left.name.localeCompare(right.name));
    if (shown && !list.some((each) => each.id === shown)) put(secret);
    put(body, list.length > 0 ? list.map((each) => one(each, run, show, draw)) : el("p", { className: "hint" }, texts.integrations.none));
    if (place && document.activeElement === document.body) (document.getElementById(place) ?? document.querySelector("main h1"))?.focus();
  }

  await draw();
  return {
    title: texts.integrations.title(topic.name),
    body: [
      secret, body, mayAdd ? adding(id, draw, show) : el("p", { className: "hint" }, texts.integrations.notYours),
      el("p", { className: "hint" }, el("a", { href: `${base}/topics/${id}/settings` }, texts.integrations.back)),
    ],
  };
}

function pasted(name, text) {
  return [el("h3", {}, name), el("pre", { tabIndex: 0 }, text)];
}

function adding(topicId, draw, show) {
  const name = el("input", { required: true, maxLength: 100, autocomplete: "off" });
  const kinds = Object.entries(texts.kinds).filter(([kind]) => kind !== "HEARTBEAT");
  const kind = el("select", {}, [...kinds, [OWN, texts.integrations.ownTemplate]].map(([value, words]) => el("option", { value }, words)));
  const receiver = el("input", { autocomplete: "off" });
  const named = field(texts.integrations.receiver, receiver, texts.integrations.receiverHint);
  const template = templateField();
  const written = field(texts.integrations.template, template, texts.integrations.templateHint);
  const calls = el("input", { type: "checkbox" });
  const called = field(texts.integrations.mayCall, calls);
  const fits = () => {
    called.hidden = kind.value !== "NTFY";
    named.hidden = kind.value !== "TEMPLATE";
    receiver.required = !named.hidden;
    written.hidden = kind.value !== OWN;
    // A field that is not shown asks for nothing.
    template.disabled = written.hidden;
  };
  kind.addEventListener("change", fits);
  fits();
  return [
    el("h2", {}, texts.integrations.another),
    form([
      field(texts.words.name, name, texts.integrations.nameHint), field(texts.integrations.postsHere, kind), named, written, called,
    ], texts.integrations.add, async () => {
      const input = {
        topicId, name: name.value, kind: kind.value === OWN ? "TEMPLATE" : kind.value,
        ...(named.hidden ? {} : { receiver: receiver.value }), ...(written.hidden ? {} : { template: templateOf(template) }),
        ...(called.hidden ? {} : { allowHttpActions: calls.checked }),
      };
      const { createIntegration: made } = await proven(MAKE, { input });
      name.value = "";
      calls.checked = false;
      try {
        const { rotateIntegrationKey: key } = await proven(KEY, { id: made.id, overlap: OVERLAP });
        await draw();
        show(key);
      } catch (error) {
        await draw();
        throw error;
      }
    }, { explain: explained, at: ({ code }) => (code === "BAD_USER_INPUT" && kind.value === OWN ? template : null) }),
  ];
}

function one(integration, run, show, draw) {
  const { id, name, kind, receiver, template, enabled, keyHints, events, refused, unmatchedResolves, trouble, lastEventAt, url, _version } = integration;
  const isOn = enabled !== false;
  const of = (words) => texts.words.of(words, name);
  const turn = isOn ? texts.integrations.turnOff : texts.integrations.turnOn;
  const keys = keyHints.map((hint) => el("span", { className: "row" },
    el("code", {}, `${hint}…`),
    el("button", {
      className: "danger", "aria-label": of(texts.integrations.revokeKey(hint)),
      onclick: () => sure(texts.integrations.sureRevoke(hint, name)) && run(() => proven(REVOKE, { id, hint }))(),
    }, texts.words.revoke)));
  const rotated = (data) => show(data.rotateIntegrationKey);
  return el("article", { "aria-labelledby": `t-${id}` },
    el("h2", { id: `t-${id}`, tabIndex: -1 }, el("span", { className: "free" }, name)),
    el("p", { className: "meta" },
      el("span", {}, template ? texts.integrations.ownTemplate : texts.kinds[kind] ?? kind, receiver ? `: ${receiver}` : ""), isOn ? null : el("strong", {}, texts.integrations.off),
      el("span", {}, texts.integrations.taken(events)), refused > 0 ? el("span", {}, texts.integrations.refused(refused)) : null,
      unmatchedResolves > 0 ? el("span", {}, texts.integrations.unmatched(unmatchedResolves)) : null,
      lastEventAt ? el("span", {}, texts.integrations.last(moment(lastEventAt, ago(lastEventAt)))) : texts.integrations.nothingCame),
    url ? el("p", { className: "meta" }, el("span", {}, texts.integrations.postsTo(el("code", {}, url)))) : null,
    trouble ? el("p", { className: "error free" }, texts.integrations.trouble(trouble)) : null,
    routing(integration, () => draw(id)),
    el("div", { className: "row" }, keyHints.length > 0 ? texts.integrations.keys : texts.integrations.noKey, keys),
    el("div", { className: "row" },
      el("button", { "aria-label": of(texts.integrations.newKey), onclick: run(() => proven(KEY, { id, overlap: OVERLAP }), rotated) }, texts.integrations.newKey),
      keyHints.length > 0 ? el("small", { className: "hint" }, texts.integrations.newKeyHint) : null),
    kind === "NTFY" ? calling(integration, of, run) : null,
    requests(integration), previewing(integration, () => draw(id)),
    el("details", {}, el("summary", { "aria-label": of(texts.integrations.end) }, texts.integrations.end), el("div", { className: "row" },
      el("button", { "aria-label": of(turn), onclick: run(() => turned(id, "enabled", !isOn)) }, turn),
      el("button", {
        className: "danger", "aria-label": of(texts.words.delete),
        onclick: () => sure(texts.integrations.sureDelete(name)) && run(() => proven(DELETE, { input: { id, _version } }))(),
      }, texts.words.delete))));
}

/**
 * Sets a switch of it as it is stored now, whatever the page shows. Where somebody else is quicker it is read again: a
 * server that merges keeps theirs, and answers as if nothing were wrong.
 */
async function turned(id, name, value) {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const { getIntegration: now } = await client.query(VERSION, { id });
    if (!now || now._deleted) throw Object.assign(new Error(""), { code: "UNAUTHORIZED" });
    try {
      const { updateIntegration: made } = await proven(CHANGE, { input: { id, [name]: value, _version: now._version } });
      if ((made[name] ?? name === "enabled") === value) return;
    } catch (error) {
      if (error.code !== "VERSION_CONFLICT") throw error;
    }
  }
  throw new Error(texts.integrations.notTurned);
}

/** Whether buttons of its messages may have the server call an address. */
function calling({ id, allowHttpActions }, of, run) {
  const words = allowHttpActions ? texts.integrations.callNoMore : texts.integrations.letCall;
  return el("div", { className: "row" },
    el("span", {}, allowHttpActions ? texts.integrations.calls : texts.integrations.callsNot),
    el("button", { "aria-label": of(words), onclick: run(() => turned(id, "allowHttpActions", !allowHttpActions)) }, words));
}

/** The last requests of a day, asked for when they are wanted. */
function requests({ id, name }) {
  const said = el("div", { role: "status" });
  const shown = el("div");
  const load = async () => {
    try {
      const { getIntegration: found } = await client.query(RECENT, { id });
      const rows = (found?.recent ?? []).map((request) => [
        moment(request.at, ago(request.at)),
        el("span", { className: request.status < 300 ? "passed" : "failed" }, `${request.status < 300 ? "✓" : "✗"} ${request.status}`),
        [
          el("div", { className: "free" }, texts.outcomes[request.outcome] ?? request.outcome),
          el("div", { className: "ways" },
            request.incidentId ? el("a", { href: `${base}/incidents/${request.incidentId}` }, texts.integrations.theIncident) : null,
            request.messageId ? el("a", { href: `${base}/messages/${request.messageId}` }, texts.integrations.theMessage) : null),
          request.body ? el("details", {}, el("summary", {}, texts.integrations.posted), el("pre", { tabIndex: 0 }, request.body)) : null,
        ],
      ]);
      put(said, el("p", { className: "hint" }, rows.length > 0 ? texts.integrations.came(rows.length) : texts.integrations.nothingIn));
      put(shown,
        rows.length > 0 ? table(texts.integrations.recentOf(name), texts.integrations.requestColumns, rows) : null,
        el("button", { onclick: load }, texts.words.lookAgain));
    } catch (error) {
      put(said, el("p", { className: "error" }, explained(error)));
      put(shown, el("button", { onclick: load }, texts.words.tryAgain));
    }
  };
  return el("details", { ontoggle: (event) => event.target === event.currentTarget && event.currentTarget.open && load() },
    el("summary", { "aria-label": texts.integrations.recentOf(name) }, texts.integrations.recent), said, shown);
}
