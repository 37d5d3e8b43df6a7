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
