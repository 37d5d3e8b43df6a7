-- Members' notification levels.
CREATE TABLE notification_levels (
    member_id TEXT NOT NULL,
    -- Empty for all channels.
    channel_id TEXT NOT NULL,
    -- Null means the member's level for all channels or, in that row, the default.
    level TEXT CHECK (level IN ('all', 'mentions', 'nothing')),
    muted INTEGER NOT NULL,
    -- The end of a mute. Null means that the mute lasts until the member ends it.
    muted_until_ms INTEGER,
    PRIMARY KEY (member_id, channel_id)
) STRICT, WITHOUT ROWID;

-- Web Push subscriptions of signed-in devices. Each is deleted together with its session.
CREATE TABLE push_subscriptions (
    session_id TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    member_id TEXT NOT NULL,
    endpoint TEXT NOT NULL UNIQUE,
    -- The device's public key and secret, for encryption (RFC 8291).
    public_key BLOB NOT NULL,
    secret BLOB NOT NULL
) STRICT, WITHOUT ROWID;
