;; Prints as many zeroes as a number can say.
(import "wasi:io/streams@0.2.12" "[method]output-stream.write-zeroes" (func $write-zeroes (param i32 i64 i32)))
(import "wasi:cli/stdout@0.2.12" "get-stdout" (func $stdout (result i32)))
(memory $memory 130)
(func $execute (param i32 i32 i32 i32) (result i32)
  (local $s i32)
  (memory.fill (i32.const 65536) (i32.const 97) (i32.const 7340032))
  (local.set $s (call $stdout))
  (loop $more
    (call $write-zeroes (local.get $s) (i64.const -1) (i32.const 2048))
    (br $more))
  unreachable)
