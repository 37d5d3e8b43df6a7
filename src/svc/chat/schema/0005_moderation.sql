-- Bans, reports, the audit log.
CREATE TABLE audit_log (
    -- Counted by the writer, so that the order is that of the writes.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    -- Null where the operator acted, who is no member.
    actor_id TEXT,
    action TEXT NOT NULL,
    target_id TEXT,
    -- Where the act was about a channel: only who may view it may know of it.
    channel_id TEXT,
    -- A JSON object.
    details TEXT NOT NULL
) STRICT;
CREATE INDEX audit_log_by_actor ON audit_log (actor_id, id);
CREATE INDEX audit_log_by_target ON audit_log (target_id, id);
