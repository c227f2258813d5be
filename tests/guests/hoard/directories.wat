;; Opens a directory of its dependencies.
(import "portcullis:tool/dependencies@0.1.0" "open-directory" (func $open-directory (param i32 i32 i32)))
(memory $memory 130)
(data (i32.const 2100) "workspace")
(func $execute (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 65536) (i32.const 97) (i32.const 7340032))
  (loop $more
    (call $open-directory (i32.const 2100) (i32.const 9) (i32.const 2048))
    (br $more))
  unreachable)
