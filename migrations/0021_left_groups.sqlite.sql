-- additive: a table that older programs do not ask for.
-- Who was in a local group and left it, or lost it with the group, so that clients that synchronise
-- are told what they lost by it.
CREATE TABLE left_groups (
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    group_name TEXT NOT NULL,
    joined_at INTEGER NOT NULL,
    left_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, left_at, group_name)
) STRICT, WITHOUT ROWID;
CREATE INDEX left_groups_by_age ON left_groups (left_at);
