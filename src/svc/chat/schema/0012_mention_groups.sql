-- Groups that a message mentions, as JSON: everyone, here, or ids of roles. Null if there are none.
ALTER TABLE messages ADD COLUMN mention_groups TEXT;

-- Built-in roles that have been changed have rows. Those that may mention groups get the new permission.
UPDATE roles SET permissions = permissions || ' mention_everyone' WHERE id IN ('admin', 'moderator');
