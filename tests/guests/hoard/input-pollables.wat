;; Makes pollables of one input stream.
(import "wasi:io/streams@0.2.12" "[method]input-stream.subscribe" (func $input-subscribe (param i32) (result i32)))
(import "wasi:cli/stdin@0.2.12" "get-stdin" (func $stdin (result i32)))
(memory $memory 130)
(func $execute (param i32 i32 i32 i32) (result i32)
  (local $s i32)
  (memory.fill (i32.const 65536) (i32.const 97) (i32.const 7340032))
  (local.set $s (call $stdin))
  (loop $more
    (drop (call $input-subscribe (local.get $s)))
    (br $more))
  unreachable)
