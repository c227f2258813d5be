-- The ledger, version 1. Times are milliseconds since 1970; hashes and ids are lower-case hexadecimal.

-- Every question that was put to a person, and what became of it.
CREATE TABLE question (
    id TEXT PRIMARY KEY,
    call TEXT NOT NULL,
    subject TEXT NOT NULL CHECK (subject IN ('call', 'repeat', 'resource')),
    status TEXT NOT NULL
        CHECK (status IN ('pending', 'approved', 'running', 'done', 'rejected', 'expired', 'withdrawn', 'lost')),
    session TEXT NOT NULL,
    principal TEXT NOT NULL,
    tool TEXT NOT NULL,
    -- The digest of everything an answer is bound to.
    binding TEXT NOT NULL,
    -- What a person is shown, and what it takes to run the call. Taken away when the question is settled.
    body TEXT,
    asked_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    settled_at INTEGER,
    -- The process that waits for the answer.
    owner TEXT NOT NULL,
    note TEXT,
    seal BLOB NOT NULL
) STRICT;
CREATE INDEX question_open ON question (status, session) WHERE status IN ('pending', 'approved', 'running');

-- Answers that hold for more than one call.
CREATE TABLE answer (
    id TEXT PRIMARY KEY,
    question TEXT NOT NULL,
    -- What it is bound to, as JSON; `tool` and `principal` repeat two members of it to be found by.
    binding TEXT NOT NULL,
    tool TEXT NOT NULL,
    principal TEXT NOT NULL,
    -- The session it holds in; NULL where it holds in all.
    session TEXT,
    -- Which arguments it covers, as JSON.
    covers TEXT NOT NULL,
    given_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER,
    uses INTEGER NOT NULL,
    revoked_at INTEGER,
    seal BLOB NOT NULL
) STRICT;
CREATE INDEX answer_held ON answer (tool, principal) WHERE revoked_at IS NULL;

-- Sessions in which a person was asked.
CREATE TABLE session (
    name TEXT NOT NULL,
    principal TEXT NOT NULL,
    begun_at INTEGER NOT NULL,
    asked_at INTEGER NOT NULL,
    questions INTEGER NOT NULL,
    PRIMARY KEY (name, principal)
) STRICT, WITHOUT ROWID;

-- Files that a person trusts, by their content.
CREATE TABLE trusted (
    sha256 TEXT PRIMARY KEY,
    path TEXT NOT NULL,
    trusted_at INTEGER NOT NULL,
    seal BLOB NOT NULL
) STRICT, WITHOUT ROWID;
