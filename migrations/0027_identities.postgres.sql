-- additive: a table and a column that older programs do not know.
-- Who signs in at a provider, by the provider's issuer and its own name of the person (`sub`).
-- `user_id` is the local user whose the identity is by a link; without one it is a user of its own.
-- `provider` is the provider's id in the settings, and `name` what the person was called there.
CREATE TABLE identities (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    issuer TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" REFERENCES users (id) ON DELETE CASCADE,
    provider TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (issuer, subject)
);
CREATE INDEX identities_by_user ON identities (user_id, created_at, id) WHERE user_id IS NOT NULL;

-- The linked identity by which a local user began the session.
ALTER TABLE sessions ADD COLUMN identity_id TEXT COLLATE "C";
