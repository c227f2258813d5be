;; Makes pollables that wait for a duration.
(import "wasi:clocks/monotonic-clock@0.2.12" "subscribe-duration" (func $subscribe-duration (param i64) (result i32)))
(memory $memory 130)
(func $execute (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 65536) (i32.const 97) (i32.const 7340032))
  (loop $more
    (drop (call $subscribe-duration (i64.const -1)))
    (br $more))
  unreachable)
