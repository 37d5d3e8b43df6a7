-- Links members who are the same person. Punishments apply to the person, under any membership.

-- The id of the person's first membership. Empty only until the server has determined it.
ALTER TABLE members ADD COLUMN person_id TEXT NOT NULL DEFAULT '';
UPDATE members SET person_id = id;
CREATE INDEX members_by_person ON members (person_id);

-- Every key and account that a person has ever proven to be theirs, hashed with a key of this installation.
CREATE TABLE marks (
    mark BLOB PRIMARY KEY,
    person_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX marks_by_person ON marks (person_id);

-- The key of voice_mutes has always been the id of a first membership. From now on, it is the id of the person.
ALTER TABLE voice_mutes RENAME COLUMN member_id TO person_id;
