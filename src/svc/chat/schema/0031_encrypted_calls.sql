-- Voice channels whose calls no server can hear: devices in such a call are in an MLS group that has the channel's id.
ALTER TABLE channels ADD COLUMN encrypted INTEGER NOT NULL DEFAULT 0;

ALTER TABLE private_conversations ADD COLUMN channel_id TEXT REFERENCES channels (id) ON DELETE CASCADE;
CREATE INDEX private_conversations_of_channel ON private_conversations (channel_id) WHERE channel_id IS NOT NULL;
-- Of a channel's call: with which device alone a member is there.
ALTER TABLE private_members ADD COLUMN device_id TEXT;
