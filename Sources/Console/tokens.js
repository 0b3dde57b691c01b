// The caller's tokens: made, shown once, rotated, revoked.
import { client, proven } from "./api.js";
import { el, field, form, moment, note, put, sure, table } from "./dom.js";
import { paged } from "./pages.js";
import { ago, explained, texts } from "./texts.js";

const LIST = `query Tokens($nextToken: String) { tokens(limit: 100, nextToken: $nextToken) {
  items { id name scopes cidrs createdAt expiresAt lastUsedAt lastUsedFrom revokedAt rotatedTo } nextToken } }`;

export async function open({ topics }) {
  let known = await topics();
  const ended = new AbortController();
  const secret = el("div", { role: "status" });
  const inWords = (scope) => {
    const [kind, topic] = scope.split(":");
    const name = known.find(({ id }) => id === topic)?.name ?? topic;
    if (!topic) return texts.scopes[kind] ?? kind;
    return kind === "publish" ? texts.tokens.publishesTo(name) : texts.tokens.reads(name);
  };
  const show = (text) => put(secret, el("p", {}, texts.tokens.once), el("pre", { tabIndex: 0 }, text));
  const run = (document, variables, then) => async () => {
    try {
      const data = await proven(document, variables);
      then?.(data);
      await draw();
    } catch (error) {
      note(explained(error));
    }
  };
  const list = paged({
    name: texts.tokens.yours,
    load: async (nextToken) => (await client.query(LIST, { nextToken })).tokens,
    keep: (token) => !token.revokedAt && new Date(token.expiresAt) > new Date(),
    draw: (tokens) => (tokens.length > 0 ? table(texts.tokens.yours, texts.tokens.columns, tokens.map(row)) : el("p", {}, texts.tokens.none)),
  });
  const draw = () => list.begin();
  const row = (token) => [
    el("span", { className: "free" }, token.name || token.id),
    [el("div", {}, token.scopes.map(inWords).join("; ")), token.cidrs.length > 0 ? el("div", { className: "hint" }, texts.tokens.only(token.cidrs.join(", "))) : null],
    token.lastUsedAt
      ? [moment(token.lastUsedAt, ago(token.lastUsedAt)), texts.tokens.from(token.lastUsedFrom ?? texts.words.unknown)]
      : texts.words.never,
    moment(token.expiresAt, ago(token.expiresAt)),
    [
      el("button", {
        "aria-label": texts.words.of(texts.tokens.rotate, token.name || token.id),
        onclick: run("mutation Rotate($id: ID!) { rotateToken(id: $id) { text } }", { id: token.id }, (data) => show(data.rotateToken.text)),
      }, texts.tokens.rotate), " ",
      el("button", {
        className: "danger", "aria-label": texts.words.of(texts.words.revoke, token.name || token.id),
        onclick: () => sure(texts.tokens.sureRevoke(token.name || token.id)) && run("mutation Revoke($id: ID!) { revokeToken(id: $id) { id } }", { id: token.id })(),
      }, texts.words.revoke),
    ],
  ];
  const name = el("input", { required: true, maxLength: 100 });
  const scope = el("select");
  function offer() {
    const chosen = scope.value;
    put(scope, [
      ...known.filter(({ roles }) => roles.includes("OWNER") || roles.includes("PUBLISHER")).map(({ id }) => `publish:${id}`),
      "read", ...known.map(({ id }) => `read:${id}`), "topics", "device", "full",
    ].map((value) => el("option", { value }, inWords(value))));
    if ([...scope.options].some(({ value }) => value === chosen)) scope.value = chosen;
  }
  offer();
  const networks = el("input", { autocomplete: "off", spellcheck: false });
  const days = el("input", { type: "number", min: 1, max: 365, value: "90", required: true });
  await draw();
  // A topic that was taken back is called by its name no more; what somebody writes here stays.
  addEventListener("tocsin-lost", () => topics().then((found) => {
    known = found;
    offer();
    return draw();
  }).catch((error) => ended.signal.aborted || note(explained(error))), { signal: ended.signal });
  return {
    stop: () => ended.abort(),
    title: texts.places.tokens,
    body: [list.element, el("h2", {}, texts.tokens.another), form([
      field(texts.words.name, name), field(texts.tokens.does, scope), field(texts.tokens.days, days),
      field(texts.tokens.networks, networks, texts.tokens.networksHint),
    ], texts.words.makeIt, async () => {
      const expiresAt = new Date(Date.now() + Number(days.value) * 86_400_000).toISOString();
      const cidrs = networks.value.split(/[\s,;]+/).filter(Boolean);
      const { createToken } = await proven("mutation Make($input: CreateTokenInput!) { createToken(input: $input) { text } }", { input: { name: name.value, scopes: [scope.value], cidrs, expiresAt } });
      show(createToken.text);
      await draw();
    }, {
      explain: explained,
      // The server's words name what it was given.
      at: ({ code, message }) => (code === "BAD_USER_INPUT" && networks.value && /network/.test(message) ? networks : null),
    }), secret],
  };
}
