;; Asks with 7 MiB of text.
(import "portcullis:tool/context@0.1.0" "ask" (func $ask (param i32 i32 i32 i32 i32 i32 i32)))
(memory $memory 130)
(func $execute (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 65536) (i32.const 97) (i32.const 7340032))
  (loop $more
    (call $ask (i32.const 65536) (i32.const 2000000) (i32.const 65536) (i32.const 2000000) (i32.const 65536) (i32.const 2000000) (i32.const 2048))
    (br $more))
  unreachable)
