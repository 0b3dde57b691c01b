-- additive: older programs leave the columns empty, and push as before.
-- The sign-in that pushes to a device end with: a local token by its id, or the end of a token that somebody else issued. A
-- device has one of them, or neither.
ALTER TABLE devices ADD COLUMN bound_token TEXT COLLATE "C";
ALTER TABLE devices ADD COLUMN bound_until BIGINT;
CREATE INDEX devices_by_bound_token ON devices (bound_token, id) WHERE bound_token IS NOT NULL;
