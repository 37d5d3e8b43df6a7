-- What a member says of themselves, a line that everybody sees; null for nothing.
ALTER TABLE members ADD COLUMN status_text TEXT;
