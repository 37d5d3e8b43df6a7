-- Messages and related data.
CREATE TABLE messages (
    -- The cursor: the time and the counter in `id` as one number. It increases with `id`.
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    author_kind TEXT NOT NULL CHECK (author_kind IN ('member', 'webhook')),
    author_id TEXT NOT NULL,
    -- The author's details when the message was posted, for authors who have left.
    display_name TEXT NOT NULL,
    avatar TEXT,
    text TEXT NOT NULL,
    reply_to TEXT,
    -- JSON. Null if there are none.
    mentions TEXT,
    cards TEXT,
    attachments TEXT,
    flagged INTEGER NOT NULL DEFAULT 0,
    edited_at_ms INTEGER
) STRICT;
-- An index ends with the rowid, which is `n`, so a page of history is a range of this index.
CREATE INDEX messages_by_channel ON messages (channel_id);
CREATE INDEX messages_by_author ON messages (author_id);

-- Nonces of messages, kept for as long as clients may repeat a request.
CREATE TABLE message_nonces (
    author_id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    nonce TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (author_id, channel_id, nonce)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_nonces_by_age ON message_nonces (n);

-- Earlier texts of edited messages.
CREATE TABLE message_edits (
    n INTEGER NOT NULL REFERENCES messages (n) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    text TEXT NOT NULL,
    -- The time when this text was replaced.
    replaced_at_ms INTEGER NOT NULL,
    PRIMARY KEY (n, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE reactions (
    n INTEGER NOT NULL REFERENCES messages (n) ON DELETE CASCADE,
    emoji TEXT NOT NULL,
    member_id TEXT NOT NULL,
    reacted_at_ms INTEGER NOT NULL,
    PRIMARY KEY (n, emoji, member_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE pins (
    n INTEGER PRIMARY KEY REFERENCES messages (n) ON DELETE CASCADE,
    channel_id TEXT NOT NULL,
    member_id TEXT NOT NULL,
    pinned_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX pins_by_channel ON pins (channel_id);

-- Members whom a message mentions individually.
CREATE TABLE mentions (
    member_id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    n INTEGER NOT NULL REFERENCES messages (n) ON DELETE CASCADE,
    PRIMARY KEY (member_id, channel_id, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX mentions_by_message ON mentions (n);

-- The message up to which a member has read a channel.
CREATE TABLE reads (
    member_id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (member_id, channel_id)
) STRICT, WITHOUT ROWID;

-- The words of messages, without the messages themselves. Words are added after each commit. `tags` contains
-- other search terms: the channel, the author, and the kinds of content.
CREATE VIRTUAL TABLE message_words USING fts5 (
    text, tags, content = '', tokenize = "unicode61 remove_diacritics 2"
);
-- The progress of indexing (one row), and the indexed form of messages that have changed since.
CREATE TABLE indexed (up_to INTEGER NOT NULL) STRICT;
INSERT INTO indexed VALUES (0);
CREATE TABLE indexed_before (
    n INTEGER PRIMARY KEY,
    text TEXT NOT NULL,
    tags TEXT NOT NULL
) STRICT;

-- Deleted channels whose messages are being deleted in small batches.
CREATE TABLE channels_gone (channel_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
