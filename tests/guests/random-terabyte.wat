;; Requests a terabyte of random bytes.
(import "wasi:random/random@0.2.12" "get-random-bytes" (func $random (param i64 i32)))
(func $execute (param i32 i32 i32 i32) (result i32)
  (call $random (i64.const 1000000000000) (i32.const 2048))
  (call $answer (i32.const 0) (i32.const 0) (i32.const 0)))
