-- What `tocsin import` has taken in: the last complete chunk of each dump, written with its rows. `ended_at` is null until all
-- of it is there; no server starts on such a database. `token` is the place behind the chunk, as `tocsin export --after` takes it.
CREATE TABLE imports (
    dump TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    chunk BIGINT NOT NULL,
    token TEXT COLLATE "C" NOT NULL,
    merges BIGINT NOT NULL,
    begun_at BIGINT NOT NULL,
    ended_at BIGINT
);
