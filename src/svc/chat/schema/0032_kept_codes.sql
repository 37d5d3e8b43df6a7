-- A code that a member has made to come back with after losing every device.

CREATE TABLE kept_codes (
    member_id TEXT PRIMARY KEY REFERENCES members (id) ON DELETE CASCADE,
    hash BLOB NOT NULL UNIQUE,
    made_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
