-- Bans, reports and the audit log.
CREATE TABLE audit_log (
    -- Assigned by the writer, so that ids are in the order of the writes.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    -- Null for the operator, who is not a member.
    actor_id TEXT,
    action TEXT NOT NULL,
    target_id TEXT,
    -- The channel that the action concerns. Only members who may view the channel may see the entry.
    channel_id TEXT,
    -- A JSON object.
    details TEXT NOT NULL
) STRICT;
CREATE INDEX audit_log_by_actor ON audit_log (actor_id, id);
CREATE INDEX audit_log_by_target ON audit_log (target_id, id);

-- Banned members. Their identities stay bound to the former membership.
CREATE TABLE bans (
    member_id TEXT PRIMARY KEY REFERENCES members (id) ON DELETE CASCADE,
    nickname TEXT NOT NULL,
    reason TEXT NOT NULL,
    banned_by TEXT,
    banned_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE reports (
    id TEXT PRIMARY KEY,
    reporter_id TEXT NOT NULL,
    member_id TEXT NOT NULL,
    -- Both are null if a member was reported rather than a message.
    channel_id TEXT,
    message_id TEXT,
    text TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    resolved_at_ms INTEGER,
    resolved_by TEXT,
    note TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;
CREATE INDEX reports_open_by_reporter ON reports (reporter_id) WHERE resolved_at_ms IS NULL;
