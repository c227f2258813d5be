;; Part of every module: the exports of the world, and the layout of a result.
;;
;; Memory: the result is at 1024, a guest's own data at 2048 to 4095, the manifest at 4096, followed by the heap. The
;; harness provides `$manifest`, `$heap` and `$memory`.
(export "memory" (memory $memory))
(export "cabi_realloc" (func $realloc))
(export "portcullis:tool/handler@0.1.0#describe" (func $describe))
(export "portcullis:tool/handler@0.1.0#execute-raw" (func $execute))
(export "cabi_post_portcullis:tool/handler@0.1.0#execute-raw" (func $post))

;; ok(success { output }): kind 0 is text, 1 is json, 2 is parts.
(func $answer (param $kind i32) (param $at i32) (param $length i32) (result i32)
  (memory.fill (i32.const 1024) (i32.const 0) (i32.const 40))
  (i32.store8 (i32.const 1040) (local.get $kind))
  (i32.store (i32.const 1044) (local.get $at))
  (i32.store (i32.const 1048) (local.get $length))
  (i32.const 1024))

;; error(failure): kind 0 is invalid-arguments, 1 denied, 2 unavailable, 3 cancelled, 4 failed.
(func $fail (param $kind i32) (param $at i32) (param $length i32) (result i32)
  (memory.fill (i32.const 1024) (i32.const 0) (i32.const 40))
  (i32.store8 (i32.const 1024) (i32.const 1))
  (i32.store8 (i32.const 1028) (local.get $kind))
  (i32.store (i32.const 1032) (local.get $at))
  (i32.store (i32.const 1036) (local.get $length))
  (i32.const 1024))
