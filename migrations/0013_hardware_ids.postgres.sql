-- additive: a column that may be null, which older programs leave as it is.
-- The hardware's own id, which older apps send beside the token.

ALTER TABLE devices ADD COLUMN hardware_id TEXT COLLATE "C";
