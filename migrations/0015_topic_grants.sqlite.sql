-- additive: tables and columns that older programs do not ask for.
-- Who may do what with a topic beside its owner. `subject` is `USER:` and an id, `GROUP:` and a
-- name, or `SIGNED_IN`; `roles` adds up 1 (OWNER), 2 (PUBLISHER) and 4 (READER). A topic with
-- grants is `shared`.

CREATE TABLE topic_grants (
    id TEXT NOT NULL PRIMARY KEY,
    topic_id TEXT NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
    subject TEXT NOT NULL,
    roles INTEGER NOT NULL,
    push INTEGER NOT NULL,
    expires_at INTEGER,
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    created_by TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX topic_grants_by_topic ON topic_grants (topic_id, subject);
CREATE INDEX topic_grants_by_subject ON topic_grants (subject, topic_id);
CREATE INDEX topic_grants_by_end ON topic_grants (expires_at) WHERE expires_at IS NOT NULL;

-- Grants that were taken back, so that clients that synchronise are told what they lost.
CREATE TABLE ended_grants (
    topic_id TEXT NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
    subject TEXT NOT NULL,
    ended_at INTEGER NOT NULL,
    PRIMARY KEY (topic_id, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX ended_grants_by_subject ON ended_grants (subject, ended_at);
CREATE INDEX ended_grants_by_age ON ended_grants (ended_at);

-- Who left a topic: a grant that was made before makes them no member again.
CREATE TABLE left_topics (
    topic_id TEXT NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
    user_id TEXT NOT NULL,
    left_at INTEGER NOT NULL,
    PRIMARY KEY (topic_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX user_facts_by_name ON user_facts (username);

ALTER TABLE topics ADD COLUMN shared INTEGER;
-- Who published, where that is not the owner.
ALTER TABLE messages ADD COLUMN author TEXT;
