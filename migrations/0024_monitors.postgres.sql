-- additive: tables that older programs do not ask for.
-- What the server knows of a monitor beside its record. `generation` grows with each timer, and
-- `last_ping` numbers its pings. While it is down or paused, that began at `spell_began_at`.
CREATE TABLE monitor_facts (
    monitor_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    generation BIGINT NOT NULL,
    last_ping BIGINT NOT NULL,
    failures BIGINT NOT NULL,
    successes BIGINT NOT NULL,
    first_ping_at BIGINT,
    last_success_at BIGINT,
    run_started_at BIGINT,
    run_id TEXT COLLATE "C",
    paused_until BIGINT,
    forgiven_until BIGINT,
    spell_began_at BIGINT
);

-- The last pings of each monitor.
CREATE TABLE monitor_pings (
    monitor_id TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    at BIGINT NOT NULL,
    signal TEXT COLLATE "C" NOT NULL,
    exit_status BIGINT,
    run_id TEXT COLLATE "C",
    duration_ms BIGINT,
    body TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (monitor_id, number)
);

-- When monitors were down, or paused.
CREATE TABLE monitor_spells (
    monitor_id TEXT COLLATE "C" NOT NULL,
    began_at BIGINT NOT NULL,
    is_pause BIGINT NOT NULL,
    ended_at BIGINT,
    PRIMARY KEY (monitor_id, began_at, is_pause)
);

-- One row: when a node last said that pings can arrive, and the last time in which none said so.
CREATE TABLE monitor_watch (
    id BIGINT NOT NULL PRIMARY KEY,
    seen_at BIGINT NOT NULL,
    gap_from BIGINT,
    gap_to BIGINT
);
