-- The server folds text before indexing it. The tokenizer only separates words, and keeps combining marks within them.
-- The index is rebuilt after the pending commits.
DROP TABLE message_vocabulary;
DROP TABLE message_words;
CREATE VIRTUAL TABLE message_words USING fts5 (
    text, tags, content = '', tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
);
DELETE FROM indexed_before;
UPDATE indexed SET up_to = 0;
CREATE VIRTUAL TABLE message_vocabulary USING fts5vocab (message_words, row);
