;; Memory shared between threads: not enabled.
(core module $shared-memory (memory 1 1 shared))
