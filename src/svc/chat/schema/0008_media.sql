-- Stored media. Only objects in this table are ever served or deleted.
CREATE TABLE objects (
    -- uploads/<uuid>.<ext>
    key TEXT PRIMARY KEY,
    -- 'storing' until the object is in the store, and 'going' once it is to be removed.
    state TEXT NOT NULL CHECK (state IN ('storing', 'stored', 'going')),
    content_type TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    -- Null if the object has none: images have no duration.
    width INTEGER,
    height INTEGER,
    duration_ms INTEGER,
    placeholder TEXT NOT NULL,
    colour TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    -- The time since which nothing has referred to the object. Meaningless while something refers to it.
    idle_since_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX objects_by_idle ON objects (idle_since_ms);

-- The owners that refer to objects: messages, webhooks, members, emoji, drafts, jobs, and the server itself.
CREATE TABLE object_references (
    kind TEXT NOT NULL,
    owner_id TEXT NOT NULL,
    key TEXT NOT NULL REFERENCES objects (key) ON DELETE CASCADE,
    PRIMARY KEY (kind, owner_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX object_references_by_key ON object_references (key);

-- Uploads, from the first byte for as long as any part of them is stored.
CREATE TABLE uploads (
    id TEXT PRIMARY KEY,
    member_id TEXT NOT NULL,
    purpose TEXT NOT NULL CHECK (purpose IN ('attachment', 'avatar', 'icon', 'emoji')),
    -- The file's name for display, and its use, such as the name of an emoji.
    name TEXT NOT NULL,
    target TEXT NOT NULL,
    alt TEXT NOT NULL,
    -- Whether the upload can be resumed after an interruption.
    resumable INTEGER NOT NULL,
    -- In bytes: the final length, and how much of it is on disk.
    length INTEGER NOT NULL,
    received INTEGER NOT NULL,
    -- Receiving, waiting (for the worker, or being processed), done, refused, or used (for its purpose).
    state TEXT NOT NULL CHECK (state IN ('receiving', 'waiting', 'done', 'refused', 'used')),
    -- JSON: the worker's result, or the reason for the rejection.
    result TEXT,
    refusal TEXT,
    -- The stored object, and its total size including all objects that belong to it.
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
    -- The lease of the worker that has claimed the job, and its end. Null if no worker has claimed it.
    lease TEXT,
    lease_until_ms INTEGER NOT NULL DEFAULT 0,
    worker TEXT NOT NULL DEFAULT '',
    -- Whether the job was abandoned (a dead letter).
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
