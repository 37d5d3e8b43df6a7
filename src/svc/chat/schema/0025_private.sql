-- Private conversations. Their messages are encrypted before they reach the server.

-- Registered devices. In each device's statement, its sign-in key confirms its MLS signature key.
CREATE TABLE private_devices (
    device_id TEXT PRIMARY KEY REFERENCES devices (id) ON DELETE CASCADE,
    member_id TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
    thumbprint TEXT NOT NULL,
    proof TEXT NOT NULL,
    added_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX private_devices_of_member ON private_devices (member_id);

-- Key packages, which other devices use to add a device to a conversation. A used package stays until its
-- Welcome has arrived.
CREATE TABLE private_key_packages (
    n INTEGER PRIMARY KEY,
    ref BLOB NOT NULL UNIQUE,
    device_id TEXT NOT NULL REFERENCES private_devices (device_id) ON DELETE CASCADE,
    body BLOB NOT NULL,
    last_resort INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    taken_at_ms INTEGER
) STRICT;
CREATE INDEX private_key_packages_of_device ON private_key_packages (device_id, last_resort, taken_at_ms);
CREATE INDEX private_key_packages_by_end ON private_key_packages (expires_at_ms);

CREATE TABLE private_conversations (
    id TEXT PRIMARY KEY,
    -- For a conversation between two members: both ids, in order.
    pair TEXT UNIQUE,
    epoch INTEGER NOT NULL DEFAULT 0,
    -- The number of the last entry.
    seq INTEGER NOT NULL DEFAULT 0,
    created_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE private_members (
    conversation_id TEXT NOT NULL REFERENCES private_conversations (id) ON DELETE CASCADE,
    member_id TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
    PRIMARY KEY (conversation_id, member_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX private_members_by_member ON private_members (member_id);

-- The devices in a group. A device that no longer belongs to the group is `gone`, and stays listed until a
-- commit removes it.
CREATE TABLE private_leaves (
    conversation_id TEXT NOT NULL REFERENCES private_conversations (id) ON DELETE CASCADE,
    device_id TEXT NOT NULL,
    member_id TEXT NOT NULL,
    thumbprint TEXT NOT NULL,
    -- The device may read the entries after this one.
    since_seq INTEGER NOT NULL,
    gone INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (conversation_id, device_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX private_leaves_by_device ON private_leaves (device_id);
CREATE TRIGGER private_device_gone AFTER DELETE ON private_devices BEGIN
    UPDATE private_leaves SET gone = 1 WHERE device_id = OLD.device_id;
END;

-- Commits and messages, in the total order that all devices see. The sender of an entry is not stored.
CREATE TABLE private_entries (
    n INTEGER PRIMARY KEY,
    conversation_id TEXT NOT NULL REFERENCES private_conversations (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('commit', 'message')),
    digest BLOB NOT NULL,
    body BLOB NOT NULL,
    sent_at_ms INTEGER NOT NULL,
    UNIQUE (conversation_id, seq),
    UNIQUE (conversation_id, digest)
) STRICT;
CREATE INDEX private_entries_by_time ON private_entries (sent_at_ms);

CREATE TABLE private_welcomes (
    id TEXT PRIMARY KEY,
    conversation_id TEXT NOT NULL REFERENCES private_conversations (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    body BLOB NOT NULL,
    sent_at_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE private_welcomed (
    device_id TEXT NOT NULL REFERENCES private_devices (device_id) ON DELETE CASCADE,
    welcome_id TEXT NOT NULL REFERENCES private_welcomes (id) ON DELETE CASCADE,
    PRIMARY KEY (device_id, welcome_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX private_welcomed_by_welcome ON private_welcomed (welcome_id);
