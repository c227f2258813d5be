;; Works until its call is cancelled, and then ends by itself, as it should.
(import "portcullis:tool/context@0.1.0" "is-cancelled" (func $is-cancelled (result i32)))
(func $execute (param i32 i32 i32 i32) (result i32)
  (loop $work (br_if $work (i32.eqz (call $is-cancelled))))
  (call $fail (i32.const 3) (i32.const 0) (i32.const 0)))
