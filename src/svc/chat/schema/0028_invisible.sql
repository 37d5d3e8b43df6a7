-- Members who do not show others that they are there.
CREATE TABLE invisible (member_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
