-- additive: tables that older programs do not ask for.
-- Who is signed in. A session's secret is with its owner alone: `digest` is its SHA-256.
-- `former_digest` is that of the secret before the last renewal, good until `former_until`.
-- `secrets` holds a provider's tokens, sealed. Rows that have ended stay for a while: they say to
-- open sockets that they are over, and which networks a user signs in from.
CREATE TABLE sessions (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    digest TEXT COLLATE "C" NOT NULL UNIQUE,
    former_digest TEXT COLLATE "C",
    former_until BIGINT,
    user_id TEXT COLLATE "C" NOT NULL,
    username TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    provider TEXT COLLATE "C",
    vouched_by TEXT COLLATE "C" NOT NULL,
    claims TEXT COLLATE "C" NOT NULL,
    admin BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    idle_until BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    elevated_until BIGINT,
    network TEXT COLLATE "C",
    agent TEXT COLLATE "C",
    provider_session TEXT COLLATE "C",
    secrets TEXT COLLATE "C",
    renewed_at BIGINT,
    ended_at BIGINT
);
CREATE INDEX sessions_by_former_digest ON sessions (former_digest) WHERE former_digest IS NOT NULL;
CREATE INDEX sessions_by_user ON sessions (user_id, created_at, id);
CREATE INDEX sessions_by_end ON sessions (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

-- The code with which the first administrator is made, as its SHA-256; there is one at most.
CREATE TABLE setup_code (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    digest TEXT COLLATE "C" NOT NULL,
    made_at BIGINT NOT NULL
);
