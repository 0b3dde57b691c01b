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
