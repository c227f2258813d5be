;; Sleeps in the host, where no epoch interrupts it, for five hundred years.
(import "wasi:clocks/monotonic-clock@0.2.12" "subscribe-duration" (func $subscribe (param i64) (result i32)))
(import "wasi:io/poll@0.2.12" "[method]pollable.block" (func $block (param i32)))
(func $execute (param i32 i32 i32 i32) (result i32)
  (call $block (call $subscribe (i64.const -1)))
  (call $answer (i32.const 0) (i32.const 0) (i32.const 0)))
