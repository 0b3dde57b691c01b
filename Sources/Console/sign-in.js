// Signing in by password or at a provider, and proving again who one is.
import { auth, base } from "./api.js";
import { el, field, form, put } from "./dom.js";
import { explained, texts } from "./texts.js";

export async function open({ query, signedIn }) {
  const wanted = query.get("return") ?? "/";
  const { password, oidc, address } = await auth("methods");
  const name = el("input", { name: "username", autocomplete: "username", required: true, autofocus: true });
  const secret = el("input", { name: "password", type: "password", autocomplete: "current-password", required: true });
  const caps = el("p", { className: "hint", role: "status" });
  secret.addEventListener("keyup", (event) => put(caps, event.getModifierState?.("CapsLock") ? texts.signIn.capsLock : ""));
  const byPassword = form([field(texts.signIn.user, name), field(texts.words.password, secret), caps], texts.signIn.signIn, async () => {
    await auth("password", { username: name.value, password: secret.value });
    await signedIn(wanted);
  }, { explain: (error) => (error.code === "UNAUTHENTICATED" ? texts.signIn.wrong : explained(error)) });
  const providers = oidc.map((provider) =>
    el("a", {
      className: "button",
      href: `${base}/auth/login?provider=${encodeURIComponent(provider.id)}&return=${encodeURIComponent(base + wanted)}`,
    }, el("span", { className: "free" }, provider.label), provider.away ? texts.signIn.providerAway : null));
  return {
    title: texts.signIn.signIn,
    body: [
      isElsewhere(address) ? el("p", { className: "error" }, texts.signIn.elsewhere(el("a", { href: `${address}/`, className: "free" }, address))) : null,
      password ? byPassword : null,
      !password && providers.length === 0 ? el("p", {}, texts.signIn.noWay) : null,
      providers.length > 0 ? el("div", { className: "row" }, providers) : null,
      el("p", { className: "hint" }, texts.signIn.noAdmin(el("a", { href: base + "/auth/setup" }, texts.signIn.enterCode))),
    ],
  };
}

/** Whether browsers find the server at another origin than this page's, by the address that the server tells. */
function isElsewhere(address) {
  return /^https?:/.test(address ?? "") && URL.canParse(address) && new URL(address).origin !== location.origin;
}

/** Asks for the password again, or sends to the provider and back; false where nothing was proved. */
export async function askPassword() {
  const { provider } = await auth("session");
  const secret = el("input", { type: "password", autocomplete: "current-password", required: true });
  return new Promise((resolve) => {
    const dialog = el("dialog", { "aria-labelledby": "prove" });
    const end = (answer) => {
      dialog.close();
      dialog.remove();
      resolve(answer);
    };
    put(dialog,
      el("h2", { id: "prove" }, texts.signIn.prove),
      form([provider ? el("p", {}, texts.signIn.byProvider) : field(texts.words.password, secret)], texts.signIn.goOn, async () => {
        const answer = await auth("elevate", provider ? { return: location.pathname + location.search } : { password: secret.value });
        if (answer?.location) return location.assign(answer.location);
        end(true);
      }, { explain: (error) => (error.code === "UNAUTHENTICATED" ? texts.signIn.wrongPassword : explained(error)) }),
      el("button", { onclick: () => end(false) }, texts.signIn.cancel));
    // By Escape, too, and where another view takes the place of the one that asked.
    dialog.addEventListener("close", () => end(false));
    document.body.append(dialog);
    dialog.showModal();
  });
}
