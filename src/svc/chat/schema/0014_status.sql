-- A member's status, a line that everyone can see. Null if there is none.
ALTER TABLE members ADD COLUMN status_text TEXT;
