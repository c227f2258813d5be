;; Counts its calls, and then traps if its arguments are not `{}`.
(global $calls (mut i32) (i32.const 0))
(func $execute (param i32 i32 i32 i32) (result i32)
  (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
  (i32.store8 (i32.const 2048) (i32.add (global.get $calls) (i32.const 48)))
  (if (i32.gt_u (local.get 3) (i32.const 2)) (then unreachable))
  (call $answer (i32.const 0) (i32.const 2048) (i32.const 1)))
