-- Identities, sessions and devices.

-- Identities that members have proven. A row outlives the membership, so that bans recognise a returning person.
CREATE TABLE identities (
    -- The issuer of the account. Empty for a device key, which is its own proof.
    issuer TEXT NOT NULL,
    -- The issuer's id for the account, or a device key's thumbprint (RFC 7638).
    subject TEXT NOT NULL,
    member_id TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
    added_at_ms INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX identities_of_member ON identities (member_id);

-- The device keys that a member signs in with.
CREATE TABLE devices (
    id TEXT PRIMARY KEY,
    member_id TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
    thumbprint TEXT NOT NULL,
    name TEXT NOT NULL,
    added_at_ms INTEGER NOT NULL,
    last_seen_at_ms INTEGER NOT NULL,
    UNIQUE (member_id, thumbprint)
) STRICT, WITHOUT ROWID;

-- One sign-in and all its refresh tokens. The tokens are not stored: each is derived from this row and the
-- server's secret.
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    device_id TEXT NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
    member_id TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
    salt BLOB NOT NULL,
    -- The number of refreshes. Only the token with this number is valid.
    generation INTEGER NOT NULL,
    rotated_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_of_member ON sessions (member_id);
CREATE INDEX sessions_of_device ON sessions (device_id);
CREATE INDEX sessions_by_end ON sessions (expires_at_ms);

-- Codes that add an identity to a member. Each member has at most one of each kind.
CREATE TABLE link_codes (
    kind TEXT NOT NULL CHECK (kind IN ('link', 'recovery')),
    member_id TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
    hash BLOB NOT NULL UNIQUE,
    expires_at_ms INTEGER NOT NULL,
    PRIMARY KEY (kind, member_id)
) STRICT, WITHOUT ROWID;
