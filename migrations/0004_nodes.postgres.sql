-- Nodes that share a database.

-- Who does what only one node at a time does, until when.
CREATE TABLE duties (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    node TEXT COLLATE "C" NOT NULL,
    lease_until BIGINT NOT NULL
);

-- Every run of the server that was heard of lately.
CREATE TABLE nodes (
    instance TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    key_mark TEXT COLLATE "C" NOT NULL,
    wants_deliveries BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL
);

-- The journal: a row a group of writes, added as its last statement, for all nodes to read and kept for some minutes. `id` is
-- in order of commit among groups that touch the same rows; `xid` tells a reader whether its last look could see the row, and
-- an id above all that it has read that it could not, whichever transaction has the number now.
CREATE TABLE node_events (
    id BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE,
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    node TEXT COLLATE "C" NOT NULL,
    serial BIGINT NOT NULL,
    made_at BIGINT NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
    body TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (xid, id)
);
