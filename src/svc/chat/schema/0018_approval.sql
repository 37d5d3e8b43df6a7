-- The channel that opens for members who join with an invite, and whether they must be approved first.
ALTER TABLE invites ADD COLUMN channel_id TEXT;
ALTER TABLE invites ADD COLUMN approval INTEGER NOT NULL DEFAULT 0;

-- The invite that a member joined with. The invite itself may have been deleted.
CREATE TABLE invited (
    member_id TEXT PRIMARY KEY,
    invite_id TEXT NOT NULL,
    -- Null for the operator.
    invited_by TEXT,
    at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX invited_by_invite ON invited (invite_id);

-- Applicants who are waiting for approval, have been approved, or have been rejected.
CREATE TABLE applications (
    id TEXT PRIMARY KEY,
    -- As in `identities`.
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    nickname TEXT NOT NULL,
    -- The applicant's message.
    message TEXT NOT NULL,
    invite_id TEXT NOT NULL,
    -- The code that the applicant used. Another request with this code does not count as a new attempt.
    code TEXT NOT NULL,
    invited_by TEXT,
    role_id TEXT NOT NULL,
    channel_id TEXT,
    asked_at_ms INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'refused')),
    reason TEXT NOT NULL DEFAULT '',
    decided_by TEXT,
    decided_at_ms INTEGER,
    UNIQUE (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX applications_by_state ON applications (state, id);
