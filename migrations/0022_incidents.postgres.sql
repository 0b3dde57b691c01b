-- additive: tables and columns that older programs do not ask for. Incidents: records of the
-- shipped model, and what only the server knows of them. `source` is whose keys count as one: an
-- integration, or a topic for those raised by hand. `generation` grows with each change of timers,
-- `last_entry` numbers the timeline. Loud messages up to `answered_number` ring no more.
-- `standing` is what the next change is decided by.
CREATE TABLE incidents (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    topic_id TEXT COLLATE "C",
    number BIGINT,
    owner TEXT COLLATE "C",
    state TEXT COLLATE "C",
    key TEXT COLLATE "C",
    integration_id TEXT COLLATE "C",
    opened_at TEXT COLLATE "C",
    version BIGINT,
    deleted BIGINT,
    last_changed_at BIGINT,
    made_at BIGINT,
    revised_at BIGINT,
    created_at TEXT COLLATE "C",
    updated_at TEXT COLLATE "C",
    extra JSONB NOT NULL DEFAULT '{}',
    source TEXT COLLATE "C",
    generation BIGINT NOT NULL DEFAULT 0,
    last_entry BIGINT NOT NULL DEFAULT 0,
    answered_number BIGINT NOT NULL DEFAULT 0,
    resolved_ms BIGINT,
    standing TEXT COLLATE "C" NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX incidents_open ON incidents (source, key) WHERE resolved_ms IS NULL AND source IS NOT NULL;
CREATE INDEX incidents_by_key ON incidents (source, key, resolved_ms) WHERE resolved_ms IS NOT NULL;
CREATE UNIQUE INDEX incidents_by_number ON incidents (topic_id, number);
CREATE INDEX incidents_open_of_topic ON incidents (topic_id) WHERE resolved_ms IS NULL;
CREATE INDEX incidents_resolved ON incidents (resolved_ms) WHERE resolved_ms IS NOT NULL;
CREATE INDEX incidents_by_owner ON incidents (owner, made_at NULLS FIRST, id NULLS FIRST);
CREATE INDEX incidents_by_revision ON incidents (owner, revised_at NULLS FIRST, id NULLS FIRST) WHERE revised_at IS NOT NULL;
CREATE INDEX incidents_dead ON incidents (last_changed_at) WHERE deleted = 1;

-- Members of incidents, where a sender groups. `resolved_ms` is when this server heard of the end.
CREATE TABLE incident_alerts (
    incident_id TEXT COLLATE "C" NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
    fingerprint TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C",
    title TEXT COLLATE "C" NOT NULL,
    labels TEXT COLLATE "C" NOT NULL,
    url TEXT COLLATE "C",
    starts_at BIGINT,
    ends_at BIGINT,
    resolved_ms BIGINT,
    PRIMARY KEY (incident_id, fingerprint)
);
CREATE INDEX incident_alerts_firing ON incident_alerts (source, fingerprint) WHERE resolved_ms IS NULL;

-- The timeline. `actor` is a name as people read it.
CREATE TABLE incident_entries (
    incident_id TEXT COLLATE "C" NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    at BIGINT NOT NULL,
    change TEXT COLLATE "C" NOT NULL,
    actor TEXT COLLATE "C",
    via TEXT COLLATE "C",
    place TEXT COLLATE "C",
    text TEXT COLLATE "C" NOT NULL,
    message_id TEXT COLLATE "C",
    PRIMARY KEY (incident_id, number)
);

-- The number of the topic's last incident.
ALTER TABLE topics ADD COLUMN last_incident BIGINT NOT NULL DEFAULT 0;

ALTER TABLE messages ADD COLUMN incident_id TEXT COLLATE "C";
ALTER TABLE messages ADD COLUMN incident_change TEXT COLLATE "C";
CREATE INDEX messages_by_incident ON messages (incident_id, number NULLS FIRST) WHERE incident_id IS NOT NULL;
