-- Tables of the first release. Ids and texts compare by bytes; times are milliseconds since 1970 UTC, except a model's
-- created_at and updated_at, which are kept as text exactly as given; lists and objects are JSON text.

-- Models with columns of their own. `extra` holds the fields that a schema declares beyond these. `made_at` is the order of
-- lists; `revised_at` is null until a row changes, so that making one costs no index of changes.

-- A topic's messages have the numbers 1 to `last_number`; those below `first_number` are no longer kept.
CREATE TABLE topics (
    id TEXT NOT NULL PRIMARY KEY,
    owner TEXT,
    name TEXT,
    arn TEXT,
    last_number INTEGER NOT NULL DEFAULT 0,
    first_number INTEGER NOT NULL DEFAULT 1,
    version INTEGER,
    deleted INTEGER,
    last_changed_at INTEGER,
    made_at INTEGER,
    revised_at INTEGER,
    created_at TEXT,
    updated_at TEXT,
    extra TEXT NOT NULL DEFAULT '{}'
) STRICT;
CREATE INDEX topics_by_owner ON topics (owner, made_at, id);
CREATE INDEX topics_by_owner_and_name ON topics (owner, name, id);
CREATE INDEX topics_by_revision ON topics (owner, revised_at, id) WHERE revised_at IS NOT NULL;
CREATE INDEX topics_dead ON topics (last_changed_at) WHERE deleted = 1;

-- All messages of one owner in one order, that of their commits: positions up to `last_position` were handed out, those below
-- `first_position` are no longer kept. Who writes locks rows here, by owner, before rows of topics, by id.
CREATE TABLE feeds (
    owner TEXT NOT NULL PRIMARY KEY,
    last_position INTEGER NOT NULL DEFAULT 0,
    first_position INTEGER NOT NULL DEFAULT 1
) STRICT, WITHOUT ROWID;

-- `number` is dense in its topic, in order of commit, and so is `position` in its owner's feed. `topic_id` is a loose
-- reference: messages may outlive a topic.
CREATE TABLE messages (
    id TEXT NOT NULL PRIMARY KEY,
    topic_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    owner TEXT,
    position INTEGER,
    type INTEGER,
    title TEXT,
    body TEXT,
    created_at TEXT,
    updated_at TEXT,
    version INTEGER,
    deleted INTEGER,
    last_changed_at INTEGER,
    made_at INTEGER,
    revised_at INTEGER,
    key TEXT,
    priority INTEGER,
    url TEXT,
    data TEXT,
    category TEXT,
    expires_at TEXT,
    push TEXT,
    extra TEXT NOT NULL DEFAULT '{}'
) STRICT;
CREATE UNIQUE INDEX messages_by_number ON messages (topic_id, number);
CREATE UNIQUE INDEX messages_by_key ON messages (topic_id, key) WHERE key IS NOT NULL;
CREATE INDEX messages_by_creation ON messages (topic_id, created_at, number);
CREATE INDEX messages_by_position ON messages (owner, position) WHERE position IS NOT NULL;
CREATE INDEX messages_by_owner ON messages (owner, made_at, id);
CREATE INDEX messages_by_revision ON messages (owner, revised_at, id) WHERE revised_at IS NOT NULL;
CREATE INDEX messages_dead ON messages (last_changed_at) WHERE deleted = 1;

-- Records of every model that has no table of its own.
CREATE TABLE records (
    model TEXT NOT NULL,
    id TEXT NOT NULL,
    owner TEXT,
    version INTEGER,
    deleted INTEGER,
    last_changed_at INTEGER,
    made_at INTEGER,
    revised_at INTEGER,
    created_at TEXT,
    updated_at TEXT,
    extra TEXT NOT NULL DEFAULT '{}',
    PRIMARY KEY (model, id)
) STRICT;
CREATE INDEX records_by_owner ON records (model, owner, made_at, id);
CREATE INDEX records_by_making ON records (model, made_at, id);
CREATE INDEX records_by_revision ON records (model, owner, revised_at, id) WHERE revised_at IS NOT NULL;
CREATE INDEX records_dead ON records (model, last_changed_at) WHERE deleted = 1;

-- People and their devices.

