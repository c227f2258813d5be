;; Creates pollables and drops none.
(import "wasi:clocks/monotonic-clock@0.2.12" "subscribe-duration" (func $subscribe (param i64) (result i32)))
(func $execute (param i32 i32 i32 i32) (result i32)
  (loop $more (drop (call $subscribe (i64.const -1))) (br $more))
  unreachable)
