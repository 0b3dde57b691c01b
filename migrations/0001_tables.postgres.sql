-- Tables of the first release. Ids and texts compare by bytes; times are milliseconds since 1970 UTC, except a model's
-- created_at and updated_at, which are kept as text exactly as given; lists and objects are JSON text, but for
-- the members of `extra`. Nulls come first in every list, so indexes that lists walk have them there.

-- Models with columns of their own. `extra` holds the fields that a schema declares beyond these. `made_at` is the order of
-- lists; `revised_at` is null until a row changes, so that making one costs no index of changes.

-- A topic's messages have the numbers 1 to `last_number`; those below `first_number` are no longer kept.
CREATE TABLE topics (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    owner TEXT COLLATE "C",
    name TEXT COLLATE "C",
    arn TEXT COLLATE "C",
    last_number BIGINT NOT NULL DEFAULT 0,
    first_number BIGINT NOT NULL DEFAULT 1,
    version BIGINT,
    deleted BIGINT,
    last_changed_at BIGINT,
    made_at BIGINT,
    revised_at BIGINT,
    created_at TEXT COLLATE "C",
    updated_at TEXT COLLATE "C",
    extra JSONB NOT NULL DEFAULT '{}'
);
CREATE INDEX topics_by_owner ON topics (owner, made_at NULLS FIRST, id NULLS FIRST);
CREATE INDEX topics_by_owner_and_name ON topics (owner, name, id NULLS FIRST);
CREATE INDEX topics_by_revision ON topics (owner, revised_at NULLS FIRST, id NULLS FIRST) WHERE revised_at IS NOT NULL;
CREATE INDEX topics_dead ON topics (last_changed_at) WHERE deleted = 1;

-- All messages of one owner in one order, that of their commits: positions up to `last_position` were handed out, those below
-- `first_position` are no longer kept. Who writes locks rows here, by owner, before rows of topics, by id.
CREATE TABLE feeds (
    owner TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    last_position BIGINT NOT NULL DEFAULT 0,
    first_position BIGINT NOT NULL DEFAULT 1
);

-- `number` is dense in its topic, in order of commit, and so is `position` in its owner's feed. `topic_id` is a loose
-- reference: messages may outlive a topic.
CREATE TABLE messages (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    topic_id TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    owner TEXT COLLATE "C",
    position BIGINT,
    type BIGINT,
    title TEXT COLLATE "C",
    body TEXT COLLATE "C",
    created_at TEXT COLLATE "C",
    updated_at TEXT COLLATE "C",
    version BIGINT,
    deleted BIGINT,
    last_changed_at BIGINT,
    made_at BIGINT,
    revised_at BIGINT,
    key TEXT COLLATE "C",
    priority BIGINT,
    url TEXT COLLATE "C",
    data TEXT COLLATE "C",
    category TEXT COLLATE "C",
    expires_at TEXT COLLATE "C",
    push TEXT COLLATE "C",
    extra JSONB NOT NULL DEFAULT '{}'
);
CREATE UNIQUE INDEX messages_by_number ON messages (topic_id, number NULLS FIRST);
CREATE UNIQUE INDEX messages_by_key ON messages (topic_id, key) WHERE key IS NOT NULL;
CREATE INDEX messages_by_creation ON messages (topic_id, created_at NULLS FIRST, number NULLS FIRST);
CREATE INDEX messages_by_position ON messages (owner, position NULLS FIRST) WHERE position IS NOT NULL;
CREATE INDEX messages_by_owner ON messages (owner, made_at NULLS FIRST, id NULLS FIRST);
CREATE INDEX messages_by_revision ON messages (owner, revised_at NULLS FIRST, id NULLS FIRST) WHERE revised_at IS NOT NULL;
CREATE INDEX messages_dead ON messages (last_changed_at) WHERE deleted = 1;

-- Records of every model that has no table of its own.
CREATE TABLE records (
    model TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    owner TEXT COLLATE "C",
    version BIGINT,
    deleted BIGINT,
    last_changed_at BIGINT,
    made_at BIGINT,
    revised_at BIGINT,
    created_at TEXT COLLATE "C",
    updated_at TEXT COLLATE "C",
    extra JSONB NOT NULL DEFAULT '{}',
    PRIMARY KEY (model, id)
);
CREATE INDEX records_by_owner ON records (model, owner, made_at NULLS FIRST, id NULLS FIRST);
CREATE INDEX records_by_making ON records (model, made_at NULLS FIRST, id NULLS FIRST);
CREATE INDEX records_by_revision ON records (model, owner, revised_at NULLS FIRST, id NULLS FIRST) WHERE revised_at IS NOT NULL;
CREATE INDEX records_dead ON records (model, last_changed_at) WHERE deleted = 1;

-- People and their devices.

