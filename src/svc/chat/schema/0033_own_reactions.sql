-- Who exports what there is of them would read everybody's reactions otherwise.
CREATE INDEX reactions_by_member ON reactions (member_id, n, emoji);
