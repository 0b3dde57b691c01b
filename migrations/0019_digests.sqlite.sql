-- additive: tables and a column that older programs do not ask for.
-- Digests that people have made for themselves. `topic_ids` has an id a line, null for all topics
-- of which they get a digest; `days` is numbers from 0, Sunday, with commas between, null for all;
-- `at_minutes` counts from midnight by the clocks of `time_zone`.
CREATE TABLE digests (
    id TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL,
    username TEXT NOT NULL,
    provider TEXT NOT NULL,
    name TEXT NOT NULL,
    topic_ids TEXT,
    at_minutes INTEGER NOT NULL,
    days TEXT,
    time_zone TEXT NOT NULL,
    min_priority INTEGER NOT NULL,
    skip_empty INTEGER NOT NULL,
    url TEXT,
    last_message_id TEXT,
    last_at INTEGER,
    missed INTEGER NOT NULL,
    next_at INTEGER,
    generation INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX digests_by_user ON digests (user_id, id);

-- Up to which message a person's own digests of this priority have told of a topic.
CREATE TABLE digest_numbers (
    user_id TEXT NOT NULL,
    topic_id TEXT NOT NULL,
    min_priority INTEGER NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (user_id, topic_id, min_priority)
) STRICT, WITHOUT ROWID;

-- Whose timer it is, null for the server's own: owners take turns.
ALTER TABLE timers ADD COLUMN owner TEXT;
UPDATE timers SET owner = (SELECT user_id FROM scheduled_messages WHERE id = subject) WHERE kind IN ('MESSAGE', 'RECURRING');
UPDATE timers SET owner = subject WHERE kind IN ('QUIET_END', 'DIGEST') AND subject <> '';

-- When the cron line was written, null for when the schedule was made: rules count from then.
ALTER TABLE scheduled_messages ADD COLUMN cron_changed_at INTEGER;
