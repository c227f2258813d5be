;; Declares a dependency with kind 17 of four. Its only dependency follows the manifest's list in memory.
(func $describe (result i32)
  (i32.store8 offset=8 (i32.load offset=32 (global.get $manifest)) (i32.const 17))
  (global.get $manifest))
