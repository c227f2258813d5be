;; Keeps files of 7 MiB beside its answer. Only 0.2 has the function.
(import "portcullis:tool/context@0.1.0" "keep" (func $keep (param i32 i32 i32 i32 i32 i32 i32 i32)))
(memory $memory 130)
(data (i32.const 65536) "a/b")
(func $execute (param i32 i32 i32 i32) (result i32)
  (loop $more
    (call $keep (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 65536) (i32.const 3)
      (i32.const 65536) (i32.const 7340032) (i32.const 2048))
    (br $more))
  unreachable)
