;; Sends a service a long list of numbers again and again. The service answers with the same list.
(import "portcullis:tool/dependencies@0.1.0" "open-service" (func $open-service (param i32 i32 i32)))
(import "portcullis:tool/dependencies@0.1.0" "[method]service.call" (func $call (param i32 i32 i32 i32 i32 i32)))
(memory $memory 130)
(data (i32.const 2100) "search")
(func $execute (param i32 i32 i32 i32) (result i32)
  (local $s i32) (local $at i32)
  ;; "[0,0,…,0]" of 1 MiB less a byte, each item of two bytes.
  (local.set $at (i32.const 4194304))
  (loop $fill
    (i32.store16 (local.get $at) (i32.const 0x2c30))
    (local.set $at (i32.add (local.get $at) (i32.const 2)))
    (br_if $fill (i32.lt_u (local.get $at) (i32.const 5242878))))
  (i32.store8 (i32.const 4194303) (i32.const 91))
  (i32.store8 (i32.const 5242877) (i32.const 93))
  (call $open-service (i32.const 2100) (i32.const 6) (i32.const 2048))
  (local.set $s (i32.load (i32.const 2052)))
  (loop $more
    (call $call (local.get $s) (i32.const 2100) (i32.const 6) (i32.const 4194303) (i32.const 1048575) (i32.const 2048))
    (br $more))
  unreachable)
