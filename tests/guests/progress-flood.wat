;; Reports progress 100,000 times, each time with a title of 64 KiB and a NaN fraction.
(import "portcullis:tool/context@0.1.0" "report"
  (func $report (param i32 i32 i32 i32 i32 i32 i32 f32)))
(func $execute (param i32 i32 i32 i32) (result i32)
  (local $left i32)
  (memory.fill (i32.const 65536) (i32.const 120) (i32.const 65536))
  (local.set $left (i32.const 100000))
  (loop $more
    (call $report
      (i32.const 1) (i32.const 65536) (i32.const 65536)
      (i32.const 0) (i32.const 0) (i32.const 0)
      (i32.const 1) (f32.const nan))
    (local.set $left (i32.sub (local.get $left) (i32.const 1)))
    (br_if $more (local.get $left)))
  (call $answer (i32.const 0) (local.get 2) (local.get 3)))
