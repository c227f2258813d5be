;; Needs 72 MB of the host's memory for a table.
(table $table 9000000 funcref)
