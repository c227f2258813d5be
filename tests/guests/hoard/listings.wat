;; Reads a directory again and again, and takes no entry.
(import "wasi:filesystem/preopens@0.2.12" "get-directories" (func $preopens (param i32)))
(import "wasi:filesystem/types@0.2.12" "[method]descriptor.read-directory" (func $read-directory (param i32 i32)))
(memory $memory 130)
(func $execute (param i32 i32 i32 i32) (result i32)
  (local $d i32)
  (memory.fill (i32.const 65536) (i32.const 97) (i32.const 7340032))
  (call $preopens (i32.const 2048))
  (local.set $d (i32.load (i32.load (i32.const 2048))))
  (loop $more
    (call $read-directory (local.get $d) (i32.const 2048))
    (br $more))
  unreachable)
