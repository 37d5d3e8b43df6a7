-- Rules that the owner writes; what each wants is JSON, read again as a request is.
CREATE TABLE automod_rules (
    id TEXT PRIMARY KEY,
    wanted TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The server itself files reports too: made again, because SQLite cannot let a column be null afterwards.
CREATE TABLE reports_made_again (
    id TEXT PRIMARY KEY,
    -- Null: the server, by a rule or by its list of bad words.
    reporter_id TEXT,
    member_id TEXT NOT NULL,
    -- Both null where a member was reported and no message; the message alone where none was posted.
    channel_id TEXT,
    message_id TEXT,
    text TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    resolved_at_ms INTEGER,
    resolved_by TEXT,
    note TEXT NOT NULL DEFAULT '',
    -- The name that the rule had which has found the message.
    rule TEXT
) STRICT, WITHOUT ROWID;
INSERT INTO reports_made_again SELECT *, NULL FROM reports;
DROP TABLE reports;
ALTER TABLE reports_made_again RENAME TO reports;
CREATE INDEX reports_open_by_reporter ON reports (reporter_id) WHERE resolved_at_ms IS NULL;
CREATE INDEX reports_open_by_member ON reports (member_id) WHERE resolved_at_ms IS NULL;
