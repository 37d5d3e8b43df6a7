-- Scripts without spaces become searchable. The index is rebuilt after the commits.
DROP TABLE message_words;
CREATE VIRTUAL TABLE message_words USING fts5 (
    text, tags, content = '', tokenize = "unicode61 remove_diacritics 2"
);
DELETE FROM indexed_before;
UPDATE indexed SET up_to = 0;
-- The words of the index, and the number of messages with each.
CREATE VIRTUAL TABLE message_vocabulary USING fts5vocab (message_words, row);
