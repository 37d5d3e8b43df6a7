-- Of a banned person only some messages are deleted: those posted between two moments. Null: without an end.
ALTER TABLE erasures ADD COLUMN since_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE erasures ADD COLUMN until_ms INTEGER;
