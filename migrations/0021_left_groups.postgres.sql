-- additive: a table that older programs do not ask for.
-- Who was in a local group and left it, or lost it with the group, so that clients that synchronise
-- are told what they lost by it.
CREATE TABLE left_groups (
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    group_name TEXT COLLATE "C" NOT NULL,
    joined_at BIGINT NOT NULL,
    left_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, left_at, group_name)
);
CREATE INDEX left_groups_by_age ON left_groups (left_at);
