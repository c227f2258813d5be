;; Memory of more than 32 bits of address: off.
(core module $memory64 (memory i64 1 2))
