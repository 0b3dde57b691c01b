// What an integration makes of what is posted: tried on a body, and where the template is one's own, changed.
import { client, proven } from "./api.js";
import { el, field, form, note, put, table } from "./dom.js";
import { topicNames } from "./routes.js";
import { person } from "./store.js";
import { explained, texts } from "./texts.js";

const PREVIEW = `query Preview($kind: IntegrationKind!, $receiver: String, $template: AWSJSON, $headers: AWSJSON, $body: String!, $id: ID!) {
  previewReceiver(kind: $kind, receiver: $receiver, template: $template, headers: $headers, body: $body, integrationId: $id) {
    status answer problems events { action key title body priority url labels topicId } }
  getIntegration(id: $id) { topicId } }`;
const STORED = "query Stored($id: ID!) { getIntegration(id: $id) { template _version _deleted } }";
const SAVE = `mutation Save($input: UpdateIntegrationInput!, $was: ModelIntegrationConditionInput) {
  updateIntegration(input: $input, condition: $was) { template } }`;

/** The template that a new integration begins with. */
const EXAMPLE = {
  rules: [
    {
      when: [{ place: "{status}", is: ["ok", "up", "resolved"] }],
      event: { action: "resolve", key: "{host}", title: "{title}" },
    },
    { event: { action: "trigger", key: "{host}", title: "{title}", body: "{message ?? \"\"}", severity: "error" } },
  ],
};

/**
 * What somebody has written and not saved yet, and the template that it began with, by who it is and the integration: the
 * page is drawn anew by other buttons too.
 */
const drafts = new Map();

/** The field of a template, with the text that it has so far. */
export function templateField(text = null) {
  const value = JSON.stringify(text === null ? EXAMPLE : JSON.parse(text), null, 2);
  return el("textarea", { className: "code", required: true, rows: 12, spellcheck: false, autocomplete: "off", value });
}

/** What stands in it; where that is no JSON, the browser says at which place. */
export function templateOf({ value }) {
  try {
    JSON.parse(value);
  } catch (error) {
    throw Object.assign(new Error(texts.integrations.noJSON(error.message)), { code: "BAD_USER_INPUT" });
  }
  return value;
}

/** The integration as it is stored now. */
async function stored(id) {
  const { getIntegration: now } = await client.query(STORED, { id });
  if (!now?.template || now._deleted) throw Object.assign(new Error(""), { code: "UNAUTHORIZED" });
  return now;
}

/**
 * Puts a template in the place of the one that it was made from; false where that is not the stored one any more. A version
 * alone does not tell: a server that merges takes an older one, and keeps the stored text.
 */
async function replaced(id, was, text) {
  const now = await stored(id);
  if (now.template !== was) return false;
  try {
    const { updateIntegration: made } = await proven(SAVE, { input: { id, template: text, _version: now._version }, was: { template: { eq: was } } });
    return made.template === text;
  } catch (error) {
    if (["CONDITION_FAILED", "VERSION_CONFLICT"].includes(error.code)) return false;
    throw error;
  }
}

/** A preview, with the names of topics where routes send an event elsewhere. */
async function previewed(variables) {
  const found = await client.query(PREVIEW, variables);
  if (!found.getIntegration) throw Object.assign(new Error(""), { code: "UNAUTHORIZED" });
  const own = found.getIntegration.topicId;
  const elsewhere = found.previewReceiver.events.some(({ topicId }) => topicId && topicId !== own);
  return { ...found, named: elsewhere ? await topicNames() : null };
}

/** Tries the integration on a body, and changes its template. The server reads both, and stores nothing until it is saved. */
export function previewing({ id, name, kind, receiver, template }, saved) {
  if (kind === "HEARTBEAT") return null;
  const own = kind === "TEMPLATE" && template ? templateField(template) : null;
  const mine = `${person()?.userId} ${id}`;
  if (own && drafts.has(mine)) own.value = drafts.get(mine).text;
  const began = () => drafts.get(mine)?.was ?? template;
  own?.addEventListener("input", () => drafts.set(mine, { text: own.value, was: began() }));
  const theirs = el("div");
  const save = async () => {
    const text = templateOf(own);
    if (await replaced(id, began(), text)) {
      drafts.delete(mine);
      await saved();
      note(texts.integrations.templateSaved);
      return;
    }
    // The next press replaces what is shown now.
    const { template: was } = await stored(id);
    drafts.set(mine, { text: own.value, was });
    put(theirs, el("h3", {}, texts.integrations.templateNow), el("pre", { tabIndex: 0 }, was));
    throw Object.assign(new Error(texts.integrations.templateTaken), { code: "VERSION_CONFLICT" });
  };
  const body = el("textarea", { required: true, rows: 6, spellcheck: false, autocomplete: "off" });
  const headers = el("textarea", { rows: 2, spellcheck: false, autocomplete: "off" });
  const said = el("div", { role: "status" });
  const shown = el("div");
  const look = async () => {
    const given = Object.fromEntries(headers.value.split("\n").filter((line) => line.includes(":")).map((line) => {
      const at = line.indexOf(":");
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }));
    const { previewReceiver: preview, getIntegration: now, named } = await previewed({
      kind, id, body: body.value, headers: JSON.stringify(given), ...(kind === "TEMPLATE" ? { receiver, template: own ? templateOf(own) : template } : {}),
    });
    put(said,
      el("p", { className: preview.status < 300 ? "passed" : "failed" }, `${preview.status < 300 ? "✓" : "✗"} ${texts.integrations.wouldGet(preview.status)}`),
      preview.problems.map((problem) => el("p", { className: "error free" }, problem)));
    put(shown,
      preview.events.length > 0
        ? table(texts.integrations.wouldBecome(name), texts.integrations.eventColumns, preview.events.map((event) => [
          event.action, el("code", { className: "free" }, event.key ?? ""),
          [el("div", { className: "free" }, event.title), event.body ? el("div", { className: "free hint" }, event.body) : null,
            event.topicId && event.topicId !== now.topicId ? el("div", { className: "free hint" }, texts.integrations.goesTo(named(event.topicId))) : null],
          event.priority == null ? texts.integrations.usual : String(event.priority),
        ]))
        : el("p", { className: "hint" }, texts.integrations.noEvent),
      preview.answer ? el("details", {}, el("summary", {}, texts.integrations.answer), el("pre", { tabIndex: 0 }, preview.answer)) : null);
  };
  const words = own ? texts.integrations.templateAndPreview : texts.integrations.preview;
  return el("details", { open: drafts.has(mine) }, el("summary", { "aria-label": texts.words.of(words, name) }, words),
    own ? form([field(texts.integrations.template, own, texts.integrations.templateHint)], texts.integrations.saveTemplate, save, { explain: explained, at: ({ code }) => (["BAD_USER_INPUT", "VERSION_CONFLICT"].includes(code) ? own : null) }) : null,
    theirs,
    form([
      field(texts.integrations.body, body, texts.integrations.bodyHint),
      field(texts.integrations.headers, headers, texts.integrations.headersHint),
    ], texts.integrations.look, look, { explain: explained }), said, shown);
}
