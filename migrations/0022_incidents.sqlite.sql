-- additive: tables and columns that older programs do not ask for. Incidents: records of the
-- shipped model, and what only the server knows of them. `source` is whose keys count as one: an
-- integration, or a topic for those raised by hand. `generation` grows with each change of timers,
-- `last_entry` numbers the timeline. Loud messages up to `answered_number` ring no more.
-- `standing` is what the next change is decided by.
CREATE TABLE incidents (
    id TEXT NOT NULL PRIMARY KEY,
    topic_id TEXT,
    number INTEGER,
    owner TEXT,
    state TEXT,
    key TEXT,
    integration_id TEXT,
    opened_at TEXT,
    version INTEGER,
    deleted INTEGER,
    last_changed_at INTEGER,
    made_at INTEGER,
    revised_at INTEGER,
    created_at TEXT,
    updated_at TEXT,
    extra TEXT NOT NULL DEFAULT '{}',
    source TEXT,
    generation INTEGER NOT NULL DEFAULT 0,
    last_entry INTEGER NOT NULL DEFAULT 0,
    answered_number INTEGER NOT NULL DEFAULT 0,
    resolved_ms INTEGER,
    standing TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE UNIQUE INDEX incidents_open ON incidents (source, key) WHERE resolved_ms IS NULL AND source IS NOT NULL;
CREATE INDEX incidents_by_key ON incidents (source, key, resolved_ms) WHERE resolved_ms IS NOT NULL;
CREATE UNIQUE INDEX incidents_by_number ON incidents (topic_id, number);
CREATE INDEX incidents_open_of_topic ON incidents (topic_id) WHERE resolved_ms IS NULL;
CREATE INDEX incidents_resolved ON incidents (resolved_ms) WHERE resolved_ms IS NOT NULL;
CREATE INDEX incidents_by_owner ON incidents (owner, made_at, id);
CREATE INDEX incidents_by_revision ON incidents (owner, revised_at, id) WHERE revised_at IS NOT NULL;
CREATE INDEX incidents_dead ON incidents (last_changed_at) WHERE deleted = 1;

-- Members of incidents, where a sender groups. `resolved_ms` is when this server heard of the end.
CREATE TABLE incident_alerts (
    incident_id TEXT NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
    fingerprint TEXT NOT NULL,
    source TEXT,
    title TEXT NOT NULL,
    labels TEXT NOT NULL,
    url TEXT,
    starts_at INTEGER,
    ends_at INTEGER,
    resolved_ms INTEGER,
    PRIMARY KEY (incident_id, fingerprint)
) STRICT;
CREATE INDEX incident_alerts_firing ON incident_alerts (source, fingerprint) WHERE resolved_ms IS NULL;

-- The timeline. `actor` is a name as people read it.
CREATE TABLE incident_entries (
    incident_id TEXT NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    change TEXT NOT NULL,
    actor TEXT,
    via TEXT,
    place TEXT,
    text TEXT NOT NULL,
    message_id TEXT,
    PRIMARY KEY (incident_id, number)
) STRICT;

-- The number of the topic's last incident.
ALTER TABLE topics ADD COLUMN last_incident INTEGER NOT NULL DEFAULT 0;

ALTER TABLE messages ADD COLUMN incident_id TEXT;
ALTER TABLE messages ADD COLUMN incident_change TEXT;
CREATE INDEX messages_by_incident ON messages (incident_id, number) WHERE incident_id IS NOT NULL;
