;; Returns invalid UTF-8: a surrogate, an overlong slash, a lone continuation byte.
(data (i32.const 2048) "\ed\a0\80\c0\af\80")
(func $execute (param i32 i32 i32 i32) (result i32)
  (call $answer (i32.const 0) (i32.const 2048) (i32.const 6)))
