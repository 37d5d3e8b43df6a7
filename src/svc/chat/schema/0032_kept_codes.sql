-- A member's recovery code, for signing in after the loss of all devices.

CREATE TABLE kept_codes (
    member_id TEXT PRIMARY KEY REFERENCES members (id) ON DELETE CASCADE,
    hash BLOB NOT NULL UNIQUE,
    made_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
