-- Members who do not want to be disturbed, on any device.
CREATE TABLE do_not_disturb (member_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
