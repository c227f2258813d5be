-- The ledger, version 5: its generation, which every change of a sealed row increases. The audit log knows the newest
-- one, so that an older copy of this file is told from it.

-- One row; a ledger without it has generation 1.
CREATE TABLE generation (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    number INTEGER NOT NULL,
    seal BLOB NOT NULL
) STRICT;
