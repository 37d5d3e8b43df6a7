-- Threads: the replies to a message, outside the channel's history. Null for a message in the channel itself.
-- The id of the root message is kept even if that message is deleted.
ALTER TABLE messages ADD COLUMN thread TEXT;
DROP INDEX messages_by_channel;
CREATE INDEX messages_by_channel ON messages (channel_id, thread);

-- A summary of each thread. The triggers below keep it up to date, regardless of which code writes messages.
CREATE TABLE threads (
    id TEXT PRIMARY KEY,
    count INTEGER NOT NULL,
    last_n INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER thread_grows AFTER INSERT ON messages WHEN NEW.thread IS NOT NULL BEGIN
    INSERT INTO threads VALUES (NEW.thread, 1, NEW.n)
        ON CONFLICT DO UPDATE SET count = count + 1, last_n = max(last_n, NEW.n);
END;
CREATE TRIGGER thread_shrinks AFTER DELETE ON messages WHEN OLD.thread IS NOT NULL BEGIN
    DELETE FROM threads WHERE id = OLD.thread AND count = 1;
    UPDATE threads SET count = count - 1, last_n =
        (SELECT max(n) FROM messages WHERE channel_id = OLD.channel_id AND thread = OLD.thread)
        WHERE id = OLD.thread;
END;

-- The followers of each thread, and the message up to which each has read.
CREATE TABLE thread_follows (
    member_id TEXT NOT NULL,
    thread TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    channel_id TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (member_id, thread)
) STRICT, WITHOUT ROWID;
CREATE INDEX thread_follows_by_thread ON thread_follows (thread);
