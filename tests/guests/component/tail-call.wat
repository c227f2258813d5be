;; Tail calls: not enabled.
(core module $tail-call (func $loop (return_call $loop)))
