// Lists that the server tells a page at a time: what is shown is said, and the rest is one press away.
import { el, note, put } from "./dom.js";
import { explained, texts } from "./texts.js";

/** So many requests, at most, look for something to show behind one press. */
const TRIES = 10;

/**
 * A list of `name`: `load(nextToken)` gives `{ items, nextToken }`, `draw(items)` what is shown of them, and `keep` says which
 * are. Answers with its `element`, and with `begin`, which reads as many anew as are shown, the `first` page where it is known.
 */
export function paged({ name, load, draw, keep = Boolean }) {
  let items = [];
  let next = null;
  let turn = 0;
  let isWhole = true;
  const list = el("div", { tabIndex: -1 });
  const said = el("p", { className: "hint", role: "status", tabIndex: -1 });
  const more = el("button", { hidden: true, "aria-label": texts.pages.moreOf(name), onclick: () => further().catch((error) => note(explained(error))) }, texts.pages.more);
  const below = el("div", { className: "row pages", hidden: true }, said, more);

  /** Reads pages behind `token` until there are `least` to show, or no more. */
  async function read(page, least) {
    const found = page.items.filter(keep);
    for (let tries = 1; page.nextToken && found.length < least && tries < TRIES; tries += 1) {
      page = await load(page.nextToken);
      found.push(...page.items.filter(keep));
    }
    return [found, page.nextToken];
  }

  async function begin(first = null) {
    const asked = (turn += 1);
    const page = first ?? await load(null);
    const [found, token] = await read(page, Math.max(1, items.length));
    if (asked !== turn) return;
    isWhole = !page.nextToken;
    show(found, token);
  }

  async function further() {
    if (!next) return;
    const asked = (turn += 1);
    more.disabled = true;
    try {
      const [found, token] = await read(await load(next), 1);
      if (asked !== turn) return;
      show([...items, ...found], token);
    } finally {
      more.disabled = false;
    }
    // What had the focus may have gone.
    if (more.hidden) said.focus();
    else more.focus();
  }

  function show(found, token) {
    [items, next] = [found, token];
    const focused = list.contains(document.activeElement) ? document.activeElement : null;
    put(list, draw(items));
    if (focused && !list.contains(document.activeElement)) focusAgain(focused.ariaLabel);
    more.hidden = !next;
    // A list of one page says nothing of pages.
    below.hidden = isWhole;
    put(said, next ? texts.pages.some(items.length) : texts.pages.all(items.length));
  }

  /** What was pressed has been drawn anew, or is gone: whoever uses keys stays where they were. */
  function focusAgain(label) {
    const same = label ? [...list.querySelectorAll("button")].find(({ ariaLabel }) => ariaLabel === label) : null;
    (same ?? list.querySelector(".scroll") ?? list).focus({ preventScroll: true });
  }

  return { element: el("div", {}, list, below), begin };
}
