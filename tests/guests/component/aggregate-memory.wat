;; Three memories, each within the limit, together over it.
(core module $aggregate-memory (memory 480))
(core instance (instantiate $aggregate-memory))
(core instance (instantiate $aggregate-memory))
(core instance (instantiate $aggregate-memory))
