// The bar below a narrow screen, in place of the list of places: the ways to what people want most, and to that list, which
// opens above it. Of a wide screen it is no part.
import { base } from "./api.js";
import { el, put } from "./dom.js";
import { texts } from "./texts.js";

/** `rail` is the list of places; its first part has the topics, its second one all else. */
export function makeDock(dock, rail) {
  let opened = null;

  const count = el("span", { className: "count", hidden: true });
  const way = (path, words, ...more) => el("a", { href: base + path }, el("span", {}, words), ...more);
  const opener = (part, words) => el("button", {
    "aria-controls": "rail", "aria-expanded": "false", "data-part": part, onclick: () => (opened === part ? close(true) : open(part)),
  }, words);
  const ways = {
    feed: way("/feed", texts.dock.feed, count), topics: opener("topics", texts.dock.topics),
    search: way("/search", texts.places.search), more: opener("more", texts.words.more),
  };

  function open(part) {
    opened = part;
    draw();
    rail.querySelector(`ul:${part === "topics" ? "first" : "last"}-of-type a`)?.focus({ preventScroll: true });
  }

  /** `isBack`: the focus goes back to what opened it. */
  function close(isBack = false) {
    const before = opened;
    opened = null;
    draw();
    if (isBack && before) ways[before].focus();
  }

  function draw() {
    for (const part of ["topics", "more"]) {
      rail.classList.toggle(part, opened === part);
      ways[part].setAttribute("aria-expanded", String(opened === part));
    }
  }

  const isInside = (target) => dock.contains(target) || rail.contains(target);
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !opened) return;
    event.preventDefault();
    close(true);
  });
  addEventListener("pointerdown", ({ target }) => opened && !isInside(target) && close());
  // Who goes on by keys sees what they come to: the list closes, and what lies half below the bar
  // comes out, which Firefox leaves there.
  addEventListener("focusin", ({ target }) => {
    if (isInside(target)) return;
    if (opened) close();
    if (target.matches(":focus-visible")) target.scrollIntoView({ block: "nearest" });
  });

  return {
    /** Shows the bar at the view of an address. */
    show(path) {
      close();
      const here = path === "/" || path === "/feed" ? "feed"
        : path === "/search" ? "search" : /^\/(topics|incidents)(\/|$)/.test(path) ? "topics" : "more";
      for (const [name, each] of Object.entries(ways)) {
        if (name === here) each.setAttribute("aria-current", each.href ? "page" : "true");
        else each.removeAttribute("aria-current");
      }
      if (!dock.firstChild) put(dock, Object.values(ways));
    },
    /** Says how many messages are unread. */
    count(unread) {
      count.hidden = unread === 0;
      put(count, String(unread), el("span", { className: "hidden" }, texts.dock.unread));
    },
    clear() {
      close();
      count.hidden = true;
      put(dock);
    },
  };
}
