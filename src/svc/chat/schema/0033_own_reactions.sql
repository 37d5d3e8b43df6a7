-- An export of a member's data would otherwise have to read all reactions.
CREATE INDEX reactions_by_member ON reactions (member_id, n, emoji);
