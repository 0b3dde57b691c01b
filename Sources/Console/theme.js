// Light or dark: as the system has it, or as somebody has chosen in this browser.
const NAME = "tocsin.theme";

let chosen = kept();

/** What was chosen here: `system`, `light` or `dark`. */
export const theme = () => chosen;

/** Chooses one, for this browser. Where it keeps nothing, for this page alone. */
export function choose(theme) {
  chosen = theme;
  try {
    if (theme === "system") localStorage.removeItem(NAME);
    else localStorage.setItem(NAME, theme);
  } catch {
    // A browser that keeps nothing.
  }
  wear();
}

function kept() {
  try {
    const name = localStorage.getItem(NAME);
    return ["light", "dark"].includes(name) ? name : "system";
  } catch {
    return "system";
  }
}

function wear() {
  if (chosen === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
}

wear();
// Another tab has chosen.
addEventListener("storage", ({ key }) => {
  if (key !== NAME) return;
  chosen = kept();
  wear();
});
