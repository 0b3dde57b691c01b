-- additive: a table and a column that older programs do not know.
-- Who signs in at a provider, by the provider's issuer and its own name of the person (`sub`).
-- `user_id` is the local user whose the identity is by a link; without one it is a user of its own.
-- `provider` is the provider's id in the settings, and `name` what the person was called there.
CREATE TABLE identities (
    id TEXT NOT NULL PRIMARY KEY,
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    user_id TEXT REFERENCES users (id) ON DELETE CASCADE,
    provider TEXT NOT NULL,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX identities_by_user ON identities (user_id, created_at, id) WHERE user_id IS NOT NULL;

-- The linked identity by which a local user began the session.
ALTER TABLE sessions ADD COLUMN identity_id TEXT;
