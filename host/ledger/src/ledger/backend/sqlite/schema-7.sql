-- The ledger, version 7: the file name that a tool gave an output. Older outputs have none.

ALTER TABLE output ADD COLUMN name TEXT;
