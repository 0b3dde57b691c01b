// Words for what the server says by codes, states and numbers.
export const texts = {
  priorities: { 1: "min", 2: "low", 3: "normal", 4: "high", 5: "urgent" },
  shapes: { 1: "▽", 2: "▿", 3: "■", 4: "▲", 5: "▲▲" },
  // What phones and browsers make of a priority.
  urgencies: {
    1: { ios: "waits in the list, without a sound", android: "waits in the list, without a sound", web: "without a sound" },
    2: { ios: "waits in the list, without a sound", android: "without a sound", web: "without a sound" },
    3: { ios: "shows at once, with a sound", android: "with a sound", web: "with a sound" },
    4: { ios: "breaks through a focus, with a sound", android: "pops up, with a sound", web: "with a sound" },
    5: { ios: "sounds through silence, if the app has Apple's leave", android: "pops up, with a sound", web: "with a sound, and stays until it is answered" },
  },
  loading: "Loading …",
  away: "The server cannot be reached. This comes up as soon as it can.",
  signedOutHere: "What this browser had kept is removed. The server cannot be reached, so your session goes on there: sign out again when it can. Pushes to this browser have ended.",
  states: {
    connecting: "connecting …",
    live: "● live",
    waiting: "○ offline; tries again",
    gap: "catching up …",
    signedOut: "○ signed out",
  },
  statuses: {
    WAITING: "on its way",
    SENDING: "being sent",
    ACCEPTED: "accepted by the push service",
    FAILED: "refused for good",
    ENDED: "withdrawn",
    EXPIRED: "too old before it could be sent",
    SKIPPED: "not sent",
  },
  reasons: {
    NO_DEVICE: "no device",
    TOPIC_MUTED: "has muted this topic",
    NOTIFICATIONS_OFF: "has switched pushes off",
    PROVIDER_NOT_CONFIGURED: "this server has no credentials for the push service",
    APP_NOT_CONFIGURED: "this server has no credentials for the app",
    UNREGISTERED: "the app was removed, or signed out",
    TOKEN_MOVED: "the device belongs to somebody else now",
    LEFT_TOPIC: "has left the topic",
    ACCESS_ENDED: "may no longer read the topic",
    QUIET_HOURS: "has quiet hours",
  },
  platforms: { ios: "iPhone", android: "Android", web: "browser", none: "no device" },
  codes: {
    UNAUTHENTICATED: "You are signed out.",
    UNAUTHORIZED: "This is not there, or not for you.",
    CONNECTION_FAILED: "The server cannot be reached. Your screen stays as it is.",
    TIMED_OUT: "The server did not answer in time.",
    UNAVAILABLE: "The server is busy just now. Try again in a moment.",
    REAUTHENTICATE: "Prove again who you are: this is hard to take back.",
  },
  incidents: {
    OPEN: "open",
    ACKNOWLEDGED: "acknowledged",
    SNOOZED: "snoozed",
    RESOLVED: "resolved",
  },
  incidentShapes: { OPEN: "●", ACKNOWLEDGED: "◐", SNOOZED: "◌", RESOLVED: "✓" },
  vias: {
    SENDER: "by its sender",
    PUSH: "by a button of a push",
    APP: "in an app",
    API: "by the API",
    CLI: "by a command",
    CONSOLE: "in the console",
    LINK: "by a link",
    POLICY: "by its policy",
    TIMEOUT: "by time",
    SILENCE: "by a silence",
    MERGE: "merged into another",
  },
  conflicts: {
    CONFLICT: "This does not fit how it stands now.",
    VERSION_CONFLICT: "It has changed since you looked, and nothing was done.",
    after: "You now see it as it is.",
    again: "Press again if you still want to.",
    taken: "The same trouble is open as another incident:",
  },
  kinds: {
    ALERTMANAGER: "Alertmanager",
    GRAFANA: "Grafana",
    PAGERDUTY: "PagerDuty's events",
    NTFY: "ntfy",
    GOTIFY: "Gotify",
    SLACK: "Slack's webhooks",
    CLOUDEVENTS: "CloudEvents",
    HEARTBEAT: "pings of a job",
    EVENT: "Tocsin's own events, for scripts",
    MAIL: "mail",
    TEMPLATE: "any JSON, by a receiver that ships",
  },
  outcomes: {
    OPENED: "opened an incident",
    REOPENED: "opened an incident again",
    UPDATED: "changed an incident",
    RAISED: "made an incident more urgent",
    ACKNOWLEDGED: "acknowledged an incident",
    RESOLVED: "resolved an incident",
    SENDER_RESOLVED: "said that an incident is over",
    LATE: "came after the end of an incident",
    NOTED: "made a message",
    NONE: "changed nothing",
  },
  scopes: {
    read: "reads what you may read",
    topics: "reads, publishes, and manages topics and their sharing",
    full: "does all that you can do",
    push: "pushes to every user of the server",
    device: "what an app on a phone needs",
    metrics: "reads the server's metrics",
    audit: "reads the audit",
  },
};

/** How long ago, or in how long, in words; the exact time belongs beside it. */
export function ago(time) {
  const seconds = (new Date(time) - Date.now()) / 1000;
  const words = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });
  for (const [unit, length] of [["day", 86400], ["hour", 3600], ["minute", 60]]) {
    if (Math.abs(seconds) >= length) return words.format(Math.trunc(seconds / length), unit);
  }
  return words.format(Math.trunc(seconds), "second");
}

/** A number of things, which end in `s` where they are not one. */
export function counted(number, thing) {
  return `${number} ${thing}${number === 1 ? "" : "s"}`;
}

/** What went wrong, what to do, and the server's own words. */
export function explained(error) {
  const general = texts.codes[error.code];
  return general && error.message && general !== error.message ? `${general} (${error.message})` : (general ?? error.message);
}

/** Why an incident was not changed, and what is on the screen now. */
export function conflicted(error) {
  const general = texts.conflicts[error.code];
  if (!general) return explained(error);
  const own = error.code === "CONFLICT" && error.message ? ` (${error.message})` : "";
  return `${general}${own} ${texts.conflicts.after}${own ? "" : ` ${texts.conflicts.again}`}`;
}
