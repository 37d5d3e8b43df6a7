-- The holder whose storage limit an object counts against: a member (their id), the webhooks that a member
-- has created ('webhooks of <id>'), or nobody (empty).
ALTER TABLE objects ADD COLUMN holder TEXT NOT NULL DEFAULT '';

UPDATE objects SET holder = owned.member_id
FROM (
    SELECT member_id, key FROM uploads WHERE key IS NOT NULL
    UNION ALL SELECT member_id, json_extract(result, '$.thumbnail.key') FROM uploads WHERE result IS NOT NULL
    UNION ALL SELECT member_id, json_extract(result, '$.poster.key') FROM uploads WHERE result IS NOT NULL
) AS owned
WHERE owned.key = objects.key;

-- The number of bytes stored for each holder. The triggers update it, so that queries cost nothing.
CREATE TABLE kept (
    holder TEXT PRIMARY KEY,
    bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO kept SELECT holder, sum(bytes) FROM objects GROUP BY holder;

CREATE TRIGGER object_kept AFTER INSERT ON objects BEGIN
    INSERT INTO kept VALUES (NEW.holder, NEW.bytes) ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER object_grown AFTER UPDATE OF bytes ON objects BEGIN
    UPDATE kept SET bytes = bytes + NEW.bytes - OLD.bytes WHERE holder = NEW.holder;
END;
CREATE TRIGGER object_gone AFTER DELETE ON objects BEGIN
    UPDATE kept SET bytes = bytes - OLD.bytes WHERE holder = OLD.holder;
END;

-- The disk space that an upload uses, or may use before it reserves more.
ALTER TABLE uploads ADD COLUMN reserved INTEGER NOT NULL DEFAULT 0;
UPDATE uploads SET reserved = received;
-- The objects record their own sizes.
ALTER TABLE uploads DROP COLUMN stored_bytes;

-- 1 for a job that is known to take a long time. Such jobs have a separate queue, so that other jobs never
-- wait for them.
ALTER TABLE jobs ADD COLUMN long INTEGER NOT NULL DEFAULT 0;
