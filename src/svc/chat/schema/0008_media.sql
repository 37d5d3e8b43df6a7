-- Stored media. Only objects in this table are ever served or deleted.
CREATE TABLE objects (
    -- uploads/<uuid>.<ext>
    key TEXT PRIMARY KEY,
    -- 'storing' before the object is in the store, and 'going' before it is removed from it.
    state TEXT NOT NULL CHECK (state IN ('storing', 'stored', 'going')),
    content_type TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    -- Null if it has none: pictures have no duration.
    width INTEGER,
    height INTEGER,
    duration_ms INTEGER,
    placeholder TEXT NOT NULL,
    colour TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    -- The time since which nothing refers to it, if nothing does.
    idle_since_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX objects_by_idle ON objects (idle_since_ms);

-- The owner that an object is kept for: a message, webhook, member, emoji, draft, job, or the server itself.
CREATE TABLE object_references (
    kind TEXT NOT NULL,
    owner_id TEXT NOT NULL,
    key TEXT NOT NULL REFERENCES objects (key) ON DELETE CASCADE,
    PRIMARY KEY (kind, owner_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX object_references_by_key ON object_references (key);

-- Uploads, from the first byte and for as long as any part of them is kept.
CREATE TABLE uploads (
    id TEXT PRIMARY KEY,
    member_id TEXT NOT NULL,
    purpose TEXT NOT NULL CHECK (purpose IN ('attachment', 'avatar', 'icon', 'emoji')),
    -- The file's name for display, and its use, such as the name of an emoji.
    name TEXT NOT NULL,
    target TEXT NOT NULL,
    alt TEXT NOT NULL,
    -- Whether it can be resumed after an interruption.
    resumable INTEGER NOT NULL,
    -- In bytes: the final length, and how much of it is on the disk.
    length INTEGER NOT NULL,
    received INTEGER NOT NULL,
    -- Receiving, waiting (for the worker, or being processed), done, refused, or used (for its purpose).
    state TEXT NOT NULL CHECK (state IN ('receiving', 'waiting', 'done', 'refused', 'used')),
    -- JSON: the result of the worker, or the reason for the refusal.
    result TEXT,
    refusal TEXT,
    -- The stored object, and the total size with all objects that belong to it.
    key TEXT REFERENCES objects (key) ON DELETE CASCADE,
    stored_bytes INTEGER NOT NULL DEFAULT 0,
    created_at_ms INTEGER NOT NULL,
    changed_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX uploads_of_member ON uploads (member_id, state);
CREATE INDEX uploads_by_state ON uploads (state, changed_at_ms);
CREATE INDEX uploads_by_key ON uploads (key);

-- The worker's jobs. An upload has at most one, with the same id.
CREATE TABLE jobs (
    id TEXT PRIMARY KEY REFERENCES uploads (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    -- The number of attempts.
    attempt INTEGER NOT NULL DEFAULT 0,
    due_at_ms INTEGER NOT NULL,
    -- The worker that holds it, and until when. Null if no worker does.
    lease TEXT,
    lease_until_ms INTEGER NOT NULL DEFAULT 0,
    worker TEXT NOT NULL DEFAULT '',
    -- Whether it was given up: a dead letter.
    dead INTEGER NOT NULL DEFAULT 0,
    fault TEXT NOT NULL DEFAULT '',
    created_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX jobs_by_due ON jobs (dead, due_at_ms);

-- Drafts: unsent texts of members, and the files to post with them.
CREATE TABLE drafts (
    member_id TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
    channel_id TEXT NOT NULL,
    text TEXT NOT NULL,
    -- JSON: the ids of finished uploads.
    attachments TEXT NOT NULL,
    changed_at_ms INTEGER NOT NULL,
    PRIMARY KEY (member_id, channel_id)
) STRICT, WITHOUT ROWID;

-- Custom emoji.
CREATE TABLE emoji (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    key TEXT NOT NULL,
    animated INTEGER NOT NULL,
    -- Null for a member whose data was deleted.
    created_by TEXT,
    created_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
