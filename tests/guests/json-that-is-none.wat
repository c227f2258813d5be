;; Calls something JSON that is not: a number JSON does not have, after a second copy of a key.
(data (i32.const 2048) "{\22a\22:1,\22a\22:NaN}")
(func $execute (param i32 i32 i32 i32) (result i32)
  (call $answer (i32.const 1) (i32.const 2048) (i32.const 15)))
