;; Takes as many insecure random bytes as one request gives.
(import "wasi:random/insecure@0.2.12" "get-insecure-random-bytes" (func $insecure-random (param i64 i32)))
(memory $memory 130)
(func $execute (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 65536) (i32.const 97) (i32.const 7340032))
  (loop $more
    (call $insecure-random (i64.const 65536) (i32.const 2048))
    (br $more))
  unreachable)
