// One socket for all tabs of a browser. The tab that holds the lock has it, and passes on what the others say and hear;
// when that tab goes the next one takes over, and each feed goes on at its own cursor.
import { texts } from "./texts.js";

const PLACE = `tocsin-socket ${new URL("../..", import.meta.url).pathname}`;
/** A tab that does not answer in this time is asleep: its lock is taken from it. */
const ASLEEP = 5000;
/** A tab that has not asked for so long is gone; tabs ask every 15 s, hidden ones every minute. */
const GONE = 180_000;

export const canShare = Boolean(globalThis.navigator?.locks && globalThis.BroadcastChannel);

const own = new Set();
let leads = false;
let whose = "";
const name = () => `${PLACE} ${whose}`;

/** Says who is signed in here, before any socket is opened: a socket is one session's, so tabs of others have another. */
export function shareAs(userId) {
  whose = userId;
}

/** What a tab has in place of a WebSocket. */
export class SharedSocket {
  readyState = 0;
  #id = Math.random().toString(36).slice(2);
  #channel = new BroadcastChannel(name());
  #address;
  #timer;
  /** The tab that answers; two may, for a moment, while one takes over. */
  #hub = null;

  constructor(address) {
    this.#address = address;
    this.#channel.onmessage = ({ data }) => this.#hear(data);
    own.add(this);
    lead();
    this.#say("open");
    this.#timer = setTimeout(() => lead(true), ASLEEP);
  }

  send(text) {
    this.#say("send", { message: JSON.parse(text) });
  }

  close() {
    this.#say("close");
    this.#end();
  }

  /** The page goes, perhaps to come back. */
  leave() {
    this.#say("close");
    this.#lost(1001, texts.tabs.left);
  }

  #say(kind, more) {
    this.#channel.postMessage({ from: this.#id, hub: this.#hub, kind, address: this.#address, ...more });
  }

  #hear({ to, hub, kind, message, code, reason }) {
    if (kind === "begun" && this.readyState === 0) return this.#say("open");
    const isOther = this.#hub !== null && hub !== this.#hub;
    if (kind === "begun" || (to === this.#id && kind === "opened" && isOther)) return this.#lost(1000, texts.tabs.taken);
    if (to !== this.#id || isOther) return;
    clearTimeout(this.#timer);
    if (kind === "closed") return this.#lost(code, reason);
    if (kind === "heard") return this.onmessage?.({ data: JSON.stringify(message) });
    if (this.readyState !== 0) return;
    this.#hub = hub;
    this.readyState = 1;
    this.onopen?.();
  }

  #lost(code, reason) {
    if (this.readyState === 3) return;
    this.#end();
    this.onclose?.({ code, reason });
  }

  #end() {
    clearTimeout(this.#timer);
    this.readyState = 3;
    this.#channel.close();
    own.delete(this);
  }
}

globalThis.addEventListener?.("pagehide", () => [...own].forEach((socket) => socket.leave()));

/** Waits for the lock, or takes it. */
function lead(steal = false) {
  if (leads && !steal) return;
  leads = true;
  let hub;
  navigator.locks.request(name(), { steal }, () => new Promise(() => (hub = makeHub()))).catch(() => {
    hub?.close();
    if (hub) leads = false;
    if (hub && own.size > 0) lead();
  });
}

/** The side of the tab that has the socket. */
function makeHub() {
  const channel = new BroadcastChannel(name());
  const hub = Math.random().toString(36).slice(2);
  /** Each socket of a tab: the ids of what it has subscribed to, and when it was heard of. */
  const members = new Map();
  let socket = null;
  let acknowledged = null;
  let pings = [];
  const say = (to, kind, more) => channel.postMessage({ to, hub, kind, ...more });
  const send = (message) => socket?.readyState === 1 && socket.send(JSON.stringify(message));

  function connect(address, message) {
    const made = new WebSocket(address, "graphql-transport-ws");
    socket = made;
    made.onopen = () => send(message);
    made.onmessage = ({ data }) => made === socket && hear(JSON.parse(data));
    made.onclose = ({ code, reason }) => {
      if (made !== socket) return;
      for (const member of members.keys()) say(member, "closed", { code, reason });
      reset();
    };
  }

  function reset() {
    const old = socket;
    [socket, acknowledged, pings] = [null, null, []];
    members.clear();
    old?.close(1000);
  }

  function hear(message) {
    switch (message.type) {
      case "connection_ack":
        acknowledged = message;
        // Who has not asked yet is told when they do: who is told twice subscribes twice.
        return members.forEach(({ waits }, member) => waits && say(member, "heard", { message }));
      case "ping": return send({ type: "pong" });
      case "pong": return say(pings.shift(), "heard", { message });
    }
    const [member, id] = message.id.split(":");
    if (message.type !== "next") members.get(member)?.ids.delete(id);
    say(member, "heard", { message: { ...message, id } });
  }

  function pass(member, message, address) {
    if (message.type === "connection_init") {
      if (acknowledged) say(member, "heard", { message: acknowledged });
      else members.get(member).waits = true;
      if (!socket) connect(address, message);
      return;
    }
    if (message.type === "ping") pings.push(member);
    if (message.type === "subscribe") members.get(member).ids.add(message.id);
    if (message.type === "complete") members.get(member).ids.delete(message.id);
    if (message.type !== "pong") send(message.id ? { ...message, id: `${member}:${message.id}` } : message);
  }

  function leave(member) {
    for (const id of members.get(member)?.ids ?? []) send({ type: "complete", id: `${member}:${id}` });
    members.delete(member);
    if (members.size === 0) reset();
  }

  channel.onmessage = ({ data: { from, hub: asked, kind, message, address } }) => {
    if (!from || (kind !== "open" && asked !== hub)) return;
    const now = Date.now();
    if (kind === "open") {
      members.set(from, { ids: new Set(), at: now });
      return say(from, "opened");
    }
    const member = members.get(from);
    if (!member) return kind === "send" && say(from, "closed", { code: 1001, reason: texts.tabs.taken });
    if (kind === "close") return leave(from);
    member.at = now;
    pass(from, message, address);
    for (const [other, { at }] of members) {
      if (now - at < GONE) continue;
      say(other, "closed", { code: 1001, reason: texts.tabs.asleep });
      leave(other);
    }
  };
  channel.postMessage({ hub, kind: "begun" });
  return {
    close() {
      for (const member of members.keys()) say(member, "closed", { code: 1000, reason: texts.tabs.taken });
      channel.close();
      reset();
    },
  };
}
