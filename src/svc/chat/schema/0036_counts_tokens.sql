-- A token that shows a member's unread counts to another server's page.

CREATE TABLE counts_tokens (
    member_id TEXT PRIMARY KEY REFERENCES members (id) ON DELETE CASCADE,
    salt BLOB NOT NULL,
    epoch INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
