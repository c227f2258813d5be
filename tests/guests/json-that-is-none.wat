;; Returns invalid JSON as JSON: a duplicate key with a number that JSON does not have.
(data (i32.const 2048) "{\22a\22:1,\22a\22:NaN}")
(func $execute (param i32 i32 i32 i32) (result i32)
  (call $answer (i32.const 1) (i32.const 2048) (i32.const 15)))
