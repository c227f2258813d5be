;; Memory with 64-bit addresses: not enabled.
(core module $memory64 (memory i64 1 2))
