;; A well-behaved plugin: it defines nothing, so the frame's functions are used, and it echoes its arguments.