CREATE TABLE memberships (
    topic_id TEXT NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
    user_id TEXT NOT NULL,
    push INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (topic_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX memberships_by_user ON memberships (user_id, topic_id);

-- How far people have read; the badge of their devices is what lies beyond. Without a row a topic is not counted.
CREATE TABLE topic_reads (
    user_id TEXT NOT NULL,
    topic_id TEXT NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    read_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, topic_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX topic_reads_by_topic ON topic_reads (topic_id);

-- `registered_at` is the last registration, `active_since` the first of an unbroken row of them by one user.
CREATE TABLE devices (
    id TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL,
    platform TEXT NOT NULL,
    environment TEXT,
    app_id TEXT NOT NULL,
    token TEXT NOT NULL,
    kind TEXT NOT NULL DEFAULT 'token',
    name TEXT,
    active INTEGER NOT NULL,
    disabled_reason TEXT,
    registered_at INTEGER NOT NULL,
    last_seen_at INTEGER NOT NULL,
    active_since INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX devices_by_token ON devices (token, app_id);
CREATE INDEX devices_by_user ON devices (user_id, id);

-- The outbox: a fan-out row for each range of devices still to be served, a delivery row for each outcome.

CREATE TABLE fanouts (
    message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    topic_id TEXT NOT NULL,
    first_device TEXT NOT NULL,
    last_device TEXT NOT NULL,
    next_device TEXT NOT NULL,
    lease_until INTEGER,
    node TEXT,
    created_at INTEGER NOT NULL,
    urgent INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (message_id, first_device)
) STRICT, WITHOUT ROWID;
CREATE INDEX fanouts_waiting ON fanouts (created_at, message_id, first_device) WHERE lease_until IS NULL;
CREATE INDEX fanouts_urgent ON fanouts (created_at, message_id, first_device) WHERE lease_until IS NULL AND urgent = 1;
CREATE INDEX fanouts_leased ON fanouts (lease_until, created_at) WHERE lease_until IS NOT NULL;

-- What ended while fan-outs were waiting that owe it an outcome. `last_fanout` is the time of the newest of these; the rows
-- mean nothing once all fan-outs up to then are served. They hold no token: nothing can be sent to them.
CREATE TABLE ended_devices (
    id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    platform TEXT NOT NULL,
    reason TEXT NOT NULL,
    active_since INTEGER NOT NULL,
    last_fanout INTEGER NOT NULL,
    PRIMARY KEY (last_fanout, id, active_since)
) STRICT, WITHOUT ROWID;

CREATE TABLE ended_memberships (
    topic_id TEXT NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
    user_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_fanout INTEGER NOT NULL,
    PRIMARY KEY (topic_id, user_id, created_at)
) STRICT, WITHOUT ROWID;
CREATE INDEX ended_memberships_by_fanout ON ended_memberships (last_fanout);

-- `device_id` is a loose reference: a delivery outlives its device. A member without a device has a row too, with the
-- platform `none`.
CREATE TABLE deliveries (
    message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    device_id TEXT NOT NULL,
    id TEXT NOT NULL,
    platform TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT,
    attempts INTEGER NOT NULL,
    next_attempt_at INTEGER,
    lease_until INTEGER,
    provider_id TEXT,
    updated_at INTEGER NOT NULL,
    redriven_at INTEGER,
    PRIMARY KEY (message_id, device_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_due ON deliveries (next_attempt_at) WHERE status = 'waiting';
CREATE INDEX deliveries_leased ON deliveries (lease_until) WHERE status = 'sending';
CREATE INDEX deliveries_open_by_device ON deliveries (device_id) WHERE status IN ('waiting', 'sending');

-- What webhooks are still to be told, or could not be; what was delivered leaves no row.
CREATE TABLE webhook_events (
    id TEXT NOT NULL PRIMARY KEY,
    webhook TEXT NOT NULL,
    type TEXT NOT NULL,
    body TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT,
    attempts INTEGER NOT NULL,
    next_attempt_at INTEGER,
    lease_until INTEGER,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_events_due ON webhook_events (webhook, next_attempt_at) WHERE status = 'waiting';
CREATE INDEX webhook_events_leased ON webhook_events (webhook, lease_until) WHERE status = 'sending';
CREATE INDEX webhook_events_by_age ON webhook_events (created_at);

-- Local accounts.

CREATE TABLE users (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    password_hash TEXT,
    disabled INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE tokens (
    id TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    scope TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;
CREATE INDEX tokens_by_user ON tokens (user_id, id);

-- API keys, by the SHA-256 of their text.
CREATE TABLE api_keys (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    digest TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;
