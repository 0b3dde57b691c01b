-- additive: tables that older programs do not ask for.
-- What is to be done at a time. The row is removed in the transaction of its effects; `generation` grows with each timer of a
-- subject. `due_at` moves when an effect could not be written.
CREATE TABLE timers (
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    due_at INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    payload TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    failed_at INTEGER,
    error TEXT,
    PRIMARY KEY (kind, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX timers_due ON timers (due_at, kind, subject);

-- Messages that are to be made later, once (`due_at`) or again and again (`cron`, by the clocks of `time_zone`), as their owner.
-- `next_at` is null once nothing follows. `input` is the JSON of a message without its topic.
CREATE TABLE scheduled_messages (
    id TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL,
    username TEXT NOT NULL,
    provider TEXT NOT NULL,
    name TEXT,
    topic_id TEXT,
    input TEXT,
    due_at INTEGER,
    cron TEXT,
    time_zone TEXT,
    until_at INTEGER,
    webhook TEXT,
    enabled INTEGER NOT NULL,
    disabled_reason TEXT,
    last_message_id TEXT,
    last_at INTEGER,
    missed INTEGER NOT NULL,
    next_at INTEGER,
    generation INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX scheduled_messages_by_user ON scheduled_messages (user_id, id);
