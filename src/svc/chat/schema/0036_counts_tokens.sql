-- Tokens with which another server's web client can read a member's unread counts.

CREATE TABLE counts_tokens (
    member_id TEXT PRIMARY KEY REFERENCES members (id) ON DELETE CASCADE,
    salt BLOB NOT NULL,
    epoch INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
