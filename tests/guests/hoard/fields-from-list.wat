;; Makes headers of 800 empty values each, which cost the host far more than the guest.
(import "wasi:http/types@0.2.12" "[static]fields.from-list" (func $from-list (param i32 i32 i32)))
(memory $memory 130)
(func $execute (param i32 i32 i32 i32) (result i32)
  (local $at i32)
  (memory.fill (i32.const 65536) (i32.const 97) (i32.const 7340032))
  (local.set $at (i32.const 4194304))
  (loop $fill
    (i64.store (local.get $at) (i64.const 0x0000000100010000))
    (i64.store offset=8 (local.get $at) (i64.const 0))
    (local.set $at (i32.add (local.get $at) (i32.const 16)))
    (br_if $fill (i32.lt_u (local.get $at) (i32.const 4207104))))
  (loop $more
    (call $from-list (i32.const 4194304) (i32.const 800) (i32.const 2048))
    (br $more))
  unreachable)
