-- additive: a table that older programs do not ask for.
-- Who changed what, and from where. Rows are added in the transaction of the change and never
-- changed; the triggers say so to whoever else writes here. `subject_owner` and `about` are users
-- who may see a row beside its actor; a topic's owner is the text of its row.
CREATE TABLE audit_events (
    at INTEGER NOT NULL,
    id TEXT NOT NULL,
    actor_kind TEXT NOT NULL,
    actor TEXT,
    token_or_session TEXT,
    network TEXT,
    action TEXT NOT NULL,
    subject_kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    subject_owner TEXT,
    about TEXT,
    detail TEXT NOT NULL,
    outcome TEXT NOT NULL,
    request_id TEXT,
    PRIMARY KEY (at, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_events_by_actor ON audit_events (actor, at, id) WHERE actor IS NOT NULL;
CREATE INDEX audit_events_by_subject ON audit_events (subject, at, id);
CREATE INDEX audit_events_by_owner ON audit_events (subject_owner, at, id) WHERE subject_owner IS NOT NULL;
CREATE INDEX audit_events_by_about ON audit_events (about, at, id) WHERE about IS NOT NULL;
CREATE INDEX audit_events_by_action ON audit_events (action, at, id);
CREATE INDEX audit_events_by_outcome ON audit_events (outcome, at, id) WHERE outcome <> 'DONE';

-- Rows from before `kept_from` are over: only those may be removed.
CREATE TABLE audit_retention (
    name TEXT NOT NULL PRIMARY KEY,
    kept_from INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO audit_retention (name, kept_from) VALUES ('audit', 0);

CREATE TRIGGER audit_events_never_changed BEFORE UPDATE ON audit_events BEGIN
    SELECT RAISE(ABORT, 'rows of audit_events are never changed');
END;
CREATE TRIGGER audit_events_kept BEFORE DELETE ON audit_events
WHEN OLD.at >= COALESCE((SELECT kept_from FROM audit_retention WHERE name = 'audit'), OLD.at) BEGIN
    SELECT RAISE(ABORT, 'rows of audit_events are kept for the time of TOCSIN_AUDIT_KEEP');
END;
