-- What `tocsin import` has taken in: the last complete chunk of each dump, written with its rows. `ended_at` is null until all
-- of it is there; no server starts on such a database. `token` is the place behind the chunk, as `tocsin export --after` takes it.
CREATE TABLE imports (
    dump TEXT NOT NULL PRIMARY KEY,
    chunk INTEGER NOT NULL,
    token TEXT NOT NULL,
    merges INTEGER NOT NULL,
    begun_at INTEGER NOT NULL,
    ended_at INTEGER
) STRICT, WITHOUT ROWID;
