-- The owner's settings, and members' own choices.
-- Values are JSON. A setting without a row has its default.
CREATE TABLE settings (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Members whom a member has blocked. Nobody else can see this.
CREATE TABLE blocks (
    member_id TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
    blocked_id TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    PRIMARY KEY (member_id, blocked_id)
) STRICT, WITHOUT ROWID;

-- Members muted or deafened by moderators, until a moderator reverses it.
CREATE TABLE voice_mutes (
    member_id TEXT PRIMARY KEY REFERENCES members (id) ON DELETE CASCADE,
    muted INTEGER NOT NULL,
    deafened INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Members whose messages are still to be deleted, because they have deleted their data.
CREATE TABLE erasures (
    member_id TEXT PRIMARY KEY,
    asked_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
