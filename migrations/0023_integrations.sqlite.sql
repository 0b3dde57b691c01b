-- additive: tables that older programs do not ask for.
-- The keys of integrations. A key's text is with its sender alone: `digest` is its SHA-256, and
-- `hint` what it begins with. One without an end is good until it is replaced or revoked.
CREATE TABLE integration_keys (
    digest TEXT NOT NULL PRIMARY KEY,
    integration_id TEXT NOT NULL,
    hint TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    ends_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX integration_keys_by_integration ON integration_keys (integration_id, created_at);

-- What integrations and their senders share beside the key, sealed with the server's.
CREATE TABLE integration_secrets (
    integration_id TEXT NOT NULL,
    name TEXT NOT NULL,
    sealed TEXT NOT NULL,
    PRIMARY KEY (integration_id, name)
) STRICT, WITHOUT ROWID;

-- What came in, counted behind the requests; `trouble` is the last thing that was wrong.
CREATE TABLE integration_counts (
    integration_id TEXT NOT NULL PRIMARY KEY,
    events INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    unmatched_resolves INTEGER NOT NULL,
    last_event_at INTEGER,
    trouble TEXT
) STRICT, WITHOUT ROWID;

-- The last requests of each integration, kept for a day for its owner and editors.
CREATE TABLE received_requests (
    id TEXT NOT NULL PRIMARY KEY,
    integration_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    status INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    incident_id TEXT,
    message_id TEXT,
    body TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX received_requests_by_integration ON received_requests (integration_id, at, id);
CREATE INDEX received_requests_by_time ON received_requests (at);
