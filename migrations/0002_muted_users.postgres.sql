-- People who want no pushes. External sign-in has no row in `users`, so the switch has a table of its own.
CREATE TABLE muted_users (
    user_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    muted_at BIGINT NOT NULL
);
