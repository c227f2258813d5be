-- The ledger, version 4: entries of the audit log that have yet to be written. Each is about a change that takes
-- something away, and is put here in the transaction of that change: the log never tells of one that was not committed.

CREATE TABLE outbox (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    -- The kind of the entry, and its members as a JSON object.
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    seal BLOB NOT NULL
) STRICT;
