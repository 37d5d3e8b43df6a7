-- Identities, sessions and devices.

-- Who members prove to be. The row outlives the membership, so that bans find who comes back.
CREATE TABLE identities (
    -- Who vouches for an account; empty for a device key, which vouches for itself.
    issuer TEXT NOT NULL,
    -- What the issuer calls them; of a device key its RFC 7638 thumbprint.
    subject TEXT NOT NULL,
    member_id TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
    added_at_ms INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX identities_of_member ON identities (member_id);

-- The keys that a member signs in with.
CREATE TABLE devices (
    id TEXT PRIMARY KEY,
    member_id TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
    thumbprint TEXT NOT NULL,
    name TEXT NOT NULL,
    added_at_ms INTEGER NOT NULL,
    last_seen_at_ms INTEGER NOT NULL,
    UNIQUE (member_id, thumbprint)
) STRICT, WITHOUT ROWID;

-- One sign-in, and all refresh tokens that follow from it. None of them is here: a token is
-- made of this row and the server's secret together.
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    device_id TEXT NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
    member_id TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
    salt BLOB NOT NULL,
    -- How often it was refreshed: the one token that is good is the one of this number.
    generation INTEGER NOT NULL,
    rotated_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_of_member ON sessions (member_id);
CREATE INDEX sessions_of_device ON sessions (device_id);
CREATE INDEX sessions_by_end ON sessions (expires_at_ms);

-- Codes by which an identity is added to a member: at most one of a kind for each.
CREATE TABLE link_codes (
    kind TEXT NOT NULL CHECK (kind IN ('link', 'recovery')),
    member_id TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
    hash BLOB NOT NULL UNIQUE,
    expires_at_ms INTEGER NOT NULL,
    PRIMARY KEY (kind, member_id)
) STRICT, WITHOUT ROWID;
