-- The ledger, version 2: stores of plugins. They hold what plugins wrote and give no right, so no row has a seal.

-- A store, and what it holds in all. It begins with the first entry.
CREATE TABLE store (
    id INTEGER PRIMARY KEY,
    -- The plugin's name and the key of its manifest.
    plugin TEXT NOT NULL,
    key TEXT NOT NULL,
    -- Who shares it. The session and the principal are empty where all calls of the plugin do; the session alone is
    -- empty where all calls of one principal do.
    scope TEXT NOT NULL CHECK (scope IN ('plugin', 'session')),
    session TEXT NOT NULL,
    principal TEXT NOT NULL,
    entries INTEGER NOT NULL CHECK (entries >= 0),
    -- Of all keys and values.
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    -- The position of the next entry. Counted per store, so that no plugin sees how much another writes.
    next INTEGER NOT NULL,
    -- When it was last written to, and to within a day when it was last read.
    used_at INTEGER NOT NULL,
    UNIQUE (plugin, key, scope, session, principal)
) STRICT;
CREATE INDEX store_of_session ON store (used_at) WHERE scope = 'session';

-- What a plugin keeps. Keys are bytes: a NUL in one is a byte like any other.
CREATE TABLE entry (
    store INTEGER NOT NULL REFERENCES store (id) ON DELETE CASCADE,
    -- Never given to another entry of the store, so that a listing goes on where it was whatever is deleted meanwhile.
    position INTEGER NOT NULL,
    key BLOB NOT NULL,
    value BLOB NOT NULL,
    UNIQUE (store, key),
    UNIQUE (store, position)
) STRICT;
