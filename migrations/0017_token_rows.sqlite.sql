-- additive: columns that may be null, which older programs leave as they are.
-- What a token may do and where stands in its row. `scope` says it as older programs know it. What
-- they have no word for is `publish:row` there with a DEL behind the colon, which they can read and
-- no token claims. `reads` is set where the token reads all that its user may.

ALTER TABLE tokens ADD COLUMN name TEXT;
ALTER TABLE tokens ADD COLUMN scopes TEXT;
ALTER TABLE tokens ADD COLUMN reads INTEGER;
ALTER TABLE tokens ADD COLUMN cidrs TEXT;
ALTER TABLE tokens ADD COLUMN created_by TEXT;
ALTER TABLE tokens ADD COLUMN changed_at INTEGER;
ALTER TABLE tokens ADD COLUMN narrowed_at INTEGER;
ALTER TABLE tokens ADD COLUMN rotated_to TEXT;
ALTER TABLE tokens ADD COLUMN last_used_at INTEGER;
ALTER TABLE tokens ADD COLUMN last_used_from TEXT;
CREATE INDEX tokens_changed ON tokens (id) WHERE changed_at IS NOT NULL;

-- A key for some networks has another digest, by which older programs do not find it.
ALTER TABLE api_keys ADD COLUMN cidrs TEXT;
ALTER TABLE api_keys ADD COLUMN last_used_at INTEGER;
ALTER TABLE api_keys ADD COLUMN last_used_from TEXT;
