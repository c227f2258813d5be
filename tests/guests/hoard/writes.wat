;; Writes its answer without end.
(import "wasi:io/streams@0.2.12" "[method]output-stream.write" (func $write (param i32 i32 i32 i32)))
(import "portcullis:tool/output@0.1.0" "open-text" (func $open-text (param i32)))
(memory $memory 130)
(func $execute (param i32 i32 i32 i32) (result i32)
  (local $s i32)
  (memory.fill (i32.const 65536) (i32.const 97) (i32.const 7340032))
  (call $open-text (i32.const 2048))
  (local.set $s (i32.load (i32.const 2052)))
  (loop $more
    (call $write (local.get $s) (i32.const 65536) (i32.const 65536) (i32.const 2048))
    (br $more))
  unreachable)
