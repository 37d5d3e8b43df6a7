-- Members' notification levels.
CREATE TABLE notification_levels (
    member_id TEXT NOT NULL,
    -- Empty for all channels.
    channel_id TEXT NOT NULL,
    -- Null means the level for all channels, and there the default.
    level TEXT CHECK (level IN ('all', 'mentions', 'nothing')),
    muted INTEGER NOT NULL,
    -- Null while `muted` means until the member ends the mute.
    muted_until_ms INTEGER,
    PRIMARY KEY (member_id, channel_id)
) STRICT, WITHOUT ROWID;

-- Web Push subscriptions of signed-in devices. Each ends with its session, for whatever reason.
CREATE TABLE push_subscriptions (
    session_id TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    member_id TEXT NOT NULL,
    endpoint TEXT NOT NULL UNIQUE,
    -- The device's public key and secret, for encryption (RFC 8291).
    public_key BLOB NOT NULL,
    secret BLOB NOT NULL
) STRICT, WITHOUT ROWID;
