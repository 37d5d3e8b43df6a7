-- Previews of a message's links, as JSON. Null if there are none, and false if there must be none.
ALTER TABLE messages ADD COLUMN previews TEXT;
