;; Is instantiated at once while it is described, and never while it is called: a cancelled call has begun.
(import "portcullis:tool/context@0.1.0" "is-cancelled" (func $is-cancelled (result i32)))
(func $start
  (if (call $is-cancelled) (then (loop $for-ever (br $for-ever)))))
(start $start)
