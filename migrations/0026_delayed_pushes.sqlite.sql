-- additive: columns that older programs leave empty.
-- What a sender said of the push of a message that comes later: what it takes the place of on the screen, and 0 where devices
-- are not to get it.
ALTER TABLE scheduled_messages ADD COLUMN collapse_key TEXT;
ALTER TABLE scheduled_messages ADD COLUMN pushed INTEGER;
