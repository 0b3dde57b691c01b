-- additive: tables that older programs do not ask for.
-- What is to be done at a time. The row is removed in the transaction of its effects; `generation` grows with each timer of a
-- subject. `due_at` moves when an effect could not be written.
CREATE TABLE timers (
    kind TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    due_at BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    payload TEXT COLLATE "C" NOT NULL,
    attempts BIGINT NOT NULL,
    failed_at BIGINT,
    error TEXT COLLATE "C",
    PRIMARY KEY (kind, subject)
);
CREATE INDEX timers_due ON timers (due_at, kind, subject);

-- Messages that are to be made later, once (`due_at`) or again and again (`cron`, by the clocks of `time_zone`), as their owner.
-- `next_at` is null once nothing follows. `input` is the JSON of a message without its topic.
CREATE TABLE scheduled_messages (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL,
    username TEXT COLLATE "C" NOT NULL,
    provider TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C",
    topic_id TEXT COLLATE "C",
    input TEXT COLLATE "C",
    due_at BIGINT,
    cron TEXT COLLATE "C",
    time_zone TEXT COLLATE "C",
    until_at BIGINT,
    webhook TEXT COLLATE "C",
    enabled BIGINT NOT NULL,
    disabled_reason TEXT COLLATE "C",
    last_message_id TEXT COLLATE "C",
    last_at BIGINT,
    missed BIGINT NOT NULL,
    next_at BIGINT,
    generation BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX scheduled_messages_by_user ON scheduled_messages (user_id, id);

-- What people want of their own pushes; without a row, each at once. `quiet_hours` has an entry for each span of a week, with
-- semicolons between: the days it begins on (0 is Sunday), and minutes after midnight from and to.
CREATE TABLE user_settings (
    user_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    time_zone TEXT COLLATE "C" NOT NULL,
    quiet_hours TEXT COLLATE "C" NOT NULL,
    quiet_break_through BIGINT NOT NULL,
    quiet_mode TEXT COLLATE "C" NOT NULL,
    do_not_disturb_until BIGINT,
    max_singles BIGINT NOT NULL
);

-- How a member gets a topic's messages, null for each at once; from which priority on, null for all; and up to which message
-- their digests have told of.
ALTER TABLE memberships ADD COLUMN delivery TEXT COLLATE "C";
ALTER TABLE memberships ADD COLUMN min_priority BIGINT;
ALTER TABLE memberships ADD COLUMN digest_number BIGINT;
CREATE INDEX memberships_by_digest ON memberships (user_id) WHERE delivery = 'DIGEST';
