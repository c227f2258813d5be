;; Asks for a dependency of the seventeenth of four kinds. Its one dependency stands behind the list of the manifest.
(func $describe (result i32)
  (i32.store8 offset=8 (i32.load offset=32 (global.get $manifest)) (i32.const 17))
  (global.get $manifest))
