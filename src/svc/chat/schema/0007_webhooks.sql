-- Webhooks: URLs that each post to one channel.
CREATE TABLE webhooks (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    -- Null if no channel is set, or if the channel was deleted.
    channel_id TEXT REFERENCES channels (id) ON DELETE SET NULL,
    -- The key of a stored object.
    picture TEXT,
    -- The secret part of the URL, stored for comparing it and for showing it again. Both require a key that
    -- is not in the database.
    token_fingerprint BLOB NOT NULL,
    token_sealed BLOB NOT NULL,
    -- Null for the operator.
    created_by TEXT,
    created_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX webhooks_by_channel ON webhooks (channel_id);
