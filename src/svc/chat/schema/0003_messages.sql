-- Messages and what hangs on them.
CREATE TABLE messages (
    -- The moment and the counter of `id` as one number: rises with it, and is the cursor.
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    author_kind TEXT NOT NULL CHECK (author_kind IN ('member', 'webhook')),
    author_id TEXT NOT NULL,
    -- As they were when it was posted, for authors who are no longer there.
    display_name TEXT NOT NULL,
    avatar TEXT,
    text TEXT NOT NULL,
    reply_to TEXT,
    -- JSON; null stands for none.
    mentions TEXT,
    cards TEXT,
    attachments TEXT,
    flagged INTEGER NOT NULL DEFAULT 0,
    edited_at_ms INTEGER
) STRICT;
-- An index ends with the rowid, which is `n`: a page of history is a range of it.
CREATE INDEX messages_by_channel ON messages (channel_id);
CREATE INDEX messages_by_author ON messages (author_id);

-- What clients called their messages, for as long as they may ask again.
CREATE TABLE message_nonces (
    author_id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    nonce TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (author_id, channel_id, nonce)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_nonces_by_age ON message_nonces (n);

-- What a message said before it was edited.
CREATE TABLE message_edits (
    n INTEGER NOT NULL REFERENCES messages (n) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    text TEXT NOT NULL,
    -- When it was replaced.
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

-- Who is told of a message by name.
CREATE TABLE mentions (
    member_id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    n INTEGER NOT NULL REFERENCES messages (n) ON DELETE CASCADE,
    PRIMARY KEY (member_id, channel_id, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX mentions_by_message ON mentions (n);

-- Up to which message a member has read a channel.
CREATE TABLE reads (
    member_id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (member_id, channel_id)
) STRICT, WITHOUT ROWID;

-- The words of messages, without the messages; filled behind the commits.
-- `tags` holds what else one searches by: channel, author, what the message has.
CREATE VIRTUAL TABLE message_words USING fts5 (
    text, tags, content = '', tokenize = "unicode61 remove_diacritics 2"
);
-- How far that has come (one row), and what was indexed of messages that have changed since.
CREATE TABLE indexed (up_to INTEGER NOT NULL) STRICT;
INSERT INTO indexed VALUES (0);
CREATE TABLE indexed_before (
    n INTEGER PRIMARY KEY,
    text TEXT NOT NULL,
    tags TEXT NOT NULL
) STRICT;

-- Channels that were deleted and whose messages go bit by bit.
CREATE TABLE channels_gone (channel_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
