-- Webhooks: URLs that post into one channel each.
CREATE TABLE webhooks (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    -- Null: none is set, or it was deleted.
    channel_id TEXT REFERENCES channels (id) ON DELETE SET NULL,
    -- The key of a stored object.
    picture TEXT,
    -- The secret part of the URL: to compare, and to show again. Both take a key that is not in this file.
    token_fingerprint BLOB NOT NULL,
    token_sealed BLOB NOT NULL,
    -- Null: the operator.
    created_by TEXT,
    created_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX webhooks_by_channel ON webhooks (channel_id);
