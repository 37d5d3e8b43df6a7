-- What the links of a message lead to, in short, as JSON; null for none, and false where there are to be none.
ALTER TABLE messages ADD COLUMN previews TEXT;
