-- Who is the same person as whom. Punishments are a person's, whatever member they are at the time.

-- The id of the first member that a person was. Empty only until the server has looked.
ALTER TABLE members ADD COLUMN person_id TEXT NOT NULL DEFAULT '';
UPDATE members SET person_id = id;
CREATE INDEX members_by_person ON members (person_id);

-- Every key and account that a person has ever proven, as a hash with a key of this installation.
CREATE TABLE marks (
    mark BLOB PRIMARY KEY,
    person_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX marks_by_person ON marks (person_id);

-- The key of voice_mutes has always been the id of somebody's first member: it is a person's from now on.
ALTER TABLE voice_mutes RENAME COLUMN member_id TO person_id;
