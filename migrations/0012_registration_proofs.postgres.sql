-- additive: columns that may be null, and a table that older programs do not ask for.
-- The wallet's address, or the key, that proved the registration of a device's token, and when.
ALTER TABLE devices ADD COLUMN address TEXT COLLATE "C";
ALTER TABLE devices ADD COLUMN proven_at BIGINT;
CREATE INDEX devices_by_address ON devices (address, id) WHERE address IS NOT NULL;

-- Challenges are sealed and not stored; one that was used is kept here until some time after its end.
CREATE TABLE used_nonces (
    nonce TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    expires_at BIGINT NOT NULL
);
CREATE INDEX used_nonces_by_end ON used_nonces (expires_at);
