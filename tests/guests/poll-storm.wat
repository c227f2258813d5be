;; Polls one pollable 50,000 times in a single list.
(import "wasi:clocks/monotonic-clock@0.2.12" "subscribe-duration" (func $subscribe (param i64) (result i32)))
(import "wasi:io/poll@0.2.12" "poll" (func $poll (param i32 i32 i32)))
(memory $memory 16)
(func $execute (param i32 i32 i32 i32) (result i32)
  (local $pollable i32) (local $at i32)
  (local.set $pollable (call $subscribe (i64.const -1)))
  (local.set $at (i32.const 262144))
  (loop $fill
    (i32.store (local.get $at) (local.get $pollable))
    (local.set $at (i32.add (local.get $at) (i32.const 4)))
    (br_if $fill (i32.lt_u (local.get $at) (i32.const 462144))))
  (call $poll (i32.const 262144) (i32.const 50000) (i32.const 2048))
  (call $answer (i32.const 0) (i32.const 0) (i32.const 0)))
