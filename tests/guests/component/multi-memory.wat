;; Several memories in one module: off.
(core module $multi-memory (memory 1) (memory 1))
