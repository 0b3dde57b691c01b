// The caller's devices: this browser first.
import { client, worker } from "./api.js";
import { el, moment, note, put, sure, table } from "./dom.js";
import { ago, explained, texts } from "./texts.js";

const REMOVE = "mutation Remove($id: ID!, $token: String!) { unregisterPushToken(token: $token, deviceId: $id) { userId } }";

/** The device that this browser is; null where it gets no pushes, or has lost what it had kept. */
async function ownId() {
  try {
    return JSON.parse(await client.storage?.getItem("tocsin.webpush"))?.deviceId ?? null;
  } catch {
    return null;
  }
}

/** Whether pushes may come here: a browser that was killed may have lost what it kept, and has its subscription. */
async function isSubscribed() {
  const registration = await navigator.serviceWorker?.getRegistration().catch(() => null);
  return Boolean(await registration?.pushManager?.getSubscription().catch(() => null));
}

const named = ({ id, name, appId }, here) => name ?? (id === here ? texts.devices.here : appId || texts.devices.noName(id));

export async function open() {
  const { registerWebPush, unregisterWebPush } = await import("../../client/tocsin.js");
  const body = el("div");
  async function draw() {
    const { devices } = await client.query("{ devices { id token platform environment name appId active disabledReason registeredAt lastSeenAt } }");
    const [here, mayCome] = [await ownId(), await isSubscribed()];
    devices.sort((one, other) => Number(other.id === here) - Number(one.id === here));
    const rows = devices.map((device) => [
      el("span", { className: "free" }, named(device, here)), texts.platforms[device.platform] ?? device.platform,
      device.active ? texts.devices.active : texts.devices.off(texts.reasons[device.disabledReason] ?? device.disabledReason ?? ""),
      moment(device.lastSeenAt, ago(device.lastSeenAt)),
      device.id === here ? null : el("button", {
        className: "danger", "aria-label": texts.devices.removeOf(named(device, here)),
        onclick: () => sure(texts.devices.sureRemove(named(device, here))) && act(() => client.mutate(REMOVE, { id: device.id, token: device.token })),
      }, texts.devices.remove),
    ]);
    // A browser that gets none has none to end.
    const isOn = devices.some(({ id, active }) => id === here && active);
    put(body,
      isOn ? el("p", {}, texts.start.pushed) : null,
      el("div", { className: "row" },
        isOn ? null : el("button", { className: "main", onclick: () => act(() => registerWebPush(client, { worker })) }, texts.words.getPushes),
        here || mayCome ? el("button", { onclick: () => act(() => unregisterWebPush(client)) }, texts.devices.noPushes) : null),
      rows.length > 0 ? table(texts.devices.yours, texts.devices.columns, rows) : el("p", {}, texts.devices.none));
  }
  async function act(action) {
    try {
      const answer = await action();
      if (answer?.reason) note(answer.reason);
      else if (answer?.state === "denied") note(texts.devices.forbidden);
      await draw();
      // What was pressed may be gone.
      if (document.activeElement === document.body) body.querySelector("button")?.focus();
    } catch (error) {
      note(explained(error));
    }
  }
  await draw();
  return { title: texts.places.devices, body };
}
