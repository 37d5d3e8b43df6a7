-- What the server knows of stored media: only what is named here is ever served or deleted.
CREATE TABLE objects (
    -- uploads/<uuid>.<ext>
    key TEXT PRIMARY KEY,
    -- 'storing' before anything is in the store; 'going' before anything is removed from it.
    state TEXT NOT NULL CHECK (state IN ('storing', 'stored', 'going')),
    content_type TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    -- Null where it has none: pictures have no duration.
    width INTEGER,
    height INTEGER,
    duration_ms INTEGER,
    placeholder TEXT NOT NULL,
    colour TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    -- Since when nothing refers to it, where nothing does.
    idle_since_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX objects_by_idle ON objects (idle_since_ms);

-- What an object is kept for: a message, webhook, member, emoji, draft, job, or the server itself.
CREATE TABLE object_references (
    kind TEXT NOT NULL,
    owner_id TEXT NOT NULL,
    key TEXT NOT NULL REFERENCES objects (key) ON DELETE CASCADE,
    PRIMARY KEY (kind, owner_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX object_references_by_key ON object_references (key);

-- What members have sent, from the first byte on and for as long as anything of it is kept.
CREATE TABLE uploads (
    id TEXT PRIMARY KEY,
    member_id TEXT NOT NULL,
    purpose TEXT NOT NULL CHECK (purpose IN ('attachment', 'avatar', 'icon', 'emoji')),
    -- The file's, for people; and what it is for: the name of an emoji.
    name TEXT NOT NULL,
    target TEXT NOT NULL,
    alt TEXT NOT NULL,
    -- Whether it can be gone on with where it was cut off.
    resumable INTEGER NOT NULL,
    -- In bytes: how long it will be, and how much of that is on the disk.
    length INTEGER NOT NULL,
    received INTEGER NOT NULL,
    -- Receiving; waiting for the worker, or in its hands; done; refused; used by what it was for.
    state TEXT NOT NULL CHECK (state IN ('receiving', 'waiting', 'done', 'refused', 'used')),
    -- JSON: what the worker has made of it, or why it is refused.
    result TEXT,
    refusal TEXT,
    -- The object that it has become, and how much it takes with all that belongs to it.
    key TEXT REFERENCES objects (key) ON DELETE CASCADE,
    stored_bytes INTEGER NOT NULL DEFAULT 0,
    created_at_ms INTEGER NOT NULL,
    changed_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX uploads_of_member ON uploads (member_id, state);
CREATE INDEX uploads_by_state ON uploads (state, changed_at_ms);
CREATE INDEX uploads_by_key ON uploads (key);

-- What the worker has to do: one job for an upload, and by its id.
CREATE TABLE jobs (
    id TEXT PRIMARY KEY REFERENCES uploads (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    -- How often it was begun.
    attempt INTEGER NOT NULL DEFAULT 0,
    due_at_ms INTEGER NOT NULL,
    -- Whoever has it, until when; null for nobody.
    lease TEXT,
    lease_until_ms INTEGER NOT NULL DEFAULT 0,
    worker TEXT NOT NULL DEFAULT '',
    -- Given up: a dead letter.
    dead INTEGER NOT NULL DEFAULT 0,
    fault TEXT NOT NULL DEFAULT '',
    created_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX jobs_by_due ON jobs (dead, due_at_ms);

-- What members have begun to write, and would post with it.
CREATE TABLE drafts (
    member_id TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
    channel_id TEXT NOT NULL,
    text TEXT NOT NULL,
    -- JSON: the ids of finished uploads.
    attachments TEXT NOT NULL,
    changed_at_ms INTEGER NOT NULL,
    PRIMARY KEY (member_id, channel_id)
) STRICT, WITHOUT ROWID;

-- The server's own emoji.
CREATE TABLE emoji (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    key TEXT NOT NULL,
    animated INTEGER NOT NULL,
    -- Null for somebody whose data was deleted.
    created_by TEXT,
    created_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
