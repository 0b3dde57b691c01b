// The caller's devices: this browser first.
import { client, worker } from "./api.js";
import { el, moment, note, put, table } from "./dom.js";
import { ago, explained, texts } from "./texts.js";

export async function open() {
  const { registerWebPush, unregisterWebPush } = await import("../../client/tocsin.js");
  const body = el("div");
  async function draw() {
    const { devices } = await client.query("{ devices { id platform environment name appId active disabledReason registeredAt lastSeenAt } }");
    const rows = devices.map((device) => [
      el("span", { className: "free" }, device.name ?? device.appId ?? device.id), texts.platforms[device.platform] ?? device.platform,
      device.active ? texts.devices.active : texts.devices.off(texts.reasons[device.disabledReason] ?? device.disabledReason ?? ""),
      moment(device.lastSeenAt, ago(device.lastSeenAt)),
    ]);
    put(body,
      el("div", { className: "row" },
        el("button", { className: "main", onclick: () => act(() => registerWebPush(client, { worker })) }, texts.words.getPushes),
        el("button", { onclick: () => act(() => unregisterWebPush(client)) }, texts.devices.noPushes)),
      rows.length > 0 ? table(texts.devices.yours, texts.devices.columns, rows) : el("p", {}, texts.devices.none));
  }
  async function act(action) {
    try {
      const answer = await action();
      if (answer?.reason) note(answer.reason);
      else if (answer?.state === "denied") note(texts.devices.forbidden);
      await draw();
    } catch (error) {
      note(explained(error));
    }
  }
  await draw();
  return { title: texts.places.devices, body };
}
