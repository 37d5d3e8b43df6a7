-- For a banned person, only messages posted between two times are deleted. Null means that there is no end.
ALTER TABLE erasures ADD COLUMN since_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE erasures ADD COLUMN until_ms INTEGER;
