-- What members want to be told of.
CREATE TABLE notification_levels (
    member_id TEXT NOT NULL,
    -- Empty: in all channels.
    channel_id TEXT NOT NULL,
    -- Null: as in all channels, and for those the usual one.
    level TEXT CHECK (level IN ('all', 'mentions', 'nothing')),
    muted INTEGER NOT NULL,
    -- Null where the member is to end it.
    muted_until_ms INTEGER,
    PRIMARY KEY (member_id, channel_id)
) STRICT, WITHOUT ROWID;

-- Where a signed-in device takes Web Push; it ends with the session, whatever ends that.
CREATE TABLE push_subscriptions (
    session_id TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    member_id TEXT NOT NULL,
    endpoint TEXT NOT NULL UNIQUE,
    -- The device's public key and secret, for encryption (RFC 8291).
    public_key BLOB NOT NULL,
    secret BLOB NOT NULL
) STRICT, WITHOUT ROWID;
