-- The number of a message's files that were deleted at the end of their retention time.
ALTER TABLE messages ADD COLUMN expired_attachments INTEGER NOT NULL DEFAULT 0;
CREATE INDEX messages_with_attachments ON messages (n) WHERE attachments IS NOT NULL;
