;; Returns an odd address.
(func $execute (param i32 i32 i32 i32) (result i32) (i32.const 1025))
