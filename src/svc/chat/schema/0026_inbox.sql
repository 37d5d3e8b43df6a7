-- The newest mentions of a member in all channels are a range of this index.
CREATE INDEX mentions_by_member ON mentions (member_id, n);
