;; Returns 2 MiB of JSON, a list of objects with one member, which is a hundred times as large when parsed.
(memory $memory 64)
(func $execute (param i32 i32 i32 i32) (result i32)
  (local $at i32)
  (i32.store8 (i32.const 65536) (i32.const 91))
  (local.set $at (i32.const 65537))
  (loop $object
    (i64.store (local.get $at) (i64.const 0x002c7d303a22227b))
    (local.set $at (i32.add (local.get $at) (i32.const 7)))
    (br_if $object (i32.lt_u (local.get $at) (i32.const 2162688))))
  (i64.store (local.get $at) (i64.const 0x005d7d303a22227b))
  (call $answer (i32.const 1) (i32.const 65536) (i32.sub (i32.add (local.get $at) (i32.const 7)) (i32.const 65536))))
