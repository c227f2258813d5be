;; Lets the host write where there is no memory.
(func $realloc (param i32 i32 i32 i32) (result i32) (i32.const -256))
