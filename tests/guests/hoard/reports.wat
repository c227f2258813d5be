;; Reports progress in 7 MiB of text.
(import "portcullis:tool/context@0.1.0" "report" (func $report (param i32 i32 i32 i32 i32 i32 i32 f32)))
(memory $memory 130)
(func $execute (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 65536) (i32.const 97) (i32.const 7340032))
  (loop $more
    (call $report (i32.const 1) (i32.const 65536) (i32.const 3670016) (i32.const 1) (i32.const 65536) (i32.const 3670016) (i32.const 0) (f32.const 0))
    (br $more))
  unreachable)
