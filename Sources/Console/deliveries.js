// Pushes that failed or wait for long, by reason, of the newest messages first; and trying them again.
import { base, client } from "./api.js";
import { el, moment, note, put, sure, table } from "./dom.js";
import { ago, explained, texts } from "./texts.js";

const PAGE = 100;
/** So many messages are asked about at once. */
const TOGETHER = 10;
const LONG = 60_000;
const LATEST = `query Latest($limit: Int, $nextToken: String) { page: history(limit: $limit, nextToken: $nextToken) {
  items { id number title topicId createdAt deliverySummary { waiting failed } } nextToken } }`;
const PUSHES = "items { id status reason attempts nextAttemptAt updatedAt platform device { name } } nextToken";
const AGAIN = "mutation Again($id: ID!, $reason: String) { redriveDeliveries(messageId: $id, status: FAILED, reason: $reason) { waiting } }";

export async function open({ topics }) {
  const names = Object.fromEntries((await topics()).map(({ id, name }) => [id, name]));
  const groups = el("div");
  const said = el("p", { className: "hint", role: "status" });
  const older = el("button", { hidden: true, onclick: () => look().catch((error) => note(explained(error))) }, texts.deliveries.older);
  const anew = el("button", { onclick: () => begin().catch((error) => note(explained(error))) }, texts.words.lookAgain);
  /** Each has the message and one of its pushes. */
  let found = [];
  let looked = 0;
  let last = null;
  let next = null;
  let isOver = false;

  async function look() {
    older.hidden = true;
    put(said, texts.words.looking);
    const { page } = await client.query(LATEST, { limit: PAGE, nextToken: next });
    const messages = page.items.filter(Boolean);
    const troubled = messages.filter(({ createdAt, deliverySummary: { waiting, failed } }) =>
      failed > 0 || (waiting > 0 && Date.now() - Date.parse(createdAt) > LONG));
    for (let start = 0; start < troubled.length; start += TOGETHER) found.push(...await pushesOf(troubled.slice(start, start + TOGETHER)));
    if (isOver) return;
    [looked, last, next] = [looked + messages.length, messages.at(-1) ?? last, page.nextToken];
    draw();
  }

  async function begin() {
    [found, looked, last, next] = [[], 0, null, null];
    await look();
  }

  function draw() {
    older.hidden = !next;
    put(said, texts.deliveries.found(found.length, looked, last && moment(last.createdAt, ago(last.createdAt))));
    const by = Map.groupBy ? Map.groupBy(found, reasonOf) : grouped(found, reasonOf);
    put(groups, [...by].sort(([, one], [, other]) => other.length - one.length).map(([words, entries]) => [
      el("h2", {}, words),
      table(`${words}: ${entries.length}`, texts.deliveries.columns, entries.slice(0, 50).map(({ message, push }) => [
        el("a", { className: "free", href: `${base}/messages/${message.id}` }, `${names[message.topicId] ?? ""}#${message.number} ${message.title || texts.words.noTitle}`),
        el("span", { className: "free" }, push.device?.name ?? texts.platforms[push.platform] ?? push.platform), moment(push.updatedAt, ago(push.updatedAt)),
      ])),
      entries.length > 50 ? el("p", { className: "hint" }, texts.deliveries.more(entries.length - 50)) : null,
      entries[0].push.status === "FAILED" && entries[0].push.reason ? el("div", { className: "row" }, retry(words, entries)) : null,
    ]));
  }

  const retry = (words, entries) => {
    const ids = [...new Set(entries.map(({ message }) => message.id))];
    const { reason } = entries[0].push;
    return el("button", {
      "aria-label": texts.deliveries.retryOf(words),
      async onclick() {
        if (!sure(texts.deliveries.sureRetry(ids.length, words))) return;
        try {
          for (const id of ids) await client.mutate(AGAIN, { id, reason });
          note(texts.words.dueAgain);
          await begin();
        } catch (error) {
          note(explained(error));
        }
      },
    }, texts.deliveries.retry(ids.length));
  };

  await begin();
  return {
    title: texts.deliveries.title,
    body: [el("p", {}, texts.deliveries.about), said, groups, el("div", { className: "row" }, older, anew)],
    stop: () => (isOver = true),
  };
}

async function pushesOf(messages) {
  const fields = messages.map(({ id }, index) => `m${index}: getMessage(id: ${JSON.stringify(id)}) {
    failed: deliveries(status: FAILED, limit: 100) { ${PUSHES} } waiting: deliveries(status: WAITING, limit: 100) { ${PUSHES} } }`);
  const answers = await client.query(`{ ${fields.join("\n")} }`);
  return messages.flatMap((message, index) => [...(answers[`m${index}`]?.failed.items ?? []), ...(answers[`m${index}`]?.waiting.items ?? [])]
    .filter(Boolean).map((push) => ({ message, push })));
}

/** Why, in words, as people read it; pushes with the same words stand together. */
function reasonOf({ push: { status, reason, platform } }) {
  const words = reason ? texts.reasons[reason] ?? reason : null;
  const place = texts.platforms[platform] ?? platform;
  return `${place}: ${texts.statuses[status] ?? status}${words ? `, ${words}` : ""}`;
}

function grouped(items, nameOf) {
  const groups = new Map();
  for (const item of items) groups.set(nameOf(item), [...(groups.get(nameOf(item)) ?? []), item]);
  return groups;
}
