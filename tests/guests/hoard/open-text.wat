;; Opens its answer.
(import "portcullis:tool/output@0.1.0" "open-text" (func $open-text (param i32)))
(memory $memory 130)
(func $execute (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 65536) (i32.const 97) (i32.const 7340032))
  (loop $more
    (call $open-text (i32.const 2048))
    (br $more))
  unreachable)
