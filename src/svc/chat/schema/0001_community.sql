-- Members, roles and channels. The directory is loaded from these tables.
CREATE TABLE members (
    id TEXT PRIMARY KEY,
    nickname TEXT NOT NULL,
    epoch INTEGER NOT NULL DEFAULT 0,
    timeout_until_ms INTEGER NOT NULL DEFAULT 0,
    joined_at_ms INTEGER NOT NULL,
    -- Set when the member has left or has been removed. The row stays, because messages refer to it.
    left_at_ms INTEGER,
    avatar_key TEXT
) STRICT, WITHOUT ROWID;

-- Built-in roles have rows only once they have been changed.
CREATE TABLE roles (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    rank INTEGER NOT NULL,
    permissions TEXT NOT NULL,
    color INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE member_roles (
    member_id TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
    role_id TEXT NOT NULL,
    PRIMARY KEY (member_id, role_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE channels (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('text', 'voice')),
    position INTEGER NOT NULL,
    topic TEXT NOT NULL DEFAULT '',
    slow_mode_s INTEGER NOT NULL DEFAULT 0,
    created_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE channel_overrides (
    channel_id TEXT NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('role', 'member')),
    target_id TEXT NOT NULL,
    allow TEXT NOT NULL,
    deny TEXT NOT NULL,
    PRIMARY KEY (channel_id, kind, target_id)
) STRICT, WITHOUT ROWID;

-- Facts about the server itself, such as that its first channels were created.
CREATE TABLE facts (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
