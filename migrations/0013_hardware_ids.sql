-- additive
-- The hardware's own id, which older apps send beside the token.

ALTER TABLE devices ADD COLUMN hardware_id TEXT;
