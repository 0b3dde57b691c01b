-- additive: a table that older programs do not know.

-- Messages with consecutive numbers to a topic of few members none of whom had a device, in place of a delivery for each
-- message and member. `users` is a JSON list of the members' ids. A run means something for messages that are still there; it
-- goes by age, or with its topic. Runs of a topic do not overlap.
CREATE TABLE deviceless_runs (
    topic_id TEXT NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
    first_number INTEGER NOT NULL,
    last_number INTEGER NOT NULL,
    users TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    PRIMARY KEY (topic_id, first_number)
) STRICT, WITHOUT ROWID;
