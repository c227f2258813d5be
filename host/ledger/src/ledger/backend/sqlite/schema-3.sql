-- The ledger, version 3: outputs that were too large to be passed on whole. What they say lies in files of their names
-- beside the ledger. They hold what tools answered and give no right, so no row has a seal.

CREATE TABLE output (
    -- The reference id, and the name of the file.
    id TEXT PRIMARY KEY,
    -- Whose it is.
    session TEXT NOT NULL,
    principal TEXT NOT NULL,
    -- The call whose answer it is, and its tool.
    call TEXT NOT NULL,
    tool TEXT NOT NULL,
    media_type TEXT NOT NULL,
    -- How large it is; while it is written, how large it may become before room is made for more.
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    -- NULL where it is no text.
    lines INTEGER,
    -- Whether all of the answer is there.
    complete INTEGER NOT NULL CHECK (complete IN (0, 1)),
    -- The line breaks before each piece of it, eight bytes each, the lowest first.
    marks BLOB NOT NULL,
    kept_at INTEGER NOT NULL,
    -- The process that still writes it.
    owner TEXT
) STRICT;
CREATE INDEX output_of ON output (session, principal, kept_at);
CREATE INDEX output_age ON output (kept_at);
