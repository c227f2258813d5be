;; Its review refuses every call, with a text that contains an escape.
(data (i32.const 2048) "look\1b[2J")
(func (export "portcullis:tool/reviewer@0.1.0#review") (param i32 i32 i32 i32) (result i32)
  (i32.store8 (i32.const 2064) (i32.const 2))
  (i32.store (i32.const 2068) (i32.const 2048))
  (i32.store (i32.const 2072) (i32.const 8))
  (i32.const 2064))
