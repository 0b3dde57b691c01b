-- additive: tables that older programs do not ask for.
-- The keys of integrations. A key's text is with its sender alone: `digest` is its SHA-256, and
-- `hint` what it begins with. One without an end is good until it is replaced or revoked.
CREATE TABLE integration_keys (
    digest TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    integration_id TEXT COLLATE "C" NOT NULL,
    hint TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    ends_at BIGINT
);
CREATE INDEX integration_keys_by_integration ON integration_keys (integration_id, created_at);

-- What integrations and their senders share beside the key, sealed with the server's.
CREATE TABLE integration_secrets (
    integration_id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    sealed TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (integration_id, name)
);

-- What came in, counted behind the requests; `trouble` is the last thing that was wrong.
CREATE TABLE integration_counts (
    integration_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    events BIGINT NOT NULL,
    refused BIGINT NOT NULL,
    unmatched_resolves BIGINT NOT NULL,
    last_event_at BIGINT,
    trouble TEXT COLLATE "C"
);

-- The last requests of each integration, kept for a day for its owner and editors.
CREATE TABLE received_requests (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    integration_id TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    status BIGINT NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL,
    incident_id TEXT COLLATE "C",
    message_id TEXT COLLATE "C",
    body TEXT COLLATE "C"
);
CREATE INDEX received_requests_by_integration ON received_requests (integration_id, at, id);
CREATE INDEX received_requests_by_time ON received_requests (at);
