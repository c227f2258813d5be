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

-- The sessions of MCP clients that the hosts serve over HTTP. The id is a MAC of the client's session id, so that nobody
-- can use a session whose row he reads. `hosts` are the hosts that have served it, joined by commas. `calls_until` is in
-- the future while a host reports an open request.
CREATE TABLE portcullis.client_session (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    parameters TEXT NOT NULL,
    hosts TEXT NOT NULL,
    begun_at BIGINT NOT NULL,
    used_at BIGINT NOT NULL,
    calls_until BIGINT NOT NULL,
    seal BYTEA NOT NULL
);

-- What one host tells another of such a session, or all others if the target is empty. Expired rows are deleted.
CREATE TABLE portcullis.relayed (
    position BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('response', 'cancel', 'end', 'ended')),
    session TEXT NOT NULL,
    owner TEXT NOT NULL,
    target TEXT NOT NULL,
    body TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    seal BYTEA NOT NULL
);
