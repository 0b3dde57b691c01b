-- additive: a table that older programs do not ask for.
-- Who changed what, and from where. Rows are added in the transaction of the change and never
-- changed; the triggers say so to whoever else writes here. `subject_owner` and `about` are users
-- who may see a row beside its actor; a topic's owner is the text of its row.
CREATE TABLE audit_events (
    at BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    actor_kind TEXT COLLATE "C" NOT NULL,
    actor TEXT COLLATE "C",
    token_or_session TEXT COLLATE "C",
    network TEXT COLLATE "C",
    action TEXT COLLATE "C" NOT NULL,
    subject_kind TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    subject_owner TEXT COLLATE "C",
    about TEXT COLLATE "C",
    detail TEXT COLLATE "C" NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL,
    request_id TEXT COLLATE "C",
    PRIMARY KEY (at, id)
);
CREATE INDEX audit_events_by_actor ON audit_events (actor, at, id) WHERE actor IS NOT NULL;
CREATE INDEX audit_events_by_subject ON audit_events (subject, at, id);
CREATE INDEX audit_events_by_owner ON audit_events (subject_owner, at, id) WHERE subject_owner IS NOT NULL;
CREATE INDEX audit_events_by_about ON audit_events (about, at, id) WHERE about IS NOT NULL;
CREATE INDEX audit_events_by_action ON audit_events (action, at, id);
CREATE INDEX audit_events_by_outcome ON audit_events (outcome, at, id) WHERE outcome <> 'DONE';

-- Rows from before `kept_from` are over: only those may be removed.
CREATE TABLE audit_retention (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    kept_from BIGINT NOT NULL
);
INSERT INTO audit_retention (name, kept_from) VALUES ('audit', 0);

CREATE FUNCTION audit_events_never_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of audit_events are never changed';
END
$$;
CREATE TRIGGER audit_events_never_changed BEFORE UPDATE OR TRUNCATE ON audit_events
    FOR EACH STATEMENT EXECUTE FUNCTION audit_events_never_changed();

CREATE FUNCTION audit_events_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.at >= COALESCE((SELECT kept_from FROM audit_retention WHERE name = 'audit'), OLD.at) THEN
        RAISE EXCEPTION 'rows of audit_events are kept for the time of TOCSIN_AUDIT_KEEP';
    END IF;
    RETURN OLD;
END
$$;
CREATE TRIGGER audit_events_kept BEFORE DELETE ON audit_events
    FOR EACH ROW EXECUTE FUNCTION audit_events_kept();
