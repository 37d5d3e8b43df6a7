-- For a report about a webhook's message, `member_id` is the webhook's id, and this is the name that it posted under.
ALTER TABLE reports ADD COLUMN webhook TEXT;

-- Built-in roles that have been changed have rows. Administrators get the new permission.
UPDATE roles SET permissions = permissions || ' manage_automod' WHERE id = 'admin';
