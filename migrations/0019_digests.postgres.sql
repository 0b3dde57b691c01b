-- additive: tables and a column that older programs do not ask for.
-- Digests that people have made for themselves. `topic_ids` has an id a line, null for all topics
-- of which they get a digest; `days` is numbers from 0, Sunday, with commas between, null for all;
-- `at_minutes` counts from midnight by the clocks of `time_zone`.
CREATE TABLE digests (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL,
    username TEXT COLLATE "C" NOT NULL,
    provider TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    topic_ids TEXT COLLATE "C",
    at_minutes BIGINT NOT NULL,
    days TEXT COLLATE "C",
    time_zone TEXT COLLATE "C" NOT NULL,
    min_priority BIGINT NOT NULL,
    skip_empty BIGINT NOT NULL,
    url TEXT COLLATE "C",
    last_message_id TEXT COLLATE "C",
    last_at BIGINT,
    missed BIGINT NOT NULL,
    next_at BIGINT,
    generation BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX digests_by_user ON digests (user_id, id);

-- Up to which message a person's own digests of this priority have told of a topic.
CREATE TABLE digest_numbers (
    user_id TEXT COLLATE "C" NOT NULL,
    topic_id TEXT COLLATE "C" NOT NULL,
    min_priority BIGINT NOT NULL,
    number BIGINT NOT NULL,
    PRIMARY KEY (user_id, topic_id, min_priority)
);

-- Whose timer it is, null for the server's own: owners take turns.
ALTER TABLE timers ADD COLUMN owner TEXT COLLATE "C";
UPDATE timers SET owner = (SELECT user_id FROM scheduled_messages WHERE id = subject) WHERE kind IN ('MESSAGE', 'RECURRING');
UPDATE timers SET owner = subject WHERE kind IN ('QUIET_END', 'DIGEST') AND subject <> '';

-- When the cron line was written, null for when the schedule was made: rules count from then.
ALTER TABLE scheduled_messages ADD COLUMN cron_changed_at BIGINT;
