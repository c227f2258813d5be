;; Calls that replace their caller: off.
(core module $tail-call (func $loop (return_call $loop)))
