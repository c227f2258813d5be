;; Several memories in one module: not enabled.
(core module $multi-memory (memory 1) (memory 1))
