-- Members with do-not-disturb, which applies to all their devices.
CREATE TABLE do_not_disturb (member_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
