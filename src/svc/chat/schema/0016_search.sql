-- Scripts without spaces are searchable: the index is built again, behind the commits.
DROP TABLE message_words;
CREATE VIRTUAL TABLE message_words USING fts5 (
    text, tags, content = '', tokenize = "unicode61 remove_diacritics 2"
);
DELETE FROM indexed_before;
UPDATE indexed SET up_to = 0;
-- Its words, and how many messages have each.
CREATE VIRTUAL TABLE message_vocabulary USING fts5vocab (message_words, row);
