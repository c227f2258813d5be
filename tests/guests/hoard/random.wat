;; Takes as many random bytes as one request gives.
(import "wasi:random/random@0.2.12" "get-random-bytes" (func $random (param i64 i32)))
(memory $memory 130)
(func $execute (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 65536) (i32.const 97) (i32.const 7340032))
  (loop $more
    (call $random (i64.const 65536) (i32.const 2048))
    (br $more))
  unreachable)
