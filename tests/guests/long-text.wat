;; Returns 4,096 lines of 255 characters.
(memory $memory 32)
(func $execute (param i32 i32 i32 i32) (result i32)
  (local $at i32)
  (memory.fill (i32.const 65536) (i32.const 120) (i32.const 1048576))
  (local.set $at (i32.const 65791))
  (loop $line
    (i32.store8 (local.get $at) (i32.const 10))
    (local.set $at (i32.add (local.get $at) (i32.const 256)))
    (br_if $line (i32.lt_u (local.get $at) (i32.const 1114112))))
  (call $answer (i32.const 0) (i32.const 65536) (i32.const 1048576)))
