-- Invisible members, who appear offline to others.
CREATE TABLE invisible (member_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
