-- The ledger in PostgreSQL, version 1. It has the tables and columns of the ledger in SQLite (../sqlite/schema*.sql, which
-- explain them), and what several hosts need. Times are milliseconds since 1970 by the clock of the database; hashes and
-- ids are lower-case hexadecimal.

CREATE SCHEMA IF NOT EXISTS portcullis;

-- One row: the version of this schema, the oldest host that can use it, and what shows that a host has the ledger's key.
CREATE TABLE portcullis.ledger (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL,
    usable_from INTEGER NOT NULL,
    key_check BYTEA NOT NULL
);

-- Until when a process runs, unless it renews its row.
CREATE TABLE portcullis.host (
    id TEXT PRIMARY KEY,
    alive_until BIGINT NOT NULL
);

-- One row: when a host last renewed a lease, and since when hosts have done so without a gap. After a gap, nobody knows
-- which hosts run until each had time to say so.
CREATE TABLE portcullis.contact (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    heard_at BIGINT NOT NULL,
    since BIGINT NOT NULL
);
INSERT INTO portcullis.contact (id, heard_at, since) VALUES (1, 0, 0);

-- The tokens of changes that were committed, for a host whose connection was lost during a commit. Old ones are deleted.
CREATE TABLE portcullis.committed (
    token TEXT PRIMARY KEY,
    at BIGINT NOT NULL
);
CREATE INDEX committed_age ON portcullis.committed (at);

CREATE TABLE portcullis.question (
    id TEXT PRIMARY KEY,
    call TEXT NOT NULL,
    subject TEXT NOT NULL CHECK (subject IN ('call', 'repeat', 'resource')),
    status TEXT NOT NULL
        CHECK (status IN ('pending', 'approved', 'running', 'done', 'rejected', 'expired', 'withdrawn', 'lost')),
    session TEXT NOT NULL,
    principal TEXT NOT NULL,
    tool TEXT NOT NULL,
    binding TEXT NOT NULL,
    body TEXT,
    asked_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    settled_at BIGINT,
    owner TEXT NOT NULL,
    note TEXT,
    seal BYTEA NOT NULL
);
CREATE INDEX question_open ON portcullis.question (status, session) WHERE status IN ('pending', 'approved', 'running');

CREATE TABLE portcullis.answer (
    id TEXT PRIMARY KEY,
    question TEXT NOT NULL,
    binding TEXT NOT NULL,
    tool TEXT NOT NULL,
    principal TEXT NOT NULL,
    session TEXT,
    covers TEXT NOT NULL,
    given_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT,
    uses BIGINT NOT NULL,
    revoked_at BIGINT,
    seal BYTEA NOT NULL
);
CREATE INDEX answer_held ON portcullis.answer (tool, principal) WHERE revoked_at IS NULL;

CREATE TABLE portcullis.trusted (
    sha256 TEXT PRIMARY KEY,
    path TEXT NOT NULL,
    trusted_at BIGINT NOT NULL,
    seal BYTEA NOT NULL
);

CREATE TABLE portcullis.store (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    plugin TEXT NOT NULL,
    key TEXT NOT NULL,
    scope TEXT NOT NULL CHECK (scope IN ('plugin', 'session')),
    session TEXT NOT NULL,
    principal TEXT NOT NULL,
    entries BIGINT NOT NULL CHECK (entries >= 0),
    bytes BIGINT NOT NULL CHECK (bytes >= 0),
    next BIGINT NOT NULL,
    used_at BIGINT NOT NULL,
    UNIQUE (plugin, key, scope, session, principal)
);
CREATE INDEX store_of_session ON portcullis.store (used_at) WHERE scope = 'session';

CREATE TABLE portcullis.entry (
    store BIGINT NOT NULL REFERENCES portcullis.store (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    key BYTEA NOT NULL,
    value BYTEA NOT NULL,
    UNIQUE (store, key),
    UNIQUE (store, position)
);

CREATE TABLE portcullis.outbox (
    position BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    seal BYTEA NOT NULL
);

CREATE TABLE portcullis.generation (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    number BIGINT NOT NULL,
    seal BYTEA NOT NULL
);

-- Calls that outlive the request of their client, so that its next request can reach any host: tasks, and calls whose
-- client is asked by a result. `body` is the approval request as JSON while `phase` is 'asking', and the reply as JSON
-- once it is 'over'.
CREATE TABLE portcullis.shared_call (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('round', 'task')),
    principal TEXT NOT NULL,
    tool TEXT NOT NULL,
    owner TEXT NOT NULL,
    phase TEXT NOT NULL CHECK (phase IN ('work', 'asking', 'over', 'lost')),
    question TEXT,
    body TEXT,
    round BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    cancelled BOOLEAN NOT NULL,
    begun_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    seal BYTEA NOT NULL
);
CREATE INDEX shared_call_expiry ON portcullis.shared_call (expires_at);
