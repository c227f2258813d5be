;; Three memories, each within the limit, but not together.
(core module $aggregate-memory (memory 480))
(core instance (instantiate $aggregate-memory))
(core instance (instantiate $aggregate-memory))
(core instance (instantiate $aggregate-memory))
