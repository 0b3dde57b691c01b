// The caller's tokens that are good for one topic alone: made, shown once, revoked.
import { client, proven } from "./api.js";
import { el, field, form, moment, note, put, table } from "./dom.js";
import { paged } from "./pages.js";
import { makePublishToken } from "./publish-token.js";
import { ago, explained, texts } from "./texts.js";

const LIST = `query Tokens($nextToken: String) { tokens(limit: 100, nextToken: $nextToken) {
  items { id name scopes lastUsedAt expiresAt revokedAt } nextToken } }`;
const REVOKE = "mutation Revoke($id: ID!) { revokeToken(id: $id) { id } }";

/** Those of a topic, in an `element` that `begin` fills. */
export function ownTokens(id) {
  let topic = null;
  const revoke = (token) => async () => {
    try {
      await proven(REVOKE, { id: token.id });
      await list.begin();
    } catch (error) {
      note(explained(error));
    }
  };
  const row = (token) => [
    el("span", { className: "free" }, token.name || token.id),
    token.scopes[0].startsWith("publish") ? texts.topic.publishes : texts.topic.reads,
    token.lastUsedAt ? moment(token.lastUsedAt, ago(token.lastUsedAt)) : texts.words.never, moment(token.expiresAt, ago(token.expiresAt)),
    el("button", { className: "danger", "aria-label": texts.topic.revokeOf(token.name), onclick: revoke(token) }, texts.words.revoke),
  ];
  const list = paged({
    name: texts.topic.tokensOf,
    load: async (nextToken) => (await client.query(LIST, { nextToken })).tokens,
    keep: ({ scopes, revokedAt, expiresAt }) =>
      scopes.length === 1 && scopes[0].split(":")[1] === id && !revokedAt && new Date(expiresAt) > new Date(),
    draw: (tokens) => (tokens.length > 0 ? table(texts.topic.tokensOf, texts.topic.tokenColumns, tokens.map(row)) : null),
  });
  const made = el("div", { role: "status" });
  const name = el("input", { required: true, maxLength: 100 });
  return {
    element: el("div", {},
      el("h2", {}, texts.topic.tokens), el("p", {}, texts.topic.aboutTokens), list.element,
      form([field(texts.topic.tokenName, name)], texts.topic.makeToken, async () => {
        const { text, command } = await makePublishToken(topic, name.value);
        put(made, el("p", {}, texts.tokens.once), el("pre", { tabIndex: 0 }, text), el("p", {}, texts.topic.tokenUse), el("pre", { tabIndex: 0 }, command));
        name.value = "";
        await list.begin();
      }, { explain: explained }),
      made),
    /** Reads them anew; what makes one names the topic as it is called now. */
    begin: (now) => {
      topic = now;
      return list.begin();
    },
  };
}
