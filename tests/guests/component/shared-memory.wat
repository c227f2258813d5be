;; Memory shared between threads: off.
(core module $shared-memory (memory 1 1 shared))
