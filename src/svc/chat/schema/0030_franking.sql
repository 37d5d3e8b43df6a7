-- Proof of the content of private messages, for reports.

-- The server's tag for a message. Together with the key inside the message, it proves who sent what and when.
ALTER TABLE private_entries ADD COLUMN tag BLOB;

-- The content that a report about a private message reveals, after verification, as a JSON object.
ALTER TABLE reports ADD COLUMN private TEXT;
