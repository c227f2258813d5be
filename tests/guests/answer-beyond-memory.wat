;; Returns an address outside of its memory.
(func $execute (param i32 i32 i32 i32) (result i32) (i32.const -64))
