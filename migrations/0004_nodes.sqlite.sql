-- Nodes that share a database. One alone on its file has no others to tell: here the tables only mean the same.

-- Who does what only one node at a time does, until when.
CREATE TABLE duties (
    name TEXT NOT NULL PRIMARY KEY,
    node TEXT NOT NULL,
    lease_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Every run of the server that was heard of lately.
CREATE TABLE nodes (
    instance TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    key_mark TEXT NOT NULL,
    wants_deliveries INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The journal: a row a group of writes, for other nodes to read. No row is written where there are none.
CREATE TABLE node_events (
    id INTEGER PRIMARY KEY,
    xid INTEGER NOT NULL DEFAULT 0,
    node TEXT NOT NULL,
    serial INTEGER NOT NULL,
    made_at INTEGER NOT NULL DEFAULT 0,
    body TEXT NOT NULL
) STRICT;
