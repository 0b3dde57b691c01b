-- additive: tables that older programs do not ask for.
-- What the server knows of a monitor beside its record. `generation` grows with each timer, and
-- `last_ping` numbers its pings. While it is down or paused, that began at `spell_began_at`.
CREATE TABLE monitor_facts (
    monitor_id TEXT NOT NULL PRIMARY KEY,
    generation INTEGER NOT NULL,
    last_ping INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    successes INTEGER NOT NULL,
    first_ping_at INTEGER,
    last_success_at INTEGER,
    run_started_at INTEGER,
    run_id TEXT,
    paused_until INTEGER,
    forgiven_until INTEGER,
    spell_began_at INTEGER
) STRICT, WITHOUT ROWID;

-- The last pings of each monitor.
CREATE TABLE monitor_pings (
    monitor_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    signal TEXT NOT NULL,
    exit_status INTEGER,
    run_id TEXT,
    duration_ms INTEGER,
    body TEXT NOT NULL,
    PRIMARY KEY (monitor_id, number)
) STRICT, WITHOUT ROWID;

-- When monitors were down, or paused.
CREATE TABLE monitor_spells (
    monitor_id TEXT NOT NULL,
    began_at INTEGER NOT NULL,
    is_pause INTEGER NOT NULL,
    ended_at INTEGER,
    PRIMARY KEY (monitor_id, began_at, is_pause)
) STRICT, WITHOUT ROWID;

-- One row: when a node last said that pings can arrive, and the last time in which none said so.
CREATE TABLE monitor_watch (
    id INTEGER NOT NULL PRIMARY KEY,
    seen_at INTEGER NOT NULL,
    gap_from INTEGER,
    gap_to INTEGER
) STRICT;
