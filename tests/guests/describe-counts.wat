;; Describes another plugin on each call within one instance: the first letter of its description counts.
(global $calls (mut i32) (i32.const 64))
(func $describe (result i32)
  (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
  (i32.store8 (i32.load offset=16 (global.get $manifest)) (global.get $calls))
  (global.get $manifest))
