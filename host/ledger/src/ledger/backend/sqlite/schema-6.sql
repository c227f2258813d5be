-- The ledger, version 6: the table of sessions is gone. Nothing read it, and it grew with each session.

DROP TABLE IF EXISTS session;
