-- additive: tables that older programs do not ask for.
-- Who is signed in. A session's secret is with its owner alone: `digest` is its SHA-256.
-- `former_digest` is that of the secret before the last renewal, good until `former_until`.
-- `secrets` holds a provider's tokens, sealed. Rows that have ended stay for a while: they say to
-- open sockets that they are over, and which networks a user signs in from.
CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    former_digest TEXT,
    former_until INTEGER,
    user_id TEXT NOT NULL,
    username TEXT NOT NULL,
    kind TEXT NOT NULL,
    provider TEXT,
    vouched_by TEXT NOT NULL,
    claims TEXT NOT NULL,
    admin INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    idle_until INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    elevated_until INTEGER,
    network TEXT,
    agent TEXT,
    provider_session TEXT,
    secrets TEXT,
    renewed_at INTEGER,
    ended_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_former_digest ON sessions (former_digest) WHERE former_digest IS NOT NULL;
CREATE INDEX sessions_by_user ON sessions (user_id, created_at, id);
CREATE INDEX sessions_by_end ON sessions (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

-- The code with which the first administrator is made, as its SHA-256; there is one at most.
CREATE TABLE setup_code (
    name TEXT NOT NULL PRIMARY KEY,
    digest TEXT NOT NULL,
    made_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
