// Where each page of the history was scrolled to: Back and Forward show again what somebody looked at.

/** Of so many pages the places are kept, in this tab. */
const MOST = 100;
const NAME = "tocsin.places";

/** A view fills itself after the browser has tried: it is done here. */
history.scrollRestoration = "manual";

/** By the key of an entry of the history: { y, href, top }, the last two of the first link that was seen. */
const places = kept();
let key = history.state?.key ?? null;
if (!key) history.replaceState(fresh(), "");

function fresh() {
  key = crypto.getRandomValues(new Uint32Array(2)).join("-");
  return { key };
}

function kept() {
  try {
    return new Map(JSON.parse(sessionStorage.getItem(NAME)));
  } catch {
    return new Map();
  }
}

/** The state of an entry that is made; what was there is kept before. */
export function entered() {
  leave();
  return fresh();
}

/** The browser has gone to another entry, and the screen is the former one's still. */
export function returned() {
  leave();
  key = history.state?.key ?? null;
}

/** The console's own alone: where a stranger's lead is kept nowhere. */
function links() {
  return [...document.querySelectorAll("main a[href]")].filter(({ origin }) => origin === location.origin);
}

function leave() {
  if (!key) return;
  const seen = links().find((each) => each.getBoundingClientRect().top >= 0);
  places.delete(key);
  places.set(key, { y: scrollY, href: seen?.href, top: seen?.getBoundingClientRect().top });
  if (places.size > MOST) places.delete(places.keys().next().value);
}

/** Scrolls to where this entry was left. Heights of what was never shown are guesses, so it is done by what was seen there. */
export function restore() {
  const place = places.get(key);
  if (!place) return;
  scrollTo(0, place.y);
  const wanted = place.y > 0 && links().find(({ href }) => href === place.href);
  if (!wanted) return;
  const meet = () => scrollBy(0, wanted.getBoundingClientRect().top - place.top);
  meet();
  requestAnimationFrame(meet);
}

/** Somebody else comes, or who was here leaves: what they looked at is nobody's. */
export function forget() {
  places.clear();
  key = null;
}

addEventListener("pagehide", () => {
  leave();
  try {
    sessionStorage.setItem(NAME, JSON.stringify([...places]));
  } catch {
    // A browser that keeps nothing.
  }
});
