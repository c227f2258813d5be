;; Creates its own resources and drops none, without any call of a host function.
(type $resource (resource (rep i32)))
(core func $resource-new (canon resource.new $resource))
(core module $resource-storm
  (import "" "new" (func $new (param i32) (result i32)))
  (func $start (loop $more (drop (call $new (i32.const 0))) (br $more)))
  (start $start))
(core instance (instantiate $resource-storm (with "" (instance (export "new" (func $resource-new))))))
