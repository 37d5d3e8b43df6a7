-- Automod rules. The content of each is JSON, which is validated like a request when it is loaded.
CREATE TABLE automod_rules (
    id TEXT PRIMARY KEY,
    wanted TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The server itself also files reports. The table is recreated, because SQLite cannot make an existing column nullable.
CREATE TABLE reports_made_again (
    id TEXT PRIMARY KEY,
    -- Null if the server filed the report, because of a rule or its list of swear words.
    reporter_id TEXT,
    member_id TEXT NOT NULL,
    -- Both are null if a member was reported rather than a message. Only the message is null if no message
    -- was posted.
    channel_id TEXT,
    message_id TEXT,
    text TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    resolved_at_ms INTEGER,
    resolved_by TEXT,
    note TEXT NOT NULL DEFAULT '',
    -- The name of the matching rule when the report was filed.
    rule TEXT
) STRICT, WITHOUT ROWID;
INSERT INTO reports_made_again SELECT *, NULL FROM reports;
DROP TABLE reports;
ALTER TABLE reports_made_again RENAME TO reports;
CREATE INDEX reports_open_by_reporter ON reports (reporter_id) WHERE resolved_at_ms IS NULL;
CREATE INDEX reports_open_by_member ON reports (member_id) WHERE resolved_at_ms IS NULL;
