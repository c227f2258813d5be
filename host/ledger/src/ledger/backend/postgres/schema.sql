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

-- Until when a process runs, unless it renews its row, and the policy that it decides by.
CREATE TABLE portcullis.host (
    id TEXT PRIMARY KEY,
    alive_until BIGINT NOT NULL,
    policy_sha256 TEXT
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

-- Heads of the audit logs of the hosts, numbered for each log. Rows are added, and the oldest ones are deleted.
CREATE TABLE portcullis.audit_anchor (
    chain TEXT NOT NULL,
    number BIGINT NOT NULL,
    place TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    entries BIGINT NOT NULL,
    mac TEXT NOT NULL,
    at BIGINT NOT NULL,
    seal BYTEA NOT NULL,
    PRIMARY KEY (chain, number)
);

-- Until when the calls of all hosts use up a rate limit, in microseconds since 1970.
CREATE TABLE portcullis.rate (
    key TEXT PRIMARY KEY,
    paced_until BIGINT NOT NULL
);

-- The index of kept outputs. `rowid` orders those of one millisecond.
CREATE TABLE portcullis.output (
    rowid BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL,
    principal TEXT NOT NULL,
    call TEXT NOT NULL,
    tool TEXT NOT NULL,
    media_type TEXT NOT NULL,
    bytes BIGINT NOT NULL CHECK (bytes >= 0),
    lines BIGINT,
    complete BOOLEAN NOT NULL,
    marks BYTEA NOT NULL,
    kept_at BIGINT NOT NULL,
    owner TEXT,
    name TEXT
);
CREATE INDEX output_of ON portcullis.output (session, principal, kept_at);
CREATE INDEX output_age ON portcullis.output (kept_at);
CREATE INDEX output_call ON portcullis.output (call);

-- The SHA-256 of each part of a finished output, 32 bytes each, and the seal of the output's row with them.
CREATE TABLE portcullis.output_seal (
    output TEXT PRIMARY KEY REFERENCES portcullis.output (id) ON DELETE CASCADE,
    hashes BYTEA NOT NULL,
    seal BYTEA NOT NULL
);

-- The parts of outputs that are in the database. They are not compressed, because that takes more time of the database
-- than writing them does.
CREATE TABLE portcullis.output_part (
    output TEXT NOT NULL REFERENCES portcullis.output (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    content BYTEA NOT NULL,
    PRIMARY KEY (output, number)
);
ALTER TABLE portcullis.output_part ALTER COLUMN content SET STORAGE EXTERNAL;

-- One row: what the name of this ledger's folder is made from, where hosts keep other parts in a place that they share.
CREATE TABLE portcullis.output_folder (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    seed TEXT NOT NULL
);
INSERT INTO portcullis.output_folder (id, seed) VALUES (1, gen_random_uuid()::text);

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
