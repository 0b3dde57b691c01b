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

-- What people want of their own pushes; without a row, each at once. `quiet_hours` has an entry for each span of a week, with
-- semicolons between: the days it begins on (0 is Sunday), and minutes after midnight from and to.
CREATE TABLE user_settings (
    user_id TEXT NOT NULL PRIMARY KEY,
    time_zone TEXT NOT NULL,
    quiet_hours TEXT NOT NULL,
    quiet_break_through INTEGER NOT NULL,
    quiet_mode TEXT NOT NULL,
    do_not_disturb_until INTEGER,
    max_singles INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- How a member gets a topic's messages, null for each at once; from which priority on, null for all; and up to which message
-- their digests have told of.
ALTER TABLE memberships ADD COLUMN delivery TEXT;
ALTER TABLE memberships ADD COLUMN min_priority INTEGER;
ALTER TABLE memberships ADD COLUMN digest_number INTEGER;
CREATE INDEX memberships_by_digest ON memberships (user_id) WHERE delivery = 'DIGEST';
