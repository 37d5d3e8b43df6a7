-- Categories, archived channels, and limits of voice channels. The table is recreated because SQLite cannot
-- change a CHECK. Dropping the old table deletes overrides and unsets webhooks' channels, so both are saved
-- in temporary tables.
CREATE TABLE channels_made_again (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('text', 'voice', 'category')),
    position INTEGER NOT NULL,
    topic TEXT NOT NULL DEFAULT '',
    slow_mode_s INTEGER NOT NULL DEFAULT 0,
    created_at_ms INTEGER NOT NULL,
    -- The channel's category. Null if there is none.
    parent_id TEXT,
    -- Read-only, and listed only on request.
    archived INTEGER NOT NULL DEFAULT 0,
    -- For a voice channel: the maximum number of participants, and the bitrate of a microphone. 0 means no limit.
    user_limit INTEGER NOT NULL DEFAULT 0,
    bitrate_kbps INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
INSERT INTO channels_made_again (id, name, kind, position, topic, slow_mode_s, created_at_ms)
    SELECT id, name, kind, position, topic, slow_mode_s, created_at_ms FROM channels;
CREATE TEMP TABLE overrides_kept AS SELECT * FROM channel_overrides;
CREATE TEMP TABLE webhooks_kept AS SELECT id, channel_id FROM webhooks WHERE channel_id IS NOT NULL;
DROP TABLE channels;
ALTER TABLE channels_made_again RENAME TO channels;
INSERT OR REPLACE INTO channel_overrides SELECT * FROM temp.overrides_kept;
UPDATE webhooks SET channel_id = (SELECT kept.channel_id FROM temp.webhooks_kept kept WHERE kept.id = webhooks.id)
    WHERE id IN (SELECT id FROM temp.webhooks_kept);
DROP TABLE temp.overrides_kept;
DROP TABLE temp.webhooks_kept;
