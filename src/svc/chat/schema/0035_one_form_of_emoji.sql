-- A heart with and without the selector U+FE0F is the same reaction. If a member has reacted with both, the first stays.
CREATE TEMP TABLE respelt AS
    SELECT emoji, stored_emoji(emoji) AS canonical FROM (SELECT DISTINCT emoji FROM reactions);
DELETE FROM temp.respelt WHERE emoji = canonical;
UPDATE OR IGNORE reactions SET emoji = (SELECT canonical FROM temp.respelt WHERE respelt.emoji = reactions.emoji)
    WHERE emoji IN (SELECT emoji FROM temp.respelt);
DELETE FROM reactions WHERE emoji IN (SELECT emoji FROM temp.respelt);
DROP TABLE temp.respelt;
