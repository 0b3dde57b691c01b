-- additive: a table and a column that older programs do not ask for.
-- Buttons whose call the server makes: who has pressed which, and what came of it. `status` is the
-- answer's; `problem` says why there was none. Both are null while the call is under way. Rows go
-- when the button is over.
CREATE TABLE button_presses (
    message_id TEXT NOT NULL,
    button_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    pressed_at INTEGER NOT NULL,
    status INTEGER,
    problem TEXT,
    PRIMARY KEY (message_id, button_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX button_presses_by_time ON button_presses (pressed_at);

-- The sealed calls of the buttons of a message that comes later: an object by the buttons' ids.
ALTER TABLE scheduled_messages ADD COLUMN calls TEXT;
