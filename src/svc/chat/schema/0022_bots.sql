-- Bots: members that are programs. They have no identity, device or session, only a token. The table stores
-- the token's digest.
ALTER TABLE members ADD COLUMN bot INTEGER NOT NULL DEFAULT 0;
CREATE TABLE bot_tokens (
    member_id TEXT PRIMARY KEY REFERENCES members (id) ON DELETE CASCADE,
    digest BLOB NOT NULL,
    -- Null for the operator.
    created_by TEXT,
    created_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Whether the author was a bot, even if the bot is gone.
ALTER TABLE messages ADD COLUMN author_bot INTEGER NOT NULL DEFAULT 0;

-- Built-in roles that have been changed have rows. Administrators get the new permission.
UPDATE roles SET permissions = permissions || ' manage_bots' WHERE id = 'admin';
