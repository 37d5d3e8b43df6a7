-- Invites.
CREATE TABLE invites (
    id TEXT PRIMARY KEY,
    -- Stored in plain text, so that it can be shown again.
    code TEXT NOT NULL UNIQUE,
    -- Null if the operator created the invite.
    created_by TEXT,
    role_id TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    -- Null means no expiry or no limit on uses.
    expires_at_ms INTEGER,
    max_uses INTEGER,
    uses INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX invites_by_creator ON invites (created_by);

-- Joins in the last hour. Recorded only if the number of joins per invite and hour is limited.
CREATE TABLE invite_joins (
    invite_id TEXT NOT NULL REFERENCES invites (id) ON DELETE CASCADE,
    at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX invite_joins_by_time ON invite_joins (invite_id, at_ms);
