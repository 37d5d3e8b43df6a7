-- Voice channels with end-to-end encrypted calls: devices in such a call are in an MLS group with the channel's id.
ALTER TABLE channels ADD COLUMN encrypted INTEGER NOT NULL DEFAULT 0;

ALTER TABLE private_conversations ADD COLUMN channel_id TEXT REFERENCES channels (id) ON DELETE CASCADE;
CREATE INDEX private_conversations_of_channel ON private_conversations (channel_id) WHERE channel_id IS NOT NULL;
-- For a channel's call: the only device with which the member takes part.
ALTER TABLE private_members ADD COLUMN device_id TEXT;
