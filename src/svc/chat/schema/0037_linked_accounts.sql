-- Members' accounts on other servers, as shown in their profiles, with the statements of both sides. A link
-- is deleted together with the device that signed it.
CREATE TABLE linked_accounts (
    id TEXT PRIMARY KEY,
    member_id TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
    device_id TEXT NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
    origin TEXT NOT NULL,
    own TEXT NOT NULL,
    other TEXT NOT NULL,
    made_at_ms INTEGER NOT NULL,
    UNIQUE (member_id, origin)
) STRICT, WITHOUT ROWID;
CREATE INDEX linked_accounts_of_device ON linked_accounts (device_id);

-- Digests of statements that members signed for other servers. A statement is confirmed while its digest is here.
CREATE TABLE account_confirmations (
    digest TEXT PRIMARY KEY,
    member_id TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
    device_id TEXT NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
    made_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX account_confirmations_of_member ON account_confirmations (member_id);
CREATE INDEX account_confirmations_of_device ON account_confirmations (device_id);
