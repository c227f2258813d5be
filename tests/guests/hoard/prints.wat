;; Prints 7 MiB again and again.
(import "wasi:io/streams@0.2.12" "[method]output-stream.write" (func $write (param i32 i32 i32 i32)))
(import "wasi:cli/stdout@0.2.12" "get-stdout" (func $stdout (result i32)))
(memory $memory 130)
(func $execute (param i32 i32 i32 i32) (result i32)
  (local $s i32)
  (memory.fill (i32.const 65536) (i32.const 97) (i32.const 7340032))
  (local.set $s (call $stdout))
  (loop $more
    (call $write (local.get $s) (i32.const 65536) (i32.const 7340032) (i32.const 2048))
    (br $more))
  unreachable)
