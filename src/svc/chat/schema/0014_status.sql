-- A member's status, a line that everybody can see. Null if there is none.
ALTER TABLE members ADD COLUMN status_text TEXT;
