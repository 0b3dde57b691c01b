-- additive: one table that older programs do not ask for.
-- What the last token of a person said of them, to judge their pushes by while they are not here. People with a local account
-- have no row: `users` speaks of them. `claims` has a line for each value: the claim, a tab, the value. `seen_at` is when that
-- was last said.
CREATE TABLE user_facts (
    user_id TEXT NOT NULL PRIMARY KEY,
    username TEXT NOT NULL,
    provider TEXT NOT NULL,
    claims TEXT NOT NULL,
    seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
