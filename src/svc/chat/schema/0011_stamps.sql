-- The time when a message was posted, if its cursor contains a different time: cursors only increase, even
-- after the clock was ahead for a while. Null means the time in the cursor.
ALTER TABLE messages ADD COLUMN posted_at_ms INTEGER;

-- Nonces expire by the clock, not by the cursors of their messages.
ALTER TABLE message_nonces ADD COLUMN used_at_ms INTEGER NOT NULL DEFAULT 0;
UPDATE message_nonces SET used_at_ms = n >> 12;
DROP INDEX message_nonces_by_age;
CREATE INDEX message_nonces_by_age ON message_nonces (used_at_ms);
