-- A report may be about what a webhook posted: `member_id` is the webhook's id then, and this the name it posted under.
ALTER TABLE reports ADD COLUMN webhook TEXT;

-- Built-in roles that have been changed have rows; administrators get the new permission.
UPDATE roles SET permissions = permissions || ' manage_automod' WHERE id = 'admin';
