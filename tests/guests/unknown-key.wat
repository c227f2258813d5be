;; Opens a directory with a key that is a path and not in its manifest. Returns the error's number.
(import "portcullis:tool/dependencies@0.1.0" "open-directory" (func $open (param i32 i32 i32)))
(data (i32.const 2048) "../../etc")
(func $execute (param i32 i32 i32 i32) (result i32)
  (call $open (i32.const 2048) (i32.const 9) (i32.const 2064))
  (i32.store8 (i32.const 2080) (i32.add (i32.load8_u (i32.const 2064)) (i32.const 48)))
  (i32.store8 (i32.const 2081) (i32.add (i32.load8_u (i32.const 2068)) (i32.const 48)))
  (call $answer (i32.const 0) (i32.const 2080) (i32.const 2)))
