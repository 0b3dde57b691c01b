-- additive: a table that older nodes do not know; they write a delivery for each message and member, as before.

-- Messages with consecutive numbers to a topic of few members none of whom had a device, in place of a delivery for each
-- message and member. `users` is a JSON list of the members' ids. A run means something for messages that are still there; it
-- goes by age, or with its topic. Runs of a topic do not overlap.
CREATE TABLE deviceless_runs (
    topic_id TEXT COLLATE "C" NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
    first_number BIGINT NOT NULL,
    last_number BIGINT NOT NULL,
    users TEXT COLLATE "C" NOT NULL,
    made_at BIGINT NOT NULL,
    PRIMARY KEY (topic_id, first_number)
);