CREATE TABLE memberships (
    topic_id TEXT COLLATE "C" NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
    user_id TEXT COLLATE "C" NOT NULL,
    push BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (topic_id, user_id)
);
CREATE INDEX memberships_by_user ON memberships (user_id, topic_id);

-- How far people have read; the badge of their devices is what lies beyond. Without a row a topic is not counted.
CREATE TABLE topic_reads (
    user_id TEXT COLLATE "C" NOT NULL,
    topic_id TEXT COLLATE "C" NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    read_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, topic_id)
);
CREATE INDEX topic_reads_by_topic ON topic_reads (topic_id);

-- `registered_at` is the last registration, `active_since` the first of an unbroken row of them by one user.
CREATE TABLE devices (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL,
    platform TEXT COLLATE "C" NOT NULL,
    environment TEXT COLLATE "C",
    app_id TEXT COLLATE "C" NOT NULL,
    token TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL DEFAULT 'token',
    name TEXT COLLATE "C",
    active BIGINT NOT NULL,
    disabled_reason TEXT COLLATE "C",
    registered_at BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    active_since BIGINT NOT NULL
);
CREATE UNIQUE INDEX devices_by_token ON devices (token, app_id);
CREATE INDEX devices_by_user ON devices (user_id, id);

-- The outbox: a fan-out row for each range of devices still to be served, a delivery row for each outcome.

CREATE TABLE fanouts (
    message_id TEXT COLLATE "C" NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    topic_id TEXT COLLATE "C" NOT NULL,
    first_device TEXT COLLATE "C" NOT NULL,
    last_device TEXT COLLATE "C" NOT NULL,
    next_device TEXT COLLATE "C" NOT NULL,
    lease_until BIGINT,
    node TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    urgent BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (message_id, first_device)
);
CREATE INDEX fanouts_waiting ON fanouts (created_at, message_id, first_device) WHERE lease_until IS NULL;
CREATE INDEX fanouts_urgent ON fanouts (created_at, message_id, first_device) WHERE lease_until IS NULL AND urgent = 1;
CREATE INDEX fanouts_leased ON fanouts (lease_until, created_at) WHERE lease_until IS NOT NULL;

-- What ended while fan-outs were waiting that owe it an outcome. `last_fanout` is the time of the newest of these; the rows
-- mean nothing once all fan-outs up to then are served. They hold no token: nothing can be sent to them.
CREATE TABLE ended_devices (
    id TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    platform TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    active_since BIGINT NOT NULL,
    last_fanout BIGINT NOT NULL,
    PRIMARY KEY (last_fanout, id, active_since)
);

CREATE TABLE ended_memberships (
    topic_id TEXT COLLATE "C" NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
    user_id TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    last_fanout BIGINT NOT NULL,
    PRIMARY KEY (topic_id, user_id, created_at)
);
CREATE INDEX ended_memberships_by_fanout ON ended_memberships (last_fanout);

-- `device_id` is a loose reference: a delivery outlives its device. A member without a device has a row too, with the
-- platform `none`.
CREATE TABLE deliveries (
    message_id TEXT COLLATE "C" NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    device_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    platform TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C",
    attempts BIGINT NOT NULL,
    next_attempt_at BIGINT,
    lease_until BIGINT,
    provider_id TEXT COLLATE "C",
    updated_at BIGINT NOT NULL,
    redriven_at BIGINT,
    PRIMARY KEY (message_id, device_id)
) PARTITION BY RANGE (message_id);
-- Parts by time are made ahead by the server, and dropped by it as a whole: ids that it makes grow with time.
CREATE TABLE deliveries_rest PARTITION OF deliveries DEFAULT;
CREATE INDEX deliveries_due ON deliveries (next_attempt_at) WHERE status = 'waiting';
CREATE INDEX deliveries_leased ON deliveries (lease_until) WHERE status = 'sending';
CREATE INDEX deliveries_open_by_device ON deliveries (device_id) WHERE status IN ('waiting', 'sending');

-- What webhooks are still to be told, or could not be; what was delivered leaves no row.
CREATE TABLE webhook_events (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    webhook TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    body TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C",
    attempts BIGINT NOT NULL,
    next_attempt_at BIGINT,
    lease_until BIGINT,
    created_at BIGINT NOT NULL
);
CREATE INDEX webhook_events_due ON webhook_events (webhook, next_attempt_at) WHERE status = 'waiting';
CREATE INDEX webhook_events_leased ON webhook_events (webhook, lease_until) WHERE status = 'sending';
CREATE INDEX webhook_events_by_age ON webhook_events (created_at);

-- Local accounts.

CREATE TABLE users (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL UNIQUE,
    password_hash TEXT COLLATE "C",
    disabled BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE tokens (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    scope TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT
);
CREATE INDEX tokens_by_user ON tokens (user_id, id);

-- API keys, by the SHA-256 of their text.
CREATE TABLE api_keys (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    digest TEXT COLLATE "C" NOT NULL UNIQUE,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT
);
