-- Files of private conversations. What is stored under a key is encrypted before it comes here.
CREATE TABLE private_files (
    id TEXT PRIMARY KEY,
    -- Without a reference: the sweep removes what was stored for a conversation that has gone.
    conversation_id TEXT NOT NULL,
    -- Whose share of the server's room it takes, and who may delete it.
    member_id TEXT NOT NULL,
    sent_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX private_files_by_time ON private_files (sent_at_ms);
