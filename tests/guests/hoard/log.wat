;; Logs 7 MiB again and again.
(import "wasi:logging/logging@0.1.0-draft" "log" (func $log (param i32 i32 i32 i32 i32)))
(memory $memory 130)
(func $execute (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 65536) (i32.const 97) (i32.const 7340032))
  (loop $more
    (call $log (i32.const 0) (i32.const 65536) (i32.const 3670016) (i32.const 65536) (i32.const 3670016))
    (br $more))
  unreachable)
