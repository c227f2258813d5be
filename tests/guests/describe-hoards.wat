;; Makes long headers without end while it describes itself.
(import "wasi:http/types@0.2.12" "[constructor]fields" (func $fields (result i32)))
(import "wasi:http/types@0.2.12" "[method]fields.append" (func $append (param i32 i32 i32 i32 i32 i32)))
(memory $memory 4)
(func $describe (result i32)
  (memory.fill (i32.const 65536) (i32.const 97) (i32.const 65536))
  (loop $more
    (call $append (call $fields)
      (i32.const 65536) (i32.const 1) (i32.const 65536) (i32.const 32000) (i32.const 2048))
    (br $more))
  unreachable)
