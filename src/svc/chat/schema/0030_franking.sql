-- Proof of what was said in private conversations, for reports.

-- The server's tag of a message: whoever opens the commitment inside the message proves with it who sent what, and when.
ALTER TABLE private_entries ADD COLUMN tag BLOB;

-- What a report of a private message reveals, once that was verified: a JSON object.
ALTER TABLE reports ADD COLUMN private TEXT;
