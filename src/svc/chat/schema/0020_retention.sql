-- How many files a message has had that were kept long enough.
ALTER TABLE messages ADD COLUMN expired_attachments INTEGER NOT NULL DEFAULT 0;
CREATE INDEX messages_with_attachments ON messages (n) WHERE attachments IS NOT NULL;
