-- Files of private conversations. The content is encrypted before it reaches the server.
CREATE TABLE private_files (
    id TEXT PRIMARY KEY,
    -- Not a foreign key, because the sweep removes the files of a deleted conversation.
    conversation_id TEXT NOT NULL,
    -- The member whose storage limit the file counts against, and who may delete it.
    member_id TEXT NOT NULL,
    sent_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX private_files_by_time ON private_files (sent_at_ms);
