;; Its start function returns for `describe` and never for a cancelled call.
(import "portcullis:tool/context@0.1.0" "is-cancelled" (func $is-cancelled (result i32)))
(func $start
  (if (call $is-cancelled) (then (loop $for-ever (br $for-ever)))))
(start $start)
